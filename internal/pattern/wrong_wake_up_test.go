package pattern

import (
	"fmt"
	"strings"
	"testing"
)

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

// TestWrongWakeUpGo: a signal of package sync wakes the goroutine that has waited longest.
func TestWrongWakeUpGo(t *testing.T) {
	const execution = `
		go
		T1 golock m
		T1 gowait c
		T1 release m
		T2 golock m
		T2 gowait c
		T2 release m
		T0 gosignal c
		%s resume c gowait
		%s acquire m
		%s read x 0
		%s gowait c
		%s release m
		T1 waits gowait c
		T2 waits gowait c
		ends deadlock
`
	for th, want := range map[string]string{"T1": WrongWakeUp, "T2": ""} {
		got := ""
		if m := Of(parse(t, strings.ReplaceAll(execution, "%s", th))); m != nil {
			got = m.Pattern.Name
		}
		if got != want {
			t.Errorf("%s goes on: %q, want %q", th, got, want)
		}
	}
}

// Two threads wait on one condition, for a and for b. The signal for b wakes the one that waits for a, which counts its wake-ups and waits again;
// that for a then wakes the other one.
func TestOtherPredicate(t *testing.T) {
	const waits = `
		T1 lock m
		T1 read a 0
		T1 wait c m
		T2 lock m
		T2 read %[1]s 0
		T2 wait c m
		T0 lock m
		T0 write %[1]s 1
		T0 signal c 1
		T0 unlock m
		T1 awake c m
		T1 write counted 1
		T1 read a 0
		T1 wait c m
		T0 lock m
		T0 write a 1
		T0 signal c 2
		T0 unlock m
		T2 awake c m
		T2 read %[1]s 1
		T2 unlock m
		T1 waits awake c
		ends deadlock
`
	paired(t, WrongWakeUp, fmt.Sprintf(waits, "b"), "T0's cond signal#8 wakes T1, which waits for something else, while 2 waits on it, too.", fmt.Sprintf(waits, "a"), "")
}

// A signal for the thread that it wakes is stolen by another one, and one for another thread is not.
func TestStolenByKind(t *testing.T) {
	const stolen = `
		T1 lock m
		T1 read %[1]s 0
		T1 wait c m
		T0 lock m
		T0 write a 1
		T0 signal c 1
		T0 unlock m
		T2 lock m <1
		T2 write %[1]s 0
		T2 unlock m
		T1 awake c m <2
		T1 read %[1]s 0
		ends assertion T1
`
	paired(t, StolenWakeUp, fmt.Sprintf(stolen, "a"), "T0's cond signal#5 has woken T1 before, but T2 acquires the lock first.", fmt.Sprintf(stolen, "b"), CheckThenAct)
}
