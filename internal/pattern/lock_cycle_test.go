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
