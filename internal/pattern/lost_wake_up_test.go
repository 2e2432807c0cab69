package pattern

import "testing"

func TestLostWakeUp(t *testing.T) {
	paired(t, LostWakeUp, `
		T2 lock m <1
		T2 signal c -1
		T2 unlock m
		T1 lock m <2
		T1 wait c m
		T1 waits awake c
		ends deadlock
`, "T1 still waits when the execution ends, and nobody signals after its wait began.", `
		T2 lock m <1
		T2 signal c -1
		T2 unlock m
		T1 lock m <2
		T1 wait c m
		T2 signal c 1
		T1 waits awake c
		ends deadlock
`, OrderViolation)
}

// A signal that has woken a thread was not lost, though another waits for one later.
func TestSignalNotLost(t *testing.T) {
	paired(t, LostWakeUp, `
		T2 lock m <1
		T2 signal c -1
		T2 unlock m
		T1 lock m <2
		T1 wait c m
		T1 waits awake c
		ends deadlock
`, "T1 still waits when the execution ends, and nobody signals after its wait began.", `
		T3 lock m
		T3 wait c m
		T2 lock m <1
		T2 signal c 3
		T2 unlock m
		T1 lock m <2
		T1 wait c m
		T1 waits awake c
		ends deadlock
`, OrderViolation)
}
