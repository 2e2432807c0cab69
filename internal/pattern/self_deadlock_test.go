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
`, "")
}
