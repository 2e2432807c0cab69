package strategy

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// round takes the plans of the next round.
func (p *Portfolio) takeRound() (plans []Request) {
	for {
		r, ok := p.Next(-1)
		if !ok {
			return plans
		}
		plans = append(plans, r)
	}
}

// showRound shows the portfolio the executions of a round, all successful; fresh decides which are
// new.
func (p *Portfolio) showRound(plans []Request, fresh func(r *Request) int) {
	for i := range plans {
		r := &plans[i]
		n := fresh(r)
		for k := range r.Plan.Repeat {
			p.Observe(&Observation{Request: r, Index: k, Last: k == r.Plan.Repeat-1, Outcome: &schedule.Outcome{Index: k}, New: k < n})
		}
	}
}

// TestRounds checks the composition of rounds, for any course of the search.
func TestRounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setting := Setting{Seed: rapid.Uint64().Draw(t, "seed")}
		p := NewPortfolio(setting)
		first := FirstRequest(&setting)
		if f := first.Plan; f.Policy != schedule.Fair || !f.Record || f.Accesses || f.Timeouts || !first.Observe {
			t.Fatalf("first plan %+v", first)
		}
		next := first.Plan.Seed + 1
		last := 0
		timeouts := map[bool]map[string]bool{false: {}, true: {}}
		for round := range 12 {
			if rapid.IntRange(0, 2).Draw(t, "grow") == 0 {
				p.fresh = append(p.fresh, trace.Site(len(p.points)+1))
			}
			recorded := 0
			executions := map[string]int{}
			plans := p.takeRound()
			memory := len(p.points) > 0
			if s := p.Stage(); s.Round != round+1 || s.Points != len(p.points) || s.Waiting != 0 {
				t.Fatalf("round %d: stage %+v with %d points", round, s, len(p.points))
			}
			for i, q := range plans {
				plan, arm := q.Plan, p.arms[q.Key]
				if plan.Seed != next {
					t.Fatalf("round %d, plan %d: seed %d, want %d: executions must not share seeds", round, i, plan.Seed, next)
				}
				next += uint64(plan.Repeat)
				if plan.Repeat < 1 || plan.Repeat > sameParameters {
					t.Fatalf("round %d: plan %+v", round, plan)
				}
				if has := len(plan.Points) > 0; has != arm.memory || has && !memory {
					t.Fatalf("round %d: %d points where there are %d", round, len(plan.Points), len(p.points))
				}
				if plan.Record {
					if recorded++; recorded != i+1 || plan.Repeat != 1 || plan.Accesses || !q.Observe {
						t.Fatalf("round %d: recorded plan %d: %+v", round, i, plan)
					}
					continue
				}
				name := arm.sampler.String()
				if arm.memory {
					name += " memory"
				}
				executions[name] += plan.Repeat
				timeouts[plan.Timeouts][arm.sampler.String()] = true
			}
			p.showRound(plans, func(r *Request) int { return rapid.IntRange(0, r.Plan.Repeat).Draw(t, "fresh") })
			arms := len(Samplers())
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
		for _, s := range Samplers() {
			if !timeouts[true][s.String()] || !timeouts[false][s.String()] {
				t.Fatalf("%s has early time-outs always or never", s)
			}
		}
	})
}

// TestRoundsWait: no plan of a round is made before all of the previous round was observed.
func TestRoundsWait(t *testing.T) {
	p := NewPortfolio(Setting{})
	plans := p.takeRound()
	for i := range plans {
		r := &plans[i]
		for k := range r.Plan.Repeat {
			if _, ok := p.Next(-1); ok {
				t.Fatalf("a plan before execution %d of plan %d of %d was observed", k, i, len(plans))
			}
			p.Observe(&Observation{Request: r, Index: k, Last: k == r.Plan.Repeat-1, Outcome: &schedule.Outcome{}})
		}
	}
	if next := p.takeRound(); len(next) == 0 || p.Stage().Round != 2 {
		t.Errorf("%d plans, stage %+v", len(next), p.Stage())
	}
}

// TestRoundsEnd: the last round has as many executions as are left, and with none left it is empty.
func TestRoundsEnd(t *testing.T) {
	for left := range 60 {
		p := NewPortfolio(Setting{Seed: 3})
		sum := 0
		for {
			r, ok := p.Next(left - sum)
			if !ok {
				break
			}
			if r.Plan.Repeat < 1 {
				t.Fatalf("%+v", r)
			}
			sum += r.Plan.Repeat
		}
		if want := min(left, recordings+len(Samplers())*firstBatch); sum != want || p.Stage().Round != 1 {
			t.Errorf("%d left: %d executions, want %d, stage %+v", left, sum, want, p.Stage())
		}
	}
}

// TestShares: arms that show few new behaviours get half, and no arm gets nothing.
func TestShares(t *testing.T) {
	p := NewPortfolio(Setting{})
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

// TestLengths: estimates depend on the set of points and on executions observed with it.
func TestLengths(t *testing.T) {
	p := NewPortfolio(Setting{})
	var o observe.Observer
	o.Begin(0)
	for _, e := range []trace.Event{
		{Op: trace.OpThreadCreate}, {Op: trace.OpRead, Site: 1, Flags: trace.FlagNoDecision}, {Op: trace.OpRead, Site: 1, Flags: trace.FlagNoDecision},
		{Op: trace.OpWrite, Site: 2, Flags: trace.FlagNoDecision}, {Op: trace.OpMalloc, Flags: trace.FlagNoDecision}, {Op: trace.OpMutexLock},
	} {
		o.Event(&e)
	}
	seen := o.Seen()
	p.recorded(&seen, 3)
	if p.seen[0] != (Seen{Points: 2, Threads: 3}) {
		t.Errorf("without memory points: %+v", p.seen[0])
	}
	p.grow([]trace.Site{1})
	if p.seen[1].Points != 4 {
		t.Errorf("with the first: %+v", p.seen[1])
	}
	p.grow([]trace.Site{2})
	if p.seen[1].Points != 5 || p.seen[0].Points != 2 {
		t.Errorf("with both: %+v", p.seen)
	}
	p.saw(true, 40, 9)
	if p.seen[1] != (Seen{Points: 40, Threads: 9}) {
		t.Errorf("after an execution: %+v", p.seen[1])
	}
}

// TestLongRecordings: programs with many accesses are recorded less often, but are still recorded.
func TestLongRecordings(t *testing.T) {
	for _, test := range []struct{ events, want int }{{0, 4}, {10, 4}, {400_000, 4}, {700_000, 2}, {3_000_000, 1}} {
		p := NewPortfolio(Setting{})
		p.recorded(&observe.Observation{Events: test.events, Sent: test.events}, 1)
		if got := p.recordings(); got != test.want {
			t.Errorf("%d events: %d recordings, want %d", test.events, got, test.want)
		}
		// Accesses that stay in the program cost little.
		p = NewPortfolio(Setting{})
		p.recorded(&observe.Observation{Events: inPlace * test.events}, 1)
		if got := p.recordings(); got != test.want {
			t.Errorf("%d accesses watched in place: %d recordings, want %d", inPlace*test.events, got, test.want)
		}
	}
}

// TestWatchedShare: if races are failures and watching is cheap, half of the executions are
// watched; otherwise a few per round.
func TestWatchedShare(t *testing.T) {
	for _, c := range []struct {
		setting  Setting
		events   int
		from, to float64
	}{
		{Setting{RacesFail: true}, 100, 0.3, 0.7},
		{Setting{RacesFail: true}, cheapCost, 0, 0.1},
		{Setting{}, 100, 0, 0.1},
	} {
		p := NewPortfolio(c.setting)
		p.grow([]trace.Site{1})
		watched, all, both := 0, 0, map[[2]bool]bool{}
		for range 8 {
			p.recorded(&observe.Observation{Events: c.events, Sent: c.events}, 1)
			for _, q := range p.nextRound() {
				all += q.Plan.Repeat
				if q.Observe {
					watched += q.Plan.Repeat
				}
				if q.Plan.Accesses || q.Plan.Record && (!q.Observe || q.Plan.Repeat != 1) {
					t.Fatal("recorded without being observed, or with accesses, or more than once")
				}
				if q.Plan.Repeat > 1 {
					both[[2]bool{q.Observe, q.Plan.Timeouts}] = true
				}
			}
		}
		if share := float64(watched) / float64(all); share < c.from || share > c.to {
			t.Errorf("%+v, %d events: %.2f of %d executions are watched", c.setting, c.events, share, all)
		}
		if c.from > 0 && len(both) != 4 {
			t.Errorf("watching and early time-outs go together: %v", both)
		}
	}
}
