package smallprog

import (
	"context"
	"flag"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
)

var (
	from     = flag.Uint64("from", 0, "seed of the first program")
	most     = flag.Int("most", 150, "executions of a search")
	only     = flag.String("only", "", "the strategy to run; all if empty")
	programs = flag.Int("programs", 0, "number of programs; 0 for the few of the ordinary suite")
)

// search has an exhaustive strategy run a program to its end, or for most executions. done is false then.
func search(t *testing.T, s strategy.Exhaustive, tg target.Target, most int) (saw map[string]bool, executions int, done bool) {
	t.Helper()
	saw = map[string]bool{}
	run := func(r strategy.Request) {
		r.Plan.Watch, r.Plan.Delays, r.Plan.Output, r.Plan.MaxSteps = r.Observe, schedule.NoDelays, true, 20_000
		o, err := tg.Run(context.Background(), r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		executions++
		saw[Outcome(&o)] = true
		x := strategy.Observation{Request: &r, Last: true, Outcome: &o}
		if o.Watched != nil {
			seen := observe.InPlace(&o, r.Plan.Points)
			x.Seen = &seen
		}
		s.Observe(&x)
	}
	run(strategy.FirstRequest(&strategy.Setting{Seed: 1}))
	for executions < most {
		r, ok := s.Next(-1)
		if !ok {
			return saw, executions, true
		}
		run(r)
	}
	return saw, executions, false
}

// exhaustive are the strategies that can call a search complete.
func exhaustive() map[string]strategy.Exhaustive {
	return map[string]strategy.Exhaustive{
		"dpor": strategy.NewDPOR(strategy.Setting{Seed: 1}), "chess": strategy.NewCHESS(strategy.Setting{Seed: 1}, -1),
		"dpor with 9 preemptions": strategy.NewBoundedDPOR(strategy.Setting{Seed: 1}, 9),
	}
}

// compare fails if a search that calls itself complete has missed an outcome, or has seen one that does
// not exist.
func compare(t *testing.T, p *Program, tg func() target.Target, most int, counts map[string]int) {
	t.Helper()
	want, ok := p.Enumerate(200_000)
	if !ok {
		return
	}
	counts["programs"]++
	counts["outcomes"] += len(want)
	for name, s := range exhaustive() {
		if *only != "" && name != *only {
			continue
		}
		saw, executions, done := search(t, s, tg(), most)
		c, _ := s.Coverage()
		counts[name+" executions"] += executions
		counts[name+" redundant"] += c.Redundant
		for o := range saw {
			if _, ok := slices.BinarySearch(want, o); !ok && o != "diverged " {
				t.Errorf("%s: %s saw %q, which brute force does not: %q", p, name, o, want)
			}
		}
		if !done {
			counts[name+" cut"]++
			continue
		}
		if !c.Complete {
			counts[name+" incomplete"]++
			t.Logf("%s: %s is not complete: %q", p, name, c.Missing)
			for _, m := range c.Missing {
				counts[name+": "+m]++
			}
			continue
		}
		counts[name+" complete"]++
		for _, o := range want {
			if !saw[o] {
				t.Errorf("%s: %s is complete after %d executions and missed %q", p, name, executions, o)
			}
		}
	}
}

// TestSimulated compares exhaustive searches with brute force on the simulated machine.
func TestSimulated(t *testing.T) {
	t.Parallel()
	n := *programs
	if n == 0 {
		n = 150
	}
	counts := map[string]int{}
	for seed := *from; seed < *from+uint64(n); seed++ {
		p := Random(seed, false)
		compare(t, &p, func() target.Target { return simprog.NewWatching(p.Simulated()) }, *most, counts)
	}
	t.Log(counts)
}
