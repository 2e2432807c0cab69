package engine

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// leaking makes every good execution of a program leave thread 1 behind.
func leaves(p simprog.Program, running bool) *meddler {
	return &meddler{Target: simprog.New(p), after: func(_ *schedule.Plan, o *schedule.Outcome) {
		leave(o, running)
	}}
}

func leave(o *schedule.Outcome, running bool) {
	if o.Ending.Kind != trace.Clean {
		return
	}
	o.Ending.Kind = trace.Leak
	o.Ending.Waiters = []trace.Waiter{{Thread: 1, Op: trace.OpChanSend, Site: trace.MakeSite(0, 8), Holder: -1, Ready: running}}
	if o.Trace != nil {
		o.Trace.Ending = o.Ending
	}
}

// Leaks do not end the search: worse failures are found after them, in the same execution as
// without leaks.
func TestLeakHidesNothing(t *testing.T) {
	want := find(t, simprog.New(simprog.LostUpdate(2)), Options{Seed: 1, NoSimplify: true})
	for _, fails := range []bool{false, true} {
		opts := Options{Seed: 1, NoSimplify: true}
		if fails {
			opts.LeakFails = func(Leak) bool { return true }
		}
		r := find(t, leaves(simprog.LostUpdate(2), false), opts)
		if r.Outcome != Bug || r.Finding.Kind != "assertion" || r.Finding.Execution != want.Finding.Execution {
			t.Errorf("fails %t: %+v, %+v; want %+v", fails, r, r.Finding, want.Finding)
		}
		if want.Finding.Execution > 1 && len(r.Leaks) != 1 {
			t.Errorf("fails %t: leaks %+v", fails, r.Leaks)
		}
	}
}

// A race in an execution that leaves goroutines is a race.
func TestLeakHidesNoRace(t *testing.T) {
	want := find(t, simprog.New(simprog.LostUpdate(2)), Options{Seed: 1, NoSimplify: true, Races: RacesFail})
	r := find(t, leaves(simprog.LostUpdate(2), false), Options{Seed: 1, NoSimplify: true, Races: RacesFail})
	if want.Finding == nil || want.Finding.Kind != "data race" || r.Finding == nil || r.Finding.Kind != "data race" || r.Finding.Execution != want.Finding.Execution {
		t.Errorf("%+v, want %+v", r.Finding, want.Finding)
	}
}

// If nothing worse is found a leak is listed, once, and is a failure if the options say so.
func TestLeaks(t *testing.T) {
	for _, running := range []bool{false, true} {
		r := find(t, leaves(simprog.LockedUpdate(2), running), Options{Runs: 100})
		if r.Outcome != Nothing || r.Executions != 100 || len(r.Leaks) != 1 {
			t.Fatalf("%+v", r)
		}
		if l := r.Leaks[0]; l.Op != "chan send" || l.Running != running || l.Executions != 100 {
			t.Errorf("%+v", l)
		}
	}
	asked := 0
	r := find(t, leaves(simprog.LockedUpdate(2), false), Options{Runs: 100, NoSimplify: true, LeakFails: func(l Leak) bool {
		asked++
		return l.Op == "chan send"
	}})
	if r.Outcome != Bug || r.Finding.Kind != "goroutine leak" || r.Finding.Execution != 1 || r.Finding.Recorded == nil || r.Executions != 100 || asked != 1 {
		t.Errorf("%+v, %+v, asked %d times", r, r.Finding, asked)
	}
	r = find(t, leaves(simprog.LockedUpdate(2), false), Options{Runs: 100, LeakFails: func(Leak) bool { return false }})
	if r.Outcome != Nothing || len(r.Leaks) != 1 {
		t.Errorf("%+v", r)
	}
}

// A goroutine that is left only because of earlier executions of the process is not a leak.
func TestLeakOfEarlierExecutions(t *testing.T) {
	m := &meddler{Target: simprog.New(simprog.LockedUpdate(2))}
	streamed := 0
	m.after = func(p *schedule.Plan, o *schedule.Outcome) {
		if streamed++; streamed <= 100 {
			leave(o, false)
		}
	}
	r := find(t, m, Options{Runs: 100})
	if r.Outcome != Nothing || len(r.Leaks) != 0 || streamed <= 100 {
		t.Errorf("%+v after %d executions", r, streamed)
	}
}
