package trace

import (
	"errors"
	"strings"
	"testing"
)

// What no text form can hold; all else is in testdata/validate.txtar.
func TestValidateWithoutText(t *testing.T) {
	many := &Trace{Threads: make([]Thread, MaxThreads+1)}
	for name, c := range map[string]struct {
		t     *Trace
		words string
	}{
		"ids":        {&Trace{Threads: []Thread{{ID: 1, Parent: -1}}}, "thread T0: its id is 1"},
		"threads":    {many, "the thread table: it has 1048577 threads"},
		"modules":    {&Trace{Modules: make([]Module, maxModules+1)}, "the module table: it has 65536 modules"},
		"stack 0":    {&Trace{Modules: make([]Module, 1), Stacks: [][]Site{{MakeSite(0, 1)}}}, "call stack 0: it is not empty"},
		"no threads": {&Trace{Events: []Event{{Op: OpYield}}}, "event 0 (T0 yield -): there are 0 threads"},
		"no stacks": {&Trace{Threads: []Thread{{Parent: -1}}, Events: []Event{{Op: OpThreadStart, Enabled: ThreadSet{Low: 1}, Stack: 1}}},
			"event 0 (T0 start -): there is no call stack 1"},
	} {
		err := Validate(c.t)
		var invalid *InvalidError
		if !errors.As(err, &invalid) || !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: error %v, want one with %q", name, err, c.words)
			continue
		}
		if is := strings.HasPrefix(invalid.Place, "event "); is != (invalid.Event >= 0) {
			t.Errorf("%s: %q is said to be event %d", name, invalid.Place, invalid.Event)
		}
	}
	if err := Validate(&Trace{Ending: Ending{Thread: -1}}); err != nil {
		t.Errorf("an empty trace: %v", err)
	}
}

// An event taken out of a valid trace, put elsewhere, or given to another thread makes
// it invalid, or else keeps each thread's life in order. This checks Validate against a
// second statement of its main rules.
func TestValidateAgainstSimplerRules(t *testing.T) {
	rejected, accepted := 0, 0
	for seed := range uint64(30) {
		base := simulate(seed, 3, 120)
		for i := range base.Events {
			tr := *base
			tr.Allocs = nil // they refer to events by index
			tr.Events = append([]Event(nil), base.Events...)
			switch j := int(seed*7+uint64(i)*13) % len(tr.Events); seed % 3 {
			case 0:
				tr.Events = append(tr.Events[:i], tr.Events[i+1:]...)
			case 1:
				tr.Events[i], tr.Events[j] = tr.Events[j], tr.Events[i]
			case 2:
				tr.Events[i].Thread = ThreadID(j % len(tr.Threads))
			}
			err := Validate(&tr)
			if err != nil {
				rejected++
				continue
			}
			accepted++
			lifeInOrder(t, &tr)
		}
	}
	if rejected == 0 || accepted == 0 {
		t.Errorf("%d rejected and %d accepted: the test tests nothing", rejected, accepted)
	}
}

func lifeInOrder(t *testing.T, tr *Trace) {
	t.Helper()
	first, last := map[ThreadID]int{}, map[ThreadID]int{}
	created := map[ThreadID]int{0: -1}
	for i, e := range tr.Events {
		if _, ok := first[e.Thread]; !ok {
			first[e.Thread] = i
		}
		last[e.Thread] = i
		if e.Op == OpThreadCreate {
			created[ThreadID(e.Value)] = i
		}
		if e.Flags&FlagNoDecision == 0 && !e.Enabled.Has(e.Thread) {
			t.Fatalf("event %d is accepted without its thread enabled", i)
		}
	}
	for th, i := range first {
		if c, ok := created[th]; th != 0 && tr.Events[i].Op != OpThreadStart || !ok || c > i {
			t.Fatalf("thread %d is accepted with first event %d, %v, created at %d", th, i, tr.Events[i], c)
		}
	}
	for i, e := range tr.Events {
		switch e.Op {
		case OpThreadStart:
			if first[e.Thread] != i {
				t.Fatalf("event %d is accepted as a second start", i)
			}
		case OpThreadEnd:
			if last[e.Thread] != i {
				t.Fatalf("event %d is accepted as an end that is not the last", i)
			}
		case OpThreadJoin:
			j := ThreadID(e.Value)
			if l, ok := last[j]; !ok || l > i || tr.Events[l].Op != OpThreadEnd {
				t.Fatalf("event %d is accepted as a join of %d", i, j)
			}
		}
	}
}
