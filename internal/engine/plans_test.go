package engine

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestRounds: what a round is made of, for any course of the campaign.
func TestRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		opts := &Options{Seed: rapid.Uint64().Draw(t, "seed"), MaxSteps: 77}
		p := newPlanner(opts)
		p.expect = 3
		first := p.first()
		if first.Policy != schedule.Fair || !first.Record || !first.Accesses || first.Timeouts {
			t.Fatalf("first plan %+v", first)
		}
		next := first.Seed + 1
		last := 0
		timeouts := map[bool]map[string]bool{false: {}, true: {}}
		for round := range 12 {
			if rapid.IntRange(0, 2).Draw(t, "grow") == 0 {
				p.grown(append(p.points[:len(p.points):len(p.points)], trace.Site(len(p.points)+1)))
			}
			memory := len(p.points) > 0
			recorded := 0
			executions := map[string]int{}
			for i, q := range p.nextRound() {
				plan := q.plan
				if plan.Seed != next {
					t.Fatalf("round %d, plan %d: seed %d, want %d: executions must not share seeds", round, i, plan.Seed, next)
				}
				next += uint64(plan.Repeat)
				if plan.Repeat < 1 || plan.Repeat > sameParameters || !plan.Stop || plan.MaxSteps != 77 || plan.ExpectStatus != 3 {
					t.Fatalf("round %d: plan %+v", round, plan)
				}
				if has := len(plan.Points) > 0; has != q.arm.memory || has && !memory {
					t.Fatalf("round %d: %d points where there are %d", round, len(plan.Points), len(p.points))
				}
				if plan.Record {
					if recorded++; recorded != i+1 || plan.Repeat != 1 || !plan.Accesses {
						t.Fatalf("round %d: recorded plan %d: %+v", round, i, plan)
					}
					continue
				}
				name := q.arm.strategy.String()
				if q.arm.memory {
					name += " memory"
				}
				executions[name] += plan.Repeat
				timeouts[plan.Timeouts][q.arm.strategy.String()] = true
				q.arm.executions += plan.Repeat
				q.arm.fresh += rapid.IntRange(0, plan.Repeat).Draw(t, "fresh")
			}
			arms := len(strategy.Portfolio())
			if memory {
				arms *= 2
			}
			if recorded != recordings || len(executions) != arms {
				t.Fatalf("round %d: %d recorded, executions %v", round, recorded, executions)
			}
			full := min(lastBatch, firstBatch<<round)
			for name, n := range executions {
				if n != full && n != full/2 {
					t.Fatalf("round %d: %s has %d executions, want %d or half", round, name, n, full)
				}
			}
			if full < last {
				t.Fatalf("round %d is smaller than the one before", round)
			}
			last = full
		}
		for _, s := range strategy.Portfolio() {
			if !timeouts[true][s.String()] || !timeouts[false][s.String()] {
				t.Fatalf("%s has early time-outs always or never", s)
			}
		}
	})
}

// TestShares: arms that show little that is new get half, and none gets nothing.
func TestShares(t *testing.T) {
	p := newPlanner(&Options{})
	arms := []*arm{{executions: 100, fresh: 90}, {executions: 100, fresh: 40}, {executions: 100, fresh: 2}, {}}
	for i, want := range []int{16, 16, 8, 16} {
		if got := p.share(arms[i], arms, 16); got != want {
			t.Errorf("arm %d gets %d of 16, want %d", i, got, want)
		}
	}
	if got := p.share(arms[2], arms, 1); got != 1 {
		t.Errorf("of a batch of one it gets %d", got)
	}
	for _, a := range arms {
		a.fresh = 0
	}
	for i, a := range arms {
		if got := p.share(a, arms, 16); got != 16 {
			t.Errorf("where nothing is new all get the same, but arm %d gets %d", i, got)
		}
	}
}

// TestLengths: estimates follow the set of points, and executions seen with it.
func TestLengths(t *testing.T) {
	p := newPlanner(&Options{})
	var o observe.Observer
	o.Begin(0)
	for _, e := range []trace.Event{
		{Op: trace.OpThreadCreate}, {Op: trace.OpRead, Site: 1, Flags: trace.FlagNoChoice}, {Op: trace.OpRead, Site: 1, Flags: trace.FlagNoChoice},
		{Op: trace.OpWrite, Site: 2, Flags: trace.FlagNoChoice}, {Op: trace.OpMalloc, Flags: trace.FlagNoChoice}, {Op: trace.OpMutexLock},
	} {
		o.Event(&e)
	}
	p.recorded(o.Seen(), 3)
	if p.seen[0] != (strategy.Seen{Points: 2, Threads: 3}) {
		t.Errorf("without memory points: %+v", p.seen[0])
	}
	p.grown([]trace.Site{1})
	if p.seen[1].Points != 4 {
		t.Errorf("with the first: %+v", p.seen[1])
	}
	p.grown([]trace.Site{1, 2})
	if p.seen[1].Points != 5 || p.seen[0].Points != 2 {
		t.Errorf("with both: %+v", p.seen)
	}
	p.saw(true, 40, 9)
	if p.seen[1] != (strategy.Seen{Points: 40, Threads: 9}) {
		t.Errorf("after an execution: %+v", p.seen[1])
	}
}

// TestLongRecordings: programs with many accesses are recorded less often, never not at
// all.
func TestLongRecordings(t *testing.T) {
	for _, test := range []struct{ events, want int }{{0, 4}, {10, 4}, {400_000, 4}, {700_000, 2}, {3_000_000, 1}} {
		p := newPlanner(&Options{})
		p.recorded(observe.Observation{Events: test.events}, 1)
		if got := p.recordings(); got != test.want {
			t.Errorf("%d events: %d recordings, want %d", test.events, got, test.want)
		}
	}
}
