package engine

import (
	"context"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/reversible"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestStepsFor: what repeats or varies an execution may take at least as many steps as that, and as it would have taken with
// other scheduling points.
func TestStepsFor(t *testing.T) {
	lock := trace.Event{Op: trace.OpMutexLock, Site: trace.MakeSite(0, 1)}
	read := trace.Event{Op: trace.OpRead, Site: trace.MakeSite(0, 2), Flags: trace.FlagNoDecision}
	of := func(e trace.Event, n int) []trace.Event { return slices.Repeat([]trace.Event{e}, n) }
	for _, test := range []struct {
		name   string
		events []trace.Event
		points []trace.Site
		want   int
	}{
		{"short", of(lock, 10), nil, usualSteps},
		{"long", of(lock, 300_000), nil, 2_400_000},
		{"accesses are not points", slices.Concat(of(lock, 10), of(read, 300_000)), nil, usualSteps},
		{"accesses are points", slices.Concat(of(lock, 10), of(read, 300_000)), []trace.Site{read.Site}, roomSteps * 300_010},
		{"other accesses are points", slices.Concat(of(lock, 10), of(read, 300_000)), []trace.Site{lock.Site}, usualSteps},
		{"accesses that were not recorded are points", of(lock, 10), []trace.Site{read.Site}, firstSteps},
	} {
		if got := stepsFor(&trace.Trace{Events: test.events}, test.points); got != test.want {
			t.Errorf("%s: %d, want %d", test.name, got, test.want)
		}
	}
	if got := room(1 << 30); got != mostSteps {
		t.Errorf("room beyond any: %d", got)
	}
	recorded := &trace.Trace{Events: of(lock, 1_300_000), Threads: []trace.Thread{{}}}
	if p := replayPlan(recorded); p.MaxSteps != roomSteps*1_300_000 {
		t.Errorf("a replay may take %d steps", p.MaxSteps)
	}
	x := experiment.New(settingOf(simprog.New(simprog.LockedUpdate(2)), recorded, verdict{})).On(recorded, replayPlan(recorded))
	if p := x.Reordered([]int{0, 1}); p.MaxSteps != roomSteps*1_300_000 {
		t.Errorf("a reordering may take %d steps", p.MaxSteps)
	}
}

// TestCutDecidesNothing: if an execution with another schedule was ended before it was over, whether the condition holds is
// not decided; it does not fail.
func TestCutDecidesNothing(t *testing.T) {
	program := simprog.New(simprog.LockedUpdate(2))
	recorded, err := Record(context.Background(), program, RecordOptions{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	target := &meddler{Target: program, after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Policy == schedule.Random && p.Mode == schedule.NoScript && o.Trace != nil {
			o.Ending.Kind, o.Ending.Message = trace.Unfinished, trace.CutBySteps
			o.Trace.Ending = o.Ending
			o.Trace.Events = o.Trace.Events[:len(o.Trace.Events)/2]
		}
	}}
	d := &Determinism{Answer: reversible.Holds, Golden: recorded}
	if err := d.compareSchedules(context.Background(), replayPlan(recorded), target, DeterminismOptions{Executions: 6, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	if d.Answer == reversible.Fails && d.Reordered.Ending.Kind == trace.Unfinished || d.Answer == reversible.Holds {
		t.Errorf("%v: %s", d.Answer, d.Why)
	}
}
