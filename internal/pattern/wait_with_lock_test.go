package pattern

import (
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
