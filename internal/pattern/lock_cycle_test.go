package pattern

import "testing"

func TestLockCycle(t *testing.T) {
	paired(t, LockCycle, `
		T1 lock a <1
		T2 lock b <w
		T1 waits lock b T2
		T2 waits lock a T1
		ends deadlock
`, "1 2 wait in a circle: each for a lock that another of them holds.", `
		T1 lock a <1
		T2 lock b <w
		T1 waits lock b T2
		T2 waits wait c
		ends deadlock
`, OrderViolation)
}

// TestHandedLock: a goroutine waits for a lock that it has locked itself and another is to unlock, which waits for one that it holds.
func TestHandedLock(t *testing.T) {
	const execution = `
		go
		T0 golock bus <1
		T0 acquire bus
		T0 golock slot
		T0 acquire slot
		T0 golock slot
		T1 golock bus <2
		T0 waits golock slot T0
		T1 waits golock bus T0
		ends deadlock
		passing:
		T1 golock bus
		T1 acquire bus
		T1 gounlock bus
		T0 golock bus
		T0 acquire bus
		T0 golock slot
		T0 acquire slot
`
	paired(t, LockCycle, execution+`
		T1 gounlock slot
`, "0 1 wait in a circle: each for a lock that another of them holds, or would unlock if the execution did not fail.", execution+`
		T0 gounlock slot
`, OrderViolation)
}
