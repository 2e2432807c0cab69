package pattern

import "testing"

func TestWrongWakeUp(t *testing.T) {
	paired(t, WrongWakeUp, `
		T1 lock m
		T1 wait c m
		T2 lock m
		T2 wait c m
		T0 signal c 1
		T1 awake c m
		T1 read x 0
		T1 wait c m
		T1 waits awake c
		T2 waits awake c
		ends deadlock
`, "T0's cond signal#4 wakes T1, which waits again, while 2 waits on it, too.", `
		T1 lock m
		T1 wait c m
		T2 lock m
		T2 wait c m
		T0 signal c 1
		T1 awake c m
		T1 write x 1
		T1 wait c m
		T1 waits awake c
		T2 waits awake c
		ends deadlock
`, "")
}
