package engine

import (
	"context"
	"errors"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
)

// hasty is a program that fails if its sleep ends before another thread's work.
func hasty() simprog.Program {
	return simprog.Program{Name: "hasty", Main: func(t *simprog.Thread) {
		done := t.Var(0)
		worker := t.Go(func(t *simprog.Thread) {
			for range 5 {
				t.Add(done, 1)
			}
		})
		t.Sleep(10e6)
		t.Assert(t.Load(done) == 5, "not done")
		t.Join(worker)
	}}
}

// unhurried is a target that cannot execute a plan in which no timer fires early.
type unhurried struct {
	target.Target
	err error
}

func (u unhurried) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	if p.Delays == schedule.BriefDelays {
		return schedule.Outcome{}, u.err
	}
	return u.Target.Run(ctx, p)
}

// A failure under early timers does not count if whether it needs them could not be found out.
func TestEarlyNotDecided(t *testing.T) {
	opts := Options{Runs: 2000, EarlyAside: true}
	if r := find(t, simprog.New(hasty()), opts); len(r.Early) != 1 || r.Finding != nil {
		t.Errorf("%+v", r)
	}
	gone := errors.New("gone")
	r, err := Find(t.Context(), unhurried{simprog.New(hasty()), gone}, opts, nil)
	if !errors.Is(err, gone) || r.Finding != nil || r.NotReproduced != 1 || r.Undecided != 1 {
		t.Errorf("%+v, %v", r, err)
	}
}
