package pattern

import (
	"fmt"
	"strings"
	"testing"
)

func TestWaitWithLock(t *testing.T) {
	const send = `
		go
		T2 recv ch
		T1 golock mu <1
		T1 acquire mu
		T2 golock mu %s
		T1 waits send ch
		T2 waits golock mu T1
		T0 waits wgwait wg
		ends deadlock
`
	for name, second := range map[string]string{"the wait": "<w", "its beginning": "<2"} {
		t.Run(name, func(t *testing.T) {
			paired(t, WaitWithLock, strings.Replace(send, "%s", second, 1),
				"T1 waits and holds object 2 since #1, for which T2 waits.", `
		go
		T2 recv ch
		T1 golock mu <1
		T1 acquire mu
		T1 gounlock mu
		T2 golock mu <w
		T1 waits send ch
		T2 waits golock mu
		ends deadlock
`, OrderViolation)
		})
	}
}

// TestHeldByOthers: several wait for the lock, which a thread of a C program holds in a wait on a condition that releases another one.
func TestHeldByOthers(t *testing.T) {
	paired(t, WaitWithLock, `
		T2 read x 0
		T1 lock outer <1
		T1 lock inner
		T1 wait c inner
		T2 read x 0 <w
		T1 waits awake c
		T2 waits lock outer T1
		T3 waits lock outer T1
		ends deadlock
`, "T1 waits and holds object 2 since #1, for which 2 3 wait.", `
		T1 lock outer
		T1 lock inner <1
		T1 wait c inner
		T3 lock inner <2
		T3 unlock inner
		T2 read x 0
		T1 waits awake c
		T2 waits lock outer T1
		ends deadlock
`, OrderViolation)
}

// A lock that is held matters only if the ordering is of it: the wake-up is lost, and a thread that waits for the lock, too, has no part in that.
func TestHeldWhileWakeUpIsLost(t *testing.T) {
	paired(t, LostWakeUp, `
		T1 lock outer
		T2 lock inner <1
		T2 signal c -1
		T2 unlock inner
		T1 lock inner <2
		T1 wait c inner
		T1 waits awake c
		T2 waits lock outer T1
		ends deadlock
`, lostSays, `
		T2 lock inner
		T2 signal c -1
		T2 unlock inner
		T1 lock outer <1
		T1 lock inner
		T1 wait c inner
		T2 read x 0 <w
		T1 waits awake c
		T2 waits lock outer T1
		ends deadlock
`, WaitWithLock)
}

// TestChain: a thread behind the lock holds another one, for which the next waits. The ordering may be of either lock.
func TestChain(t *testing.T) {
	const execution = `
		go
		T2 golock b %s
		T2 acquire b
		T1 golock a %s
		T1 acquire a
		T1 golock b %s
		T3 golock a %s
		T2 waits recv ch
		T1 waits golock b T2
		T3 waits golock a T1
		ends deadlock
`
	const said = "T2 waits and holds object 1 since #0, for which T1 waits, and T1 holds object 2 since #2, for which T3 waits."
	for name, marks := range map[string][]any{"the first lock": {"<1", "", "<w", ""}, "the second": {"", "<1", "", "<w"}} {
		t.Run(name, func(t *testing.T) {
			const other = `
		go
		T1 golock a <1
		T1 acquire a
		T3 golock a <w
		T1 waits yield
		T3 waits golock a T1
		ends deadlock
`
			paired(t, WaitWithLock, fmt.Sprintf(execution, marks...), said, other, OrderViolation)
		})
	}
}
