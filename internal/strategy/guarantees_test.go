package strategy_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
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

// orders executes a program under plans of a strategy and counts in which order the threads performed
// their events, as order tells them. Executions for which it returns nothing do not count.
func orders(t *testing.T, s strategy.Strategy, program simprog.Program, executions int, order func(*trace.Trace) string) map[string]int {
	t.Helper()
	target := simprog.New(program)
	count := map[string]int{}
	r := strategy.FirstRequest(&strategy.Setting{Seed: 1})
	for range executions {
		r.Plan.Record, r.Plan.Timeouts = true, false
		o, err := target.Run(t.Context(), r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		s.Observe(&strategy.Observation{Request: &r, Last: true, Outcome: &o})
		if name := order(o.Trace); name != "" && r.Key != strategy.First {
			count[name]++
		}
		var ok bool
		if r, ok = s.Next(-1); !ok {
			t.Fatal("no plan")
		}
	}
	return count
}

// uniform returns chi-square for the hypothesis that all counts have the same expectation, and a bound that
// it exceeds with negligible probability: mean and variance of chi-square with m degrees of freedom are m
// and 2m.
func uniform(count map[string]int, ways int) (chi, bound float64) {
	all := 0
	for _, n := range count {
		all += n
	}
	want := float64(all) / float64(ways)
	for _, n := range count {
		chi += (float64(n) - want) * (float64(n) - want) / want
	}
	m := float64(ways - 1)
	return chi + float64(ways-len(count))*want, m + 5*math.Sqrt(2*m)
}

// projection returns the threads of the events that keep accepts, in order.
func projection(t *trace.Trace, keep func(*trace.Event) bool) string {
	var s strings.Builder
	for i := range t.Events {
		if e := &t.Events[i]; e.Flags&trace.FlagNoDecision == 0 && keep(e) {
			fmt.Fprint(&s, e.Thread)
		}
	}
	return s.String()
}

// uneven is a thread with two stores that creates one with four after its first.
func uneven(t *simprog.Thread) {
	word := t.Var(0)
	var inner *simprog.Thread
	one := t.Go(func(t *simprog.Thread) {
		t.Store(word, 1)
		inner = t.Go(func(t *simprog.Thread) {
			for range 4 {
				t.Store(word, 2)
			}
		})
		t.Store(word, 1)
	})
	t.Join(one)
	t.Join(inner)
}

// TestURWUniform: URW makes all interleavings of two threads equally likely, though one creates the
// other and has fewer events; a plain random walk does not.
func TestURWUniform(t *testing.T) {
	t.Parallel()
	// After the creation the first thread has 2 events left (a store, its end), and the second 6 (its start,
	// four stores, its end).
	const ways = 28 // C(8, 2)
	program := simprog.Program{Name: "uneven", Main: uneven}
	interleaving := func(t *trace.Trace) string { return projection(t, func(e *trace.Event) bool { return e.Thread > 0 }) }
	const executions = 40_000
	count := orders(t, strategy.NewURW(strategy.Setting{Seed: 1}), program, executions, interleaving)
	chi, bound := uniform(count, ways)
	t.Logf("URW: %d interleavings of %d, chi-square %.1f, bound %.1f", len(count), ways, chi, bound)
	if len(count) != ways || chi > bound {
		t.Errorf("URW: %d interleavings of %d, chi-square %.1f, want at most %.1f", len(count), ways, chi, bound)
	}
	plain := orders(t, strategy.NewPortfolio(strategy.Setting{Seed: 1}, strategy.Random{}), program, 4000, interleaving)
	if chi, bound := uniform(plain, ways); chi < 2*bound {
		t.Errorf("a plain random walk has chi-square %.1f: the test does not tell it from a uniform one", chi)
	}
}

// selected is two threads that store to one variable two and three times, and to others of their own between.
func selected(t *simprog.Thread) {
	word := t.Var(0)
	body := func(shared, own int) func(*simprog.Thread) {
		return func(t *simprog.Thread) {
			mine := t.Var(0)
			for range shared {
				for range own {
					t.Store(mine, 1)
				}
				t.Store(word, 1)
			}
		}
	}
	one, two := t.Go(body(2, 9)), t.Go(body(3, 1))
	t.Join(one)
	t.Join(two)
}

// TestSURWUniform: SURW makes all orders of the stores to the one variable that threads share equally likely,
// however many events come between; URW does not.
func TestSURWUniform(t *testing.T) {
	t.Parallel()
	const ways, executions = 10, 10_000 // C(5, 2)
	program := simprog.Program{Name: "selected", Main: selected}
	first, err := simprog.New(program).Run(t.Context(), schedule.Plan{Record: true})
	if err != nil {
		t.Fatal(err)
	}
	owners := map[trace.Object][]trace.ThreadID{}
	for _, e := range first.Trace.Events {
		if e.Op == trace.OpAtomicStore && !slices.Contains(owners[e.Object], e.Thread) {
			owners[e.Object] = append(owners[e.Object], e.Thread)
		}
	}
	shared := func(e *trace.Event) bool { return e.Op == trace.OpAtomicStore && len(owners[e.Object]) == 2 }
	order := func(t *trace.Trace) string { return projection(t, shared) }
	count := orders(t, strategy.NewSURW(strategy.Setting{Seed: 1}), program, executions, order)
	chi, bound := uniform(count, ways)
	t.Logf("SURW: %d orders of %d, chi-square %.1f, bound %.1f", len(count), ways, chi, bound)
	if len(count) != ways || chi > bound {
		t.Errorf("SURW: %d orders of %d, chi-square %.1f, want at most %.1f", len(count), ways, chi, bound)
	}
	plain := orders(t, strategy.NewURW(strategy.Setting{Seed: 1}), program, executions, order)
	if chi, bound := uniform(plain, ways); chi < 2*bound {
		t.Errorf("URW has chi-square %.1f: the test does not tell it from SURW", chi)
	}
}

// TestDelayBound: sampling with d delays finds a bug that some schedule with d delays shows with a
// probability of at least 1/k^d, whatever the number of threads; brute force says which d suffices.
func TestDelayBound(t *testing.T) {
	t.Parallel()
	const expected, least = 25, 5
	for depth := 2; depth <= 4; depth++ {
		program := chain(depth)
		delays := -1
		for d := 0; delays < 0; d++ {
			for e := range enumerateBy(t, program, nil, d, 100_000, true).endings {
				if strings.HasPrefix(e, trace.Assertion.String()) {
					delays = d
				}
			}
		}
		target := simprog.New(program)
		first, err := target.Run(t.Context(), schedule.Plan{})
		if err != nil {
			t.Fatal(err)
		}
		executions := int(expected * math.Pow(float64(first.Points), float64(delays)))
		failures := 0
		for seed := range executions {
			o, err := target.Run(t.Context(), schedule.Plan{Policy: schedule.Delay, Depth: delays, Length: first.Points, Seed: uint64(seed)})
			if err != nil {
				t.Fatal(err)
			}
			if o.Ending.Kind == trace.Assertion {
				failures++
			}
		}
		t.Logf("depth %d: %d delays, %d points, %d of %d executions fail, %.1f times the bound", depth, delays, first.Points, failures, executions, float64(failures)/expected)
		if failures < least {
			t.Errorf("%d delays: %d failures in %d executions, want about %d or more", delays, failures, executions, expected)
		}
	}
}
