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
