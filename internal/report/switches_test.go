package report

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/trace"
)

// TestReasons gives the reason of each switch of a small trace, in order.
func TestReasons(t *testing.T) {
	const threads = "file a.c\nfunc f 1 99\nthread T0 f\nthread T1 f\nthread T2 f\nT0 1 start\nT0 2 create T1\nT0 2 create T2\nT1 1 start\nT2 1 start\n"
	for _, c := range []struct {
		name, trace, want string // of the last switch
	}{
		{"writer waits for readers", "T1 3 read_lock l\nT0 3 read_lock l\nT2 4 yield\nT1 6 rw_unlock l\nwait T2 7 write_lock l\nfail deadlock",
			"T2 waits for l held by T1, T0"},
		{"recursive lock", "T1 3 lock m\nT1 4 lock m\nT1 5 unlock m\nT2 6 yield\nT1 7 yield\nwait T2 8 lock m T1\nwait T1 9 join T2\nwait T0 9 join T2\nfail deadlock",
			"T2 waits for m held by T1"},
		{"failed trylock holds nothing", "T1 3 lock m\nT2 4 trylock m result=16\nT2 5 yield\nT1 6 unlock m\nT0 7 yield\nwait T1 8 lock m\nfail deadlock",
			"T1 PREEMPTED before lock m"},
		{"a library's yield", "T1 3 lock m\nT2 4 trylock m result=16\nT2 5 yield\nT1 6 yield library\nT0 7 yield offered\nwait T1 6 yield ready\nfail hang",
			"T1 waits in a library, before yield"},
		{"a thread that never goes on is about to create one", "T1 3 lock m\nT2 4 trylock m result=16\nT2 5 yield\nT1 6 unlock m\nT0 7 yield\nwait T1 8 create ready\nfail hang",
			"T1 PREEMPTED before create a thread"},
		{"and to test for cancellation", "T1 3 lock m\nT2 4 trylock m result=16\nT2 5 yield\nT1 6 unlock m\nT0 7 yield\nwait T1 8 pthread_testcancel ready\nfail hang",
			"T1 PREEMPTED before test for cancellation"},
		{"a dead owner holds nothing, its heir does", "T1 3 lock m\nT1 4 owner_died m\nT2 5 lock m result=130\nT0 6 yield\nT2 7 yield\nwait T0 8 lock m\nfail deadlock",
			"T0 waits for m held by T2"},
		{"timed read lock", "T1 3 timed_read_lock l\nT0 6 yield\nT1 7 yield\nwait T0 8 timed_write_lock l\nfail deadlock",
			"T0 waits for l held by T1"},
		{"condition wait lets go", "T1 3 lock m\nT1 4 cond_wait c aux=m\nT2 5 lock m\nT0 6 yield\nwait T2 7 sem_wait s\nwait T1 4 cond_wake c\nfail deadlock",
			"T2 waits in sem_wait on s"},
		{"woken but locked out", "T1 3 lock m\nT1 4 cond_wait c aux=m\nT2 5 lock m\nT2 6 cond_signal c T1\nT1 7 yield nochoice\nT0 8 yield\nwait T2 9 join T1\nwait T1 4 cond_wake m T2\nfail deadlock",
			"T2 waits for T1 to end"},
		{"not woken yet, though locked out in the end", "T1 3 lock m\nT1 4 cond_wait c aux=m\nT2 5 lock m\nT2 6 cond_signal c T1\nwait T2 9 join T1\nwait T1 4 cond_wake m T2\nfail deadlock",
			"T1 waits on c"},
		{"timed out, and locked out", "T1 3 lock m\nT1 4 cond_wait c aux=m\nT2 5 lock m\nT1 4 cond_timeout c aux=m\nT2 6 yield\nwait T2 9 join T1\nwait T1 4 cond_wake m T2\nfail deadlock",
			"T1 was woken and waits for m held by T2"},
		{"woken by a broadcast", "T1 3 lock m\nT1 4 cond_wait c aux=m\nT2 5 lock m\nT2 6 cond_broadcast c 1\nT1 7 yield nochoice\nT0 8 yield\nT2 9 yield\nwait T2 9 join T1\nwait T1 4 cond_wake m T2\nfail deadlock",
			"T0 is blocked"},
		{"the holder of then, not of the end", "T2 3 lock m\nT1 3 yield\nT2 4 unlock m\nT0 5 lock m\nT0 6 yield\nwait T1 4 lock m T0\nwait T2 7 sem_wait s\nwait T0 9 join T1\nfail deadlock",
			"T2 waits in sem_wait on s"},
		{"the holder at the time of the switch", "T2 3 lock m\nT1 3 yield\nT2 4 yield\nwait T1 4 lock m T0\nwait T0 9 join T1\nwait T2 9 join T1\nfail deadlock",
			"T1 waits for m held by T2"},
		{"held by the same thread", "T1 3 lock m\nT2 4 yield\nwait T1 4 lock m T1\nwait T2 5 join T1\nfail deadlock",
			"T1 waits for m held by the same thread"},
		{"held by a thread that has ended", "T1 3 lock m\nT1 4 end\nT2 4 yield\nT0 5 yield\nwait T2 5 lock m T1\nwait T0 5 join T2\nfail deadlock",
			"T2 waits for m held by T1, which has ended"},
		{"once", "T1 3 once o 1\nT2 4 yield\nT1 5 yield\nwait T2 6 once o T1\nfail deadlock",
			"T2 waits for o held by T1"},
		{"barrier", "T1 3 barrier_wait b 1\nT2 4 yield\nwait T1 3 barrier_leave b\nfail deadlock",
			"T1 waits in pthread_barrier_wait at b"},
		{"signal", "T1 3 yield\nT2 4 yield\nwait T1 5 signal_wait\nfail deadlock",
			"T1 waits for a signal"},
		{"nobody knows", "T1 3 yield\nT2 4 yield\nfail deadlock",
			"T1 is blocked"},
	} {
		tr, names := reporttest.Parse(t, []byte("-- trace --\n"+threads+c.trace+"\n"))
		var got string
		for _, r := range Build(tr, names, Options{}).Full() {
			if r.Kind == SwitchRow {
				got = r.Switch.Text
			}
		}
		if got != c.want && !strings.HasPrefix(got, c.want+" before") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestWithoutSymbols makes a view of a program that no longer exists.
func TestWithoutSymbols(t *testing.T) {
	tr, _ := reporttest.Load(t, "deadlock")
	tr.Modules[0].Path = "/nowhere/bank"
	tr.Header.Instrumented = false
	v := Build(tr, NamesOf(tr, symbol.ForTrace(tr, symbol.Options{DebugDirs: []string{}})), Options{})
	checkView(t, tr, v)
	if len(v.Notes) != 2 || !strings.Contains(v.Notes[0], "heddle cc") || !strings.Contains(v.Notes[1], "the file no longer exists") {
		t.Errorf("notes: %q", v.Notes)
	}
	last := v.Full()[len(v.Full())-1]
	if !strings.HasPrefix(last.Cell.Text, "lock bank+0x") || !strings.HasPrefix(v.Places[last.Cell.Place].Label, "bank+0x") {
		t.Errorf("the last event is %q at %q", last.Cell.Text, v.Places[last.Cell.Place].Label)
	}
}

// TestPlaceIsTheProgramsOwn has a lock taken in a header of the system.
func TestPlaceIsTheProgramsOwn(t *testing.T) {
	tr, names := reporttest.Parse(t, []byte(`-- trace --
file own.cc
func work 1 9
thread T0 work
system mutex.h
T0 1 start
T0 100 lock m stack=5
`))
	tr.Stacks[1][0] = trace.MakeSite(0, 5<<12)
	v := Build(tr, names, Options{})
	cell := v.Full()[1].Cell
	if got := v.Places[cell.Place].Label; got != "own.cc:5" {
		t.Errorf("the lock is told at %s, want own.cc:5", got)
	}
	if n := len(v.Stacks[cell.Stack]); n != 2 {
		t.Errorf("the call stack has %d places, want 2", n)
	}
}

// TestPlaceInALibrary has a lock taken in a library that belongs to the program, and in one
// that is the system's.
func TestPlaceInALibrary(t *testing.T) {
	for path, want := range map[string]string{"/home/me/build/libstore.so": "store.cc:7", "one/libstore.so": "store.cc:7", "/usr/lib/libstore.so": "own.cc:5"} {
		tr, names := reporttest.Parse(t, []byte(`-- trace --
file own.cc
func work 1 9
file store.cc
func put 1 9
thread T0 work
T0 1 start
T0 100 lock m stack=5
`))
		tr.Stacks[1][0] = trace.MakeSite(0, 5<<12)
		tr.Modules[1].Path, tr.Modules[1].Program = path, false
		tr.Events[1].Site = trace.MakeSite(1, 7<<12)
		v := Build(tr, names, Options{})
		if got := v.Places[v.Full()[1].Cell.Place].Label; got != want {
			t.Errorf("in %s the lock is told at %s, want %s", path, got, want)
		}
	}
}
