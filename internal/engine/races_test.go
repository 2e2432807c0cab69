package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// lateRace races only if the second thread comes before the first has set the flag: then both write
// x. It has no other bug.
//
//go:noinline
func lateRace() simprog.Program {
	return simprog.Program{Name: "late-race", Main: func(t *simprog.Thread) {
		x, flag, m := t.Var(0), t.Var(0), t.Mutex()
		one := t.Go(func(t *simprog.Thread) {
			t.Write(x, 1)
			t.Lock(m)
			t.Write(flag, 1)
			t.Unlock(m)
		})
		two := t.Go(func(t *simprog.Thread) {
			t.Lock(m)
			set := t.Read(flag)
			t.Unlock(m)
			if set == 0 {
				t.Write(x, 2)
			}
		})
		t.Join(one)
		t.Join(two)
	}}
}

// TestRacesFail: a race that causes no other failure is found, confirmed, simplified and replayed,
// and both accesses are reported.
func TestRacesFail(t *testing.T) {
	t.Run("accesses sent", func(t *testing.T) { testRacesFail(t, simprog.New(lateRace())) })
	t.Run("watched in place", func(t *testing.T) { testRacesFail(t, simprog.NewWatching(lateRace())) })
}

func testRacesFail(t *testing.T, late target.Target) {
	if r := find(t, late, Options{Runs: 3000}); r.Outcome != Nothing {
		t.Fatalf("without RacesFail: %+v", r.Finding)
	}
	for seed := range uint64(5) {
		file := filepath.Join(t.TempDir(), "race.hdl")
		where := func(s trace.Site) string { return "writer" }
		r := find(t, late, Options{Seed: seed, Runs: 3000, Races: RacesFail, Keep: keepIn(file, ""), Where: where})
		if r.Outcome != Bug || r.Finding.Kind != "data race" || r.Finding.Message != "data race: write at writer, write at writer" {
			t.Fatalf("seed %d: %+v, finding %+v", seed, r, r.Finding)
		}
		f := r.Finding
		if f.Execution == 1 || f.Race == nil || f.Race.First.Op != "write" || f.Race.Second.Op != "write" || f.Race.First.Site == f.Race.Second.Site {
			t.Errorf("seed %d: execution %d, race %+v", seed, f.Execution, f.Race)
		}
		text, err := json.Marshal(r)
		if err != nil || !strings.Contains(string(text), `"race":{"first":{"op":"write"`) {
			t.Errorf("JSON %s, %v", text, err)
		}
		written, err := trace.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, tr := range []*trace.Trace{written, r.Simplified.Recorded} {
			if err := trace.Validate(tr); err != nil {
				t.Error(err)
			}
			e := &tr.Ending
			if e.Kind != trace.Race || len(e.Accesses) != 2 || e.Site != e.Accesses[1].Site || e.Thread != e.Accesses[1].Thread || len(e.Stack) == 0 || e.Stack[0] != e.Site {
				t.Errorf("seed %d: %+v", seed, e)
			}
			for _, a := range e.Accesses {
				if !slices.ContainsFunc(tr.Events, func(e trace.Event) bool { return e.Thread == a.Thread && e.Site == a.Site && e.Op == a.Op }) {
					t.Errorf("seed %d: the trace lacks the access %+v", seed, a)
				}
			}
			if e.Message != f.Message {
				t.Errorf("seed %d: message %q", seed, e.Message)
			}
			if _, err := Replay(context.Background(), late, tr); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		// main|T2|T1, and main ends: it suffices that T2 runs first.
		if s := r.Simplified; !s.Complete || s.Preemptions != 0 || s.Switches > 3 {
			t.Errorf("seed %d: simplified to %d switches, %d preemptions", seed, s.Switches, s.Preemptions)
		}
	}
}

// TestRealFailuresComeFirst: a race does not hide a failed assertion.
func TestRealFailuresComeFirst(t *testing.T) {
	asserts := simprog.Program{Name: "asserts", Main: func(t *simprog.Thread) {
		x := t.Var(0)
		one := t.Go(func(t *simprog.Thread) { t.Write(x, 1) })
		t.Write(x, 2)
		t.Join(one)
		t.Assert(false, "never")
	}}
	if r := find(t, simprog.New(asserts), Options{Runs: 10, Races: RacesFail}); r.Finding == nil || r.Finding.Kind != "assertion" {
		t.Errorf("%+v", r.Finding)
	}
}

// TestTheSameRaceCounts: if an execution has several races, the oracle picks the one given.
func TestTheSameRaceCounts(t *testing.T) {
	at := func(id trace.ThreadID, op trace.Op, object, site uint64) trace.Event {
		return trace.Event{Thread: id, Op: op, Object: trace.Object(object), Site: trace.MakeSite(0, site), Size: 4}
	}
	tr := &trace.Trace{
		Threads: []trace.Thread{{ID: 0, Parent: -1}, {ID: 1, Nth: 1}},
		Events: []trace.Event{{Op: trace.OpThreadCreate, Value: 1}, at(0, trace.OpWrite, 64, 1), at(0, trace.OpWrite, 128, 2),
			at(1, trace.OpRead, 64, 3), at(1, trace.OpWrite, 128, 4)},
	}
	races := racesOf(tr)
	where := func(s trace.Site, _ []trace.Site) string { return place(nil, s) }
	first := schedule.Outcome{Trace: &trace.Trace{Threads: tr.Threads, Events: tr.Events}}
	(&verdict{where: where}).race(&first, races)
	if got := first.Ending.Message; got != "data race: write at module 0+0x1, read at module 0+0x3" {
		t.Error(got)
	}
	slices.Reverse(races)
	other := trace.Ending{Message: "that one", Accesses: []trace.Access{{Op: trace.OpWrite, Site: trace.MakeSite(0, 4)}, {Op: trace.OpWrite, Site: trace.MakeSite(0, 2)}}}
	(&verdict{where: where, like: &other}).race(&first, races)
	if first.Ending.Message == "that one" {
		t.Error("an execution that has failed is judged again")
	}
	second := schedule.Outcome{Trace: &trace.Trace{Threads: tr.Threads, Events: tr.Events}}
	(&verdict{where: where, like: &other}).race(&second, races)
	if e := second.Ending; e.Message != "data race: write at module 0+0x2, write at module 0+0x4" || e.Accesses[0].Site != trace.MakeSite(0, 2) || e.Site != trace.MakeSite(0, 4) || e.Thread != 1 {
		t.Errorf("%+v", e)
	}
	slices.Reverse(other.Accesses)
	third := schedule.Outcome{Trace: &trace.Trace{Threads: tr.Threads, Events: tr.Events}}
	(&verdict{where: where, like: &other}).race(&third, races)
	if got := third.Ending.Message; got != "that one" {
		t.Error(got)
	}
}

// TestRaceMessageOrder: the message names the accesses in the order in which they happened, as the
// drawing does.
func TestRaceMessageOrder(t *testing.T) {
	where := func(s trace.Site, _ []trace.Site) string { return place(nil, s) }
	for _, ops := range [][2]trace.Op{{trace.OpRead, trace.OpWrite}, {trace.OpWrite, trace.OpRead}} {
		for _, sites := range [][2]uint64{{1, 2}, {2, 1}} {
			at := func(i int) trace.Event {
				return trace.Event{Thread: trace.ThreadID(i), Op: ops[i], Object: 64, Site: trace.MakeSite(0, sites[i]), Size: 4}
			}
			tr := &trace.Trace{
				Threads: []trace.Thread{{ID: 0, Parent: -1}, {ID: 1, Nth: 1}},
				Events:  []trace.Event{{Op: trace.OpThreadCreate, Value: 1}, at(0), at(1)},
			}
			o := schedule.Outcome{Trace: tr}
			(&verdict{where: where}).race(&o, racesOf(tr))
			want := fmt.Sprintf("data race: %v at module 0+%#x, %v at module 0+%#x", ops[0], sites[0], ops[1], sites[1])
			if o.Ending.Message != want {
				t.Errorf("%s, want %s", o.Ending.Message, want)
			}
		}
	}
}

// TestStopWhenSequential: without a choice one execution is enough, if the option is set.
func TestStopWhenSequential(t *testing.T) {
	alone := simprog.Program{Name: "alone", Main: func(t *simprog.Thread) {
		m := t.Mutex()
		t.Lock(m)
		t.Unlock(m)
	}}
	r := find(t, simprog.New(alone), Options{Runs: 50, StopWhenSequential: true})
	if !r.Sequential || r.Executions != 1 || r.Outcome != Nothing || r.Ended != Sequential {
		t.Errorf("%+v", r)
	}
	if r := find(t, simprog.New(alone), Options{Runs: 50}); r.Sequential || r.Executions != 50 {
		t.Errorf("not asked for: %+v", r)
	}
	if r := find(t, simprog.New(lateRace()), Options{Runs: 50, StopWhenSequential: true}); r.Sequential || r.Executions != 50 {
		t.Errorf("there is a choice: %+v", r)
	}
	if sequential(&trace.Trace{Events: []trace.Event{{Op: trace.OpSelect, Size: 2, Enabled: trace.ThreadSet{Low: 1}}}}) {
		t.Error("a select of two cases is a choice")
	}
	for _, op := range []trace.Op{trace.OpTimerSet, trace.OpSignalAction, trace.OpSignalSend, trace.OpProcessStart, trace.OpExternal} {
		if sequential(&trace.Trace{Threads: make([]trace.Thread, 1), Events: []trace.Event{{Op: op, Enabled: trace.ThreadSet{Low: 1}}}}) {
			t.Errorf("%v may come at another time", op)
		}
	}
	for _, of := range []trace.ThreadID{0, 1} {
		tr := trace.Trace{Header: trace.Header{Target: "go"}, Threads: make([]trace.Thread, 2), Events: []trace.Event{
			{Op: trace.OpGo, Value: 1, Enabled: trace.ThreadSet{Low: 1}},
			{Op: trace.OpThreadStart, Thread: of, Enabled: trace.ThreadSet{Low: 1 << of}},
		}}
		if got, want := sequential(&tr), of == 0; got != want {
			t.Errorf("T%d runs alone after T0: sequential is %t, want %t", of, got, want)
		}
	}
	if !sequential(&trace.Trace{Events: []trace.Event{{Op: trace.OpSelect, Size: 1, Enabled: trace.ThreadSet{Low: 1}}}}) {
		t.Error("a select of one case is none")
	}
}

// racesOf returns the races of a recorded execution.
func racesOf(t *trace.Trace) []race.Race {
	d := race.Bounded(0)
	for i := range t.Events {
		d.Event(&t.Events[i])
	}
	return d.Races()
}

// racesFail returns RacesFail if fail is set, and RacesIgnored otherwise.
func racesFail(fail bool) Races {
	if fail {
		return RacesFail
	}
	return RacesIgnored
}
