package engine

import (
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestFindProcesses: a search finds the same in the same execution on any number of targets, also if
// they fail or if their executions use something outside of the program.
func TestFindProcesses(t *testing.T) {
	t.Parallel()
	lost := errors.New("the process is gone")
	for _, program := range []simprog.Program{simprog.LostUpdate(4), simprog.ABBA(), simprog.LostWakeup(), simprog.TwoStage(), simprog.Reorder(4)} {
		for _, search := range []func(strategy.Setting) strategy.Strategy{
			nil,
			func(s strategy.Setting) strategy.Strategy { return strategy.NewFinishing(s, strategy.NewPortfolio(s)) },
			func(s strategy.Setting) strategy.Strategy { return strategy.NewFeedback(s) },
		} {
			var want *Report
			for _, c := range []struct {
				name      string
				processes int
				after     func(*schedule.Outcome)
				fail      error
			}{
				{name: "one", processes: 1},
				{name: "two", processes: 2},
				{name: "five", processes: 5},
				{name: "outside", processes: 3, after: func(o *schedule.Outcome) { o.External, o.Ending = true, trace.Ending{} }},
				{name: "unsupported", processes: 3, after: func(o *schedule.Outcome) { o.Ending = trace.Ending{Kind: trace.Unsupported} }},
				{name: "lost", processes: 3, fail: lost},
			} {
				r := &copied{Target: simprog.New(program), program: program, after: c.after, fail: c.fail}
				got, err := Find(t.Context(), r, Options{NoSimplify: true, Seed: 3, Runs: 1500, All: true, Processes: c.processes, eager: true, Search: search}, nil)
				if err != nil {
					t.Fatalf("%s, %s: %v", program.Name, c.name, err)
				}
				if n := r.executions(); (n > 0) != (c.processes > 1) {
					t.Errorf("%s, %s: %d executions of replicas", program.Name, c.name, n)
				}
				if want == nil {
					want = got
					continue
				}
				if got.Executions != want.Executions || got.Behaviours != want.Behaviours || got.Newest != want.Newest || got.Ended != want.Ended || !reflect.DeepEqual(found(got), found(want)) {
					t.Errorf("%s, %s: %d executions, %d behaviours, %v, found %v; want %d, %d, %v, %v", program.Name, c.name,
						got.Executions, got.Behaviours, got.Ended, found(got), want.Executions, want.Behaviours, want.Ended, found(want))
				}
			}
		}
	}
}

// found are the findings of a search: their keys, and the execution that first showed each.
func found(r *Report) (out []any) {
	for _, f := range r.Findings {
		out = append(out, f.Finding.Key, f.Finding.Execution, f.Executions)
	}
	return out
}

// TestPositionOfReplica: an execution that goes on and on on a replica is noticed, not only one on the target, which
// rests meanwhile.
func TestPositionOfReplica(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) target.Target { return &long{simprog.New(simprog.ABBA()), d} }
	s := &search{target: at(2 * time.Second)}
	if got, by := s.position(); by == nil || got.For != 2*time.Second {
		t.Errorf("alone: %v", got)
	}
	s.squad.working.Store(&[]target.Target{at(0), at(3 * time.Second), simprog.New(simprog.ABBA())})
	if got, by := s.position(); by == nil || got.For != 3*time.Second {
		t.Errorf("with replicas: %v", got)
	}
	s = &search{target: simprog.New(simprog.ABBA())}
	if _, by := s.position(); by != nil {
		t.Error("a target without the ability has a position")
	}
}

// long is a target whose execution has run for some time, if that is not 0.
type long struct {
	target.Target
	since time.Duration
}

func (l *long) Position() (target.Position, bool) { return target.Position{For: l.since}, l.since > 0 }

func (l *long) Expire(target.Position) {}
