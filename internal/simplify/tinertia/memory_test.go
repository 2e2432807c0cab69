package tinertia

import (
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

func TestMemory(t *testing.T) {
	threads := []trace.Thread{{Name: 10}, {Name: 20}, {Name: 30}}
	event := func(t trace.ThreadID, site trace.Site) trace.Event {
		return trace.Event{Thread: t, Op: trace.OpWrite, Site: site}
	}
	asked := []trace.Event{event(0, 1), event(1, 7), event(1, 2)}
	made := []trace.Event{event(0, 1), event(1, 2), {Thread: 1, Op: trace.OpMalloc, Flags: trace.FlagNoDecision}, event(0, 3)}
	m := newMemory()
	v := &verdict{trace: &trace.Trace{Threads: threads, Events: made}}
	m.add(schedule.Steps(asked), threads, v, 0)

	moved := []trace.Thread{{Name: 20}, {Name: 10}}
	for _, c := range []struct {
		what    string
		script  []trace.Event
		threads []trace.Thread
		known   bool
	}{
		{"what was asked", asked, threads, true},
		{"the beginning of what was asked", asked[:2], threads, false},
		{"more than was asked", append(asked[:3:3], event(2, 9)), threads, false},
		{"what was made", made, threads, true},
		{"more than was made", append(made[:4:4], event(2, 9)), threads, true},
		{"the beginning of what was made", made[:3], threads, false},
		{"the same with other indices", []trace.Event{event(1, 1), event(0, 2), event(1, 3)}, moved, true},
		{"the same indices, other threads", made, moved, false},
		{"another instruction", []trace.Event{event(0, 1), event(1, 2), event(0, 4)}, threads, false},
		{"nothing", nil, threads, false},
	} {
		if got := m.find(schedule.Steps(c.script), c.threads) == v; got != c.known {
			t.Errorf("%s: known %v, want %v", c.what, got, c.known)
		}
	}

	woken := schedule.Step{Thread: 0, Op: trace.OpCondSignal, Wake: 1}
	other := woken
	other.Wake = 2
	late := woken
	late.Timeout = true
	hashes := map[uint64]bool{}
	for _, s := range []schedule.Step{woken, other, late} {
		hashes[hashSchedule([]schedule.Step{s}, threads)] = true
	}
	if len(hashes) != 3 {
		t.Error("who is woken, or a time-out, makes no difference")
	}
}

// TestMemoryForgets checks that old traces are dropped and verdicts are kept.
func TestMemoryForgets(t *testing.T) {
	m := newMemory()
	var all []*verdict
	script := func(i int) []schedule.Step { return []schedule.Step{{Site: trace.Site(i), Wake: -1}} }
	for i := range 5 {
		v := &verdict{trace: &trace.Trace{Events: make([]trace.Event, remembered/3)}}
		v.trace.Events[0].Site = trace.Site(i)
		all = append(all, v)
		m.add(script(i), nil, v, 0)
	}
	for i, v := range all {
		if (v.trace == nil) != (i < 2) {
			t.Errorf("trace %d kept: %v", i, v.trace != nil)
		}
		if m.find(script(i), nil) != v {
			t.Errorf("verdict %d forgotten", i)
		}
	}
	big := &verdict{trace: &trace.Trace{Events: make([]trace.Event, 2*remembered)}}
	if m.add(script(9), nil, big, 0); big.trace == nil || all[4].trace != nil {
		t.Error("the last trace must be kept, however long, and only it")
	}
}

// TestNames checks that threads are identified by name, and by index if they have none.
func TestNames(t *testing.T) {
	threads := []trace.Thread{{Name: 10}, {}, {Name: 30}}
	for id := range threads {
		if got := idOf(threads, nameOf(threads, trace.ThreadID(id))); got != trace.ThreadID(id) {
			t.Errorf("thread %d is found as %d", id, got)
		}
	}
	if idOf(threads, 99) != -1 {
		t.Error("found a thread that is not there")
	}
	if nameOf(nil, 4) == nameOf(nil, 5) {
		t.Error("threads without names are the same")
	}
}
