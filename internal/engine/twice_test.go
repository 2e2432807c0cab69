package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// repeating is a target that runs executions in shared processes, unless each has to have a new one.
// In a shared process, second changes what a process does that has run the program before.
type repeating struct {
	target.Target
	isolation target.Isolation
	second    func(*schedule.Outcome)
	fresh     int // executions that had a new process
}

func (r *repeating) Isolate(how target.Isolation) (before target.Isolation) {
	before, r.isolation = r.isolation, how
	return before
}

func (r *repeating) Isolation() target.Isolation { return r.isolation }

func (r *repeating) ended(o *schedule.Outcome) {
	switch {
	case r.isolation == target.SharedProcesses:
		r.second(o)
	default:
		r.fresh++
		if o.Trace != nil {
			o.Trace.Header.Isolation = trace.IsolationProcess
		}
	}
}

func (r *repeating) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	o, err := r.Target.Run(ctx, p)
	r.ended(&o)
	return o, err
}

func (r *repeating) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return r.Target.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		o.Shared = r.isolation == target.SharedProcesses
		r.ended(&o)
		return done(p, o)
	})
}

// registers is a program whose second execution in a process fails.
func registers(o *schedule.Outcome) {
	o.Ending = trace.Ending{Kind: trace.Panic, Message: "the name is in use"}
	if o.Trace != nil {
		o.Trace.Ending = o.Ending
	}
}

func TestNotTwice(t *testing.T) {
	r := &repeating{Target: simprog.New(simprog.LockedUpdate(2)), second: registers}
	got := find(t, r, Options{Runs: 50})
	if got.Outcome != Nothing || got.Finding != nil || got.Executions != 50 || got.NotReproduced != 0 || r.isolation != target.EachNew || r.fresh < 50 {
		t.Errorf("%+v, %d new processes", got, r.fresh)
	}
	if len(got.Notes) != 1 || !strings.HasPrefix(got.Notes[0], "the test cannot run twice in a process (panic: the name is in use") {
		t.Errorf("%q", got.Notes)
	}
	// The bug of a program that cannot run twice is found, and is a bug of a new process.
	r = &repeating{Target: simprog.New(simprog.ABBA()), second: registers}
	got = find(t, r, Options{Runs: 500})
	if got.Outcome != Bug || got.Finding.Kind != "deadlock" || got.Finding.Recorded.Header.Isolation != trace.IsolationProcess || got.Simplified == nil {
		t.Fatalf("%+v", got)
	}
	r.isolation = target.SharedProcesses // Replay knows
	if _, err := Replay(context.Background(), r, got.Simplified.Recorded); err != nil || r.isolation != target.SharedProcesses {
		t.Errorf("%v, %v", err, r.isolation)
	}
}

// A bug that occurs in both is recorded as it was found, and found where it is told once.
func TestTwice(t *testing.T) {
	r := &repeating{Target: simprog.New(simprog.ABBA()), second: func(*schedule.Outcome) {}}
	got := find(t, r, Options{Runs: 500})
	if got.Outcome != Bug || got.Finding.Recorded.Header.Isolation != "" || len(got.Notes) != 0 || r.isolation != target.SharedProcesses {
		t.Errorf("%+v", got)
	}
}

// rerunning is a repeating target whose Run is preceded by before.
type rerunning struct {
	*repeating
	before func(*repeating) error
}

func (r rerunning) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	if err := r.before(r.repeating); err != nil {
		return schedule.Outcome{}, err
	}
	return r.repeating.Run(ctx, p)
}

// A failure of a shared process does not count before a new process has shown it, also if the target becomes cold
// meanwhile, or nothing can be executed in a new process.
func TestNotShownInNewProcess(t *testing.T) {
	gone := errors.New("gone")
	cold := func(r *repeating) error {
		r.isolation = target.EachNew
		return nil
	}
	ends := func(r *repeating) error {
		if r.isolation == target.EachNew {
			return gone
		}
		return nil
	}
	onlyThere := func(o *schedule.Outcome) { // not in Run's
		if o.Shared {
			registers(o)
		}
	}
	for _, c := range []struct {
		name   string
		second func(*schedule.Outcome)
		before func(*repeating) error

		undecided int
	}{
		{"becomes cold", onlyThere, cold, 0},
		{"passes again, then ends", onlyThere, ends, 0},
		{"fails again, then ends", registers, ends, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := rerunning{&repeating{Target: simprog.New(simprog.LockedUpdate(2)), second: c.second}, c.before}
			got, err := Find(t.Context(), r, Options{Runs: 1}, nil)
			if err != nil && !errors.Is(err, gone) || got.Outcome == Bug || got.Finding != nil || got.NotReproduced != 1 || got.Undecided != c.undecided {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}
