package engine

import (
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// flaky fails at random, independently of the schedule, and also has a real bug if bug is set.
func flaky(bug bool) simprog.Program {
	executions := 0
	return simprog.Program{Name: "flaky", Main: func(t *simprog.Thread) {
		executions++
		if executions%7 == 3 {
			t.Assert(false, "out of luck")
		}
		if bug {
			simprog.LostUpdate(2).Main(t)
		}
	}}
}

// TestNotReproduced: a failure that does not reproduce is counted and noted, and the search
// continues where it stopped.
func TestNotReproduced(t *testing.T) {
	target := &meddler{Target: simprog.New(flaky(false))}
	r := find(t, target, Options{Runs: 300})
	if r.Outcome != Unreproduced || r.Executions != 300 || r.NotReproduced < 20 || len(r.Notes) == 0 || len(r.Notes) > maxNotes {
		t.Errorf("%+v", r)
	}
	if !strings.HasPrefix(r.Notes[0], "not reproduced: execution 3 (") || !strings.Contains(r.Notes[0], "ended with assertion: out of luck") {
		t.Errorf("note: %s", r.Notes[0])
	}
	// The interruptions caused no execution to be skipped or repeated.
	for i, seed := range target.seeds {
		if seed != uint64(i) {
			t.Fatalf("execution %d has seed %d: %v", i, seed, target.seeds)
		}
	}
	r = find(t, simprog.New(flaky(true)), Options{Runs: 3000, NoSimplify: true})
	if r.Outcome != Bug || r.Finding.Message != "counter == threads" || r.NotReproduced == 0 {
		t.Errorf("with a real bug besides: %+v, %+v", r, r.Finding)
	}
}

// TestReplayMustBeIdentical: a failure that recurs with other events is not a finding.
func TestReplayMustBeIdentical(t *testing.T) {
	n := 0
	target := &meddler{Target: simprog.New(simprog.ABBA()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if n++; p.Mode == schedule.Strict && o.Trace != nil {
			o.Trace.Events[2].Value++
		}
	}}
	r := find(t, target, Options{Runs: 200})
	if r.Outcome != Unreproduced || r.NotReproduced == 0 || !strings.Contains(r.Notes[0], "event 2 (value)") {
		t.Errorf("%+v", r)
	}
}

// TestAnotherFailureIsNotTheSame: if the plan, run again, fails with another bug, the first failure
// is not confirmed.
func TestAnotherFailureIsNotTheSame(t *testing.T) {
	failed := false
	target := &meddler{Target: simprog.New(simprog.LostUpdate(2)), after: func(p *schedule.Plan, o *schedule.Outcome) {
		switch {
		case !o.Ending.Kind.Failed():
		case !p.Record:
			failed = true
		case failed:
			o.Ending.Message = "another assertion"
			o.Trace.Ending.Message = o.Ending.Message
		default: // what is recorded would be replayed, and not run again
			o.Ending = trace.Ending{}
			o.Trace.Ending = o.Ending
		}
	}}
	r := find(t, target, Options{Seed: 3, Runs: 100, Search: func(s strategy.Setting) strategy.Strategy { return strategy.NewPortfolio(s, strategy.POS{}) }})
	if r.NotReproduced == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "its plan, run again, ended with assertion: another assertion at") {
		t.Errorf("%+v", r)
	}
	if r.Finding != nil && r.Finding.Message != "another assertion" {
		t.Errorf("%+v", r.Finding)
	}
}

// TestUnfinishedByTheWatchdog: an execution that the watchdog ended is not a finding, and the search goes on, but is not clean.
func TestUnfinishedByTheWatchdog(t *testing.T) {
	target := &meddler{Target: simprog.New(simprog.LockedUpdate(2)), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Seed == 13 {
			*o = schedule.Outcome{Ending: trace.Ending{Kind: trace.Unfinished, Message: "watchdog: killed"}}
		}
	}}
	r := find(t, target, Options{Runs: 100})
	if u := r.Unfinished; r.Outcome != Unfinished || r.Finding != nil || r.Executions != 100 || u == nil || u.Execution != 14 || u.Executions != 1 || u.Why != "watchdog: killed" {
		t.Errorf("%+v, %+v", r, u)
	}
}
