package pattern

import "testing"

// lostSignal is an execution in which a signal comes before the wait, and lostSays is what is said of it.
const (
	lostSignal = `
		T2 lock m <1
		T2 signal c -1
		T2 unlock m
		T1 lock m <2
		T1 wait c m
		T1 waits awake c
		ends deadlock
`
	lostSays = "T1 is still waiting when the execution ends: nothing signals it once its wait has begun."
)

func TestLostWakeUp(t *testing.T) {
	paired(t, LostWakeUp, lostSignal, lostSays, `
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
	paired(t, LostWakeUp, lostSignal, lostSays, `
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
