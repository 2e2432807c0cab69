package strategy_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// chain is two threads that take turns in raising a word from 0 to depth+1. Each operation is tried
// once, so the word reaches depth+1 only if depth operations each come after the one of the other
// thread that they need: a bug of that depth.
func chain(depth int) simprog.Program {
	return simprog.Program{Name: fmt.Sprintf("chain-%d", depth), Main: func(t *simprog.Thread) {
		word := t.Var(0)
		turn := func(first int) func(*simprog.Thread) {
			return func(t *simprog.Thread) {
				for i := first; i <= depth; i += 2 {
					t.CompareAndSwap(word, int64(i), int64(i)+1)
				}
			}
		}
		one, two := t.Go(turn(0)), t.Go(turn(1))
		t.Join(one)
		t.Join(two)
		t.Assert(t.Load(word) <= int64(depth), "word <= depth")
	}}
}

// TestPCTBound: PCT with depth d finds a bug of depth d with a probability of at least
// 1/(n k^(d-1)), Burckhardt et al., ASPLOS 2010, section 3. The number of executions makes 25
// failures the least to be expected; fewer than 5 have a probability below 10^-5.
func TestPCTBound(t *testing.T) {
	t.Parallel()
	const expected, least = 25, 5
	for depth := 1; depth <= 4; depth++ {
		target := simprog.New(chain(depth))
		first, err := target.Run(t.Context(), schedule.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		n, k := first.Threads, first.Points
		executions := int(expected * float64(n) * math.Pow(float64(k), float64(depth-1)))
		failures := 0
		for seed := range executions {
			o, err := target.Run(t.Context(), schedule.Plan{Policy: schedule.PCT, Depth: depth, Length: k, Seed: uint64(seed)})
			if err != nil {
				t.Fatal(err)
			}
			if o.Ending.Kind == trace.Assertion {
				failures++
			}
		}
		t.Logf("depth %d, %d threads, %d points: %d of %d executions fail, %.1f times the bound",
			depth, n, k, failures, executions, float64(failures)/expected)
		if failures < least {
			t.Errorf("depth %d: %d failures in %d executions, want about %d or more", depth, failures, executions, expected)
		}
	}
}

// TestRandomDistribution: Random gives each schedule the product of 1/(enabled threads) over its
// decisions, by a chi-square test over all schedules of a program.
func TestRandomDistribution(t *testing.T) {
	t.Parallel()
	target := simprog.New(chain(2))
	const executions = 20_000
	count, probability := map[string]int{}, map[string]float64{}
	for seed := range executions {
		plan := strategy.Random{}.Plan(nil, strategy.Seen{})
		plan.Seed, plan.Record = uint64(seed), true
		o, err := target.Run(t.Context(), plan)
		if err != nil {
			t.Fatal(err)
		}
		p := 1.0
		for i := range o.Trace.Events {
			p /= float64(o.Trace.Events[i].Enabled.Len())
		}
		name := schedule.Format(schedule.ScriptOf(o.Trace), o.Trace.Threads)
		count[name]++
		probability[name] = p
	}
	chi, total := 0.0, 0.0
	for name, p := range probability {
		want := executions * p
		total += p
		chi += (float64(count[name]) - want) * (float64(count[name]) - want) / want
	}
	t.Logf("%d schedules of total probability %.6f, chi-square %.1f", len(count), total, chi)
	if math.Abs(total-1) > 1e-9 {
		t.Errorf("schedules seen have a total probability of %v, want 1", total)
	}
	// Mean and variance of chi-square with m degrees of freedom are m and 2m.
	if m := float64(len(count) - 1); chi > m+5*math.Sqrt(2*m) {
		t.Errorf("chi-square %.1f with %v degrees of freedom", chi, m)
	}
}
