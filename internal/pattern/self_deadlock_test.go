package pattern

import "testing"

func TestSelfDeadlock(t *testing.T) {
	paired(t, SelfDeadlock, `
		T1 lock m
		T1 read x 1
		T1 waits lock m T1
		T0 waits yield
		ends deadlock
`, "T1 waits, and holds it itself since its lock at #0.", `
		T1 rdlock m
		T1 waits rdlock m
		T2 waits wrlock m
		ends deadlock
`, LockCycle)
}

// A goroutine may have been given the lock, and will never come to unlock it.
func TestLockHandedOver(t *testing.T) {
	paired(t, SelfDeadlock, `
		go
		T1 golock m
		T1 read x 1
		T1 golock m
		T1 waits golock m T1
		T0 waits wgwait w
		ends deadlock
`, "T1 waits, and holds it itself since its lock at #0.", `
		go
		T1 golock m
		T1 golock m
		T1 waits golock m T1
		T2 golock n
		T2 waits golock n
		ends deadlock
`, "")
}
