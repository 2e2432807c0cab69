package pattern

import (
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
