package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
)

// finishing is find's default search.
func finishing(s strategy.Setting) strategy.Strategy {
	return strategy.NewFinishing(s, strategy.NewPortfolio(s))
}

// TestComplete: a small correct program is searched to its end with a thousand samples, whatever the
// number of workers.
func TestComplete(t *testing.T) {
	for workers := 1; workers <= 3; workers += 2 {
		opts := Options{Search: finishing}
		for range workers {
			opts.Workers = append(opts.Workers, Local(simprog.NewWatching(simprog.LockedUpdate(3))))
		}
		r := find(t, simprog.NewWatching(simprog.LockedUpdate(3)), opts)
		c := r.Coverage
		if r.Outcome != Nothing || r.Ended != Complete || c == nil || !c.Complete || c.Behaviours != 6 || c.Executions != 6 || r.Executions < 1000 || r.Executions > 2000 || r.Unseen != nil {
			t.Errorf("%d workers: %+v %+v", workers, r, c)
		}
	}
}

// TestCompleteFindsBugs: the search with DPOR beside it finds what the sampling search finds, and
// DPOR alone finds it with no luck involved.
func TestCompleteFindsBugs(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(2), simprog.ABBA(), simprog.LostWakeup(), simprog.OrderViolation(), simprog.ExitStatus(), simprog.TwoStage()} {
		for name, search := range map[string]func(strategy.Setting) strategy.Strategy{
			"default": finishing,
			"dpor":    func(s strategy.Setting) strategy.Strategy { return strategy.NewDPOR(s) },
			"chess":   func(s strategy.Setting) strategy.Strategy { return strategy.NewCHESS(s, 2) },
		} {
			r := find(t, simprog.NewWatching(program), Options{Search: search, NoSimplify: true, Runs: 20_000})
			yields := program.Name == simprog.TwoStage().Name && name != "default"
			if (r.Outcome != Bug || !r.Finding.Confirmed) && !yields {
				t.Errorf("%s by %s: %+v", program.Name, name, r)
			}
		}
	}
}

// TestIncomplete: what is not enumerated is named, and is not called complete.
func TestIncomplete(t *testing.T) {
	executions := 0
	for want, program := range map[string]simprog.Program{
		"the thread came to": {Name: "fickle", Main: func(t *simprog.Thread) {
			executions++
			odd := executions%2 == 1
			x, y := t.Var(0), t.Var(0)
			other := t.Go(func(t *simprog.Thread) {
				if odd {
					t.Store(x, 1)
				} else {
					t.Store(y, 1)
				}
			})
			t.Store(x, 2)
			t.Store(y, 2)
			t.Join(other)
		}},
		"slept": {Name: "sleeps", Main: func(t *simprog.Thread) {
			x := t.Var(0)
			other := t.Go(func(t *simprog.Thread) { t.Sleep(1000); t.Store(x, 1) })
			t.Load(x)
			t.Join(other)
		}},
		"not seen": {Name: "blind", Blind: true, Main: simprog.LockedUpdate(2).Main},
	} {
		r := find(t, simprog.NewWatching(program), Options{Search: func(s strategy.Setting) strategy.Strategy { return strategy.NewDPOR(s) }})
		if r.Ended != Exhausted || r.Coverage == nil || r.Coverage.Complete || !strings.Contains(strings.Join(r.Coverage.Missing, ";"), want) {
			t.Errorf("%s: %+v %+v", program.Name, r, r.Coverage)
		}
		if r := find(t, simprog.NewWatching(program), Options{Search: finishing, Runs: 500}); r.Ended == Complete {
			t.Errorf("%s: %+v", program.Name, r)
		}
	}
}

// TestCompleteResumed: a default search that is interrupted after any number of executions goes on
// where it was, and ends with the same claim after as many executions.
func TestCompleteResumed(t *testing.T) {
	program := simprog.LockedUpdate(3)
	whole := find(t, simprog.NewWatching(program), Options{Search: finishing})
	for runs := 1; runs < whole.Executions; runs += need.Amount(10, 3) {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		interrupted := func(s strategy.Setting) strategy.Strategy {
			return &spy{Strategy: finishing(s), observed: func(*strategy.Observation) {
				if n++; n == runs {
					cancel()
				}
			}}
		}
		var state []byte
		Find(ctx, simprog.NewWatching(program), Options{Search: interrupted, Save: func(b []byte) error { state = b; return nil }}, nil)
		r := find(t, simprog.NewWatching(program), Options{Search: finishing, Resume: state})
		if r.Ended != Complete || r.Executions != whole.Executions || r.Behaviours != whole.Behaviours || r.Coverage.Executions != whole.Coverage.Executions || r.Coverage.Redundant != whole.Coverage.Redundant {
			t.Errorf("after %d of %d: %+v %+v", runs, whole.Executions, r, r.Coverage)
		}
	}
}
