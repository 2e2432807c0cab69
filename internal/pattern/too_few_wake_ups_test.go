package pattern

import "testing"

// Two threads wait until x is 0, and one is signalled.
func TestTooFewWakeUps(t *testing.T) {
	const both = `
		T1 lock m
		T1 read x 1
		T1 wait c m
		T2 lock m
		T2 read x 1 <1
		T2 wait c m
		T0 lock m
		T0 write x 0 <2
		T0 signal c 1
		T0 unlock m
		T1 awake c m
		T1 read x 0
		T1 unlock m
`
	paired(t, TooFewWakeUps, both+`
		T2 waits awake c
		ends deadlock
`, "T0's cond signal#8 wakes only T1, while 2 waits on it, too.", both+`
		T1 lock m
		T1 wait c m
		T1 waits awake c
		T2 waits awake c
		ends deadlock
`, WrongWakeUp)
}

// The signal reaches the only thread that waits, which has to wait again.
func TestEnoughWakeUps(t *testing.T) {
	paired(t, TooFewWakeUps, `
		T1 lock m
		T1 wait c m
		T2 lock m <1
		T2 wait c m
		T0 lock m <2
		T0 signal c 1
		T1 awake c m
		T2 waits awake c
		ends deadlock
`, "T0's cond signal#5 wakes only T1, while 2 waits on it, too.", `
		T2 lock m <1
		T2 wait c m
		T0 lock m <2
		T0 signal c 2
		T2 awake c m
		T2 wait c m
		T2 waits awake c
		ends deadlock
`, OrderViolation)
}
