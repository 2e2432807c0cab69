package pattern

import (
	"fmt"
	"testing"
)

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

// T1 waits for its next task, as it does in the execution that does not fail, and T0, which would end it, waits for T2.
func TestIdle(t *testing.T) {
	const early = `
		T0 write tasks 1
		T0 signal c -1 <1
		T1 write tasks 0
		T1 wait c m <2
		T1 waits awake c
`
	const passing = `
		ends deadlock
		passing:
		T1 wait c m
		T0 write tasks 1
		T0 signal c 1
		T1 write tasks 0
		T1 wait c m
		T0 write stop 1
		T0 broadcast c
`
	paired(t, LostWakeUp, `
		T0 signal c -1 <1
		T1 wait c m <2
		T1 waits awake c
		T0 waits lock x
`+passing, lostSays, early+`
		T0 waits lock x
`+passing, OrderViolation)
	paired(t, LostWakeUp, early+passing, lostSays, early+`
		T0 waits lock x
`+passing, OrderViolation)
}

// The send takes the default of its select, since T1 does not receive yet.
func TestSendWithoutReceiver(t *testing.T) {
	const waits = `
		go
		T2 write ready 1
		T2 %s wake <1
		T1 recv %s <2
		T1 waits recv %[2]s
		ends deadlock
`
	missed := fmt.Sprintf(waits, "trysend", "wake")
	paired(t, LostWakeUp, missed, lostSays, fmt.Sprintf(waits, "send", "wake"), OrderViolation)
	paired(t, LostWakeUp, missed, lostSays, fmt.Sprintf(waits, "trysend", "other"), OrderViolation)
	paired(t, LostWakeUp, missed, lostSays, fmt.Sprintf(waits, "tryrecv", "wake"), OrderViolation)
}
