package pattern

import (
	"fmt"
	"testing"
)

func TestLockCycle(t *testing.T) {
	paired(t, LockCycle, `
		T1 lock a <1
		T2 lock b <w
		T1 waits lock b T2
		T2 waits lock a T1
		ends deadlock
`, "T1 waits and holds object 1 since #0, T2 waits and holds object 2 since #1.", `
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

// TestReadAgain: a thread that reads under a lock locks it again, behind one that waits to write.
func TestReadAgain(t *testing.T) {
	const waits = `
		T1 rdlock m
		T2 read x 1
		T1 waits rdlock m
		T2 waits %s
		ends deadlock
`
	paired(t, LockCycle, fmt.Sprintf(waits, "wrlock m"), "T1 waits behind T2, which waits to write, and has locked it for reading at #0.", fmt.Sprintf(waits, "wrlock n"), "")
}

// TestReadersInCycle: a goroutine waits to write under a lock under which the other reads.
func TestReadersInCycle(t *testing.T) {
	const waits = `
		go
		T1 gordlock bus
		T1 acquire bus
		T2 golock owner <1
		T2 acquire owner
		%s
		T2 gowrlock bus
		T1 golock owner <w
		T1 waits golock owner T2
		T2 waits gowrlock bus
		ends deadlock
`
	paired(t, LockCycle, fmt.Sprintf(waits, ""), "T1 waits and holds object 1 since #0, T2 waits and holds object 2 since #2.", fmt.Sprintf(waits, "T1 gordunlock bus"), OrderViolation)
}

// TestCycleBeside: two threads wait for one another when the execution fails in another way. It fails because of that only if it depends on how they
// acquired these locks.
func TestCycleBeside(t *testing.T) {
	for name, ending := range map[string]string{"leak": "ends goroutine-leak", "hang": "ends hang"} {
		t.Run(name, func(t *testing.T) {
			const execution = `
		T0 write x 1 %s
		T1 lock a %s
		T2 lock b
		T3 write x 2 %s
		T1 waits lock b T2
		T2 waits lock a T1
`
			paired(t, LockCycle, fmt.Sprintf(execution, "", "<1", "")+"T2 read x 2 <w\n"+ending, "T1 waits and holds object 2 since #1, T2 waits and holds object 3 since #2.",
				fmt.Sprintf(execution, "<1", "", "<2")+ending, OrderViolation)
		})
	}
}

// TestCycleOfGoroutines: what goroutines wait for is not part of how a failed test ends. A second one that waits for a lock has no part in the circle.
func TestCycleOfGoroutines(t *testing.T) {
	const execution = `
		go
		T1 golock a <1
		T1 acquire a
		T2 golock b
		T2 acquire b
		T1 golock b
		T2 golock a <2
		T3 golock a
		%s
		T0 read x 1
		ends test-failure T0
`
	paired(t, LockCycle, fmt.Sprintf(execution, ""), "T1 waits and holds object 1 since #0, T2 waits and holds object 2 since #2.", fmt.Sprintf(execution, "T1 acquire b"), OrderViolation)
}
