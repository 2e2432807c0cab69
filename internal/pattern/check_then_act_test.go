package pattern

import (
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

func TestCheckThenAct(t *testing.T) {
	paired(t, CheckThenAct, `
		T1 lock m
		T1 read x 1
		T1 unlock m
		T2 lock m
		T2 write x 0 <1
		T2 unlock m
		T1 lock m
		T1 read x 0 <2
`, "", `
		T2 lock m
		T2 write x 0 <1
		T2 unlock m
		T1 lock m
		T1 read x 0 <2
		T1 read x 0
`, OrderViolation)
}

// A section of a lock that its thread acquires again ends with the last release.
func TestCheckInNestedSection(t *testing.T) {
	const nested = `
		T1 lock m <1
		T1 lock m
		T1 read x 0
		T1 unlock m
		T1 unlock m
		T2 lock m <2
		T2 write x 1
		T2 unlock m
		T1 lock m
		T1 read x 1
		T1 write x 2
`
	paired(t, CheckThenAct, nested+"ends assertion T1", "", strings.Replace(nested, "T1 lock m\n\t\tT1 read x 0", "T1 unlock m\n\t\tT1 read x 0", 1)+"ends assertion T1", OrderViolation)
}

// What a third thread writes is what is read.
func TestCheckUndone(t *testing.T) {
	paired(t, CheckThenAct, `
		T1 read x 0 <1
		T2 write x 1 <2
		T1 read x 1
		ends assertion T1
`, "", `
		T1 read x 0 <1
		T2 write x 1 <2
		T3 write x 0
		T1 read x 0
		ends assertion T1
`, OrderViolation)
}

// A thread that waits in a loop looks again: what it sees then is no longer what it decided on.
func TestCheckRepeated(t *testing.T) {
	const waits = `
		T1 lock m <1
		T1 read x 0
		T1 wait c m
		T2 lock m <2
		T2 write x 1
		T2 unlock m
		T1 awake c m
		T1 read x 1
ends assertion T1`
	for line, want := range map[string]bool{"wait.c:7": false, "wait.c:9": true} {
		x := parse(t, waits)
		x.Trace.Events[1].Site, x.Trace.Events[7].Site = 1, 2
		x.Calls = func(_ *trace.Trace, e int) []string {
			if e == 1 {
				return []string{"wait wait.c:7", "main wait.c:20"}
			}
			return []string{"wait " + line, "main wait.c:20"}
		}
		if got := Of(x).Pattern.Name == CheckThenAct; got != want {
			t.Errorf("a second look at %s: %v, want %v", line, got, want)
		}
	}
}

// A call that is made whatever an earlier one returned does not act on that.
func TestCheckOfAnotherCall(t *testing.T) {
	const calls = `
		T1 read x 0 <1
		T2 write x 1 <2
		T1 read x 1
ends assertion T1
passing:
		T2 write x 1
		T1 read x 1
`
	for name, c := range map[string]struct {
		after, first string // what follows in the execution that passes, and the first call
		want         bool
	}{
		"made anyway":       {"T1 read x 1", "get get.c:3", false},
		"not made":          {"", "get get.c:3", true},
		"something else":    {"T1 read y 1", "get get.c:3", true},
		"one call for both": {"T1 read x 1", "", true},
	} {
		x := parse(t, calls+c.after)
		x.Calls = func(_ *trace.Trace, e int) []string {
			list := []string{c.first, "main main.c:" + []string{"1", "", "2"}[e]}
			return slices.DeleteFunc(list, func(s string) bool { return s == "" })
		}
		x.Trace.Events[2].Site = 5
		for i := range x.Passing.Events {
			if ev := &x.Passing.Events[i]; i == 2 && ev.Object == x.Trace.Events[2].Object {
				ev.Site = 5
			}
		}
		if got := Of(x).Pattern.Name == CheckThenAct; got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
