package strategy

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// takeTurn takes the plans of the next turn.
func (p *Portfolio) takeTurn() (plans []Request) {
	for {
		r, ok := p.Next(-1)
		if !ok {
			return plans
		}
		plans = append(plans, r)
	}
}

// showTurn shows the portfolio the executions of a turn, all successful; fresh decides how many of a
// plan's are new.
func (p *Portfolio) showTurn(plans []Request, fresh func(r *Request) int) {
	for i := range plans {
		r := &plans[i]
		n := fresh(r)
		for k := range r.Plan.Repeat {
			p.Observe(&Observation{Request: r, Index: k, Last: k == r.Plan.Repeat-1, Outcome: &schedule.Outcome{Index: k}, New: k < n})
		}
	}
}

// armOf returns the arm that made a plan.
func (p *Portfolio) armOf(r *Request) *arm { return p.arms[r.Key%len(p.arms)] }

// TestTurns checks the composition of turns, for any course of the search.
func TestTurns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		setting := Setting{Seed: rapid.Uint64().Draw(t, "seed")}
		p := NewPortfolio(setting)
		first := FirstRequest(&setting)
		if f := first.Plan; f.Policy != schedule.Fair || !f.Record || f.Accesses || f.Timeouts || !first.Observe {
			t.Fatalf("first plan %+v", first)
		}
		seeds := map[uint64]bool{first.Plan.Seed: true}
		timeouts, recorded := map[bool]map[string]bool{false: {}, true: {}}, 0
		for after := -1; after < 12; {
			if rapid.IntRange(0, 2).Draw(t, "grow") == 0 {
				p.fresh = append(p.fresh, trace.Site(len(p.points)+1))
			}
			opening, made := p.inOpening(), int(p.next)
			all := 0
			executions := map[string]int{}
			plans := p.takeTurn()
			memory := len(p.points) > 0
			if !opening {
				after++
			}
			if s := p.Stage(); s.Round != max(1, after+2) || s.Points != len(p.points) || s.Waiting != 0 {
				t.Fatalf("turn %d: stage %+v with %d points", after, s, len(p.points))
			}
			for i, q := range plans {
				plan, arm := q.Plan, p.armOf(&q)
				for k := range plan.Repeat {
					if seed := plan.Seed + uint64(k); seeds[seed] {
						t.Fatalf("turn %d, plan %d: two executions with seed %d", after, i, seed)
					} else {
						seeds[seed] = true
					}
				}
				if plan.Accesses { // race-directed predicts from one plan, and CTrigger learns from armProfile
					recorded++
				}
				if plan.Repeat < 1 || plan.Repeat > sameParameters || recorded > 1+armProfile || plan.Accesses && (arm.sampler != nil || plan.MaxAccesses != predictedFrom) {
					t.Fatalf("turn %d: plan %+v", after, plan)
				}
				if len(plan.Points) > 0 && !memory {
					t.Fatalf("turn %d: %d points where there are %d", after, len(plan.Points), len(p.points))
				}
				all += plan.Repeat
				executions[arm.String()] += plan.Repeat
				timeouts[plan.Timeouts][arm.String()] = true
			}
			p.showTurn(plans, func(r *Request) int { return rapid.IntRange(0, r.Plan.Repeat).Draw(t, "fresh") })
			if opening {
				n := 1 + made/openingGrowth
				feedback, most := 2, 4
				if p.turn%2 == 1 {
					feedback, most = 1, 5
				}
				if executions["feedback"] != feedback*n || executions["race-directed"] != n || executions["ctrigger"] > (3-feedback)*n || all > most*n {
					t.Fatalf("a turn of the opening after %d executions: %v", made, executions)
				}
				continue
			}
			// CTrigger ends, since no execution here has accesses.
			arms := len(p.arms) - 1
			full := arms * min(lastBatch, firstBatch<<(after+1))
			if len(executions) != arms || all < full-arms || all > full+recordings+arms {
				t.Fatalf("turn %d: %d executions of %d, %v", after, all, full, executions)
			}
			for name, n := range executions {
				if least := int(spread * float64(full) / float64(arms)); n < least {
					t.Fatalf("turn %d: %s has %d executions, want at least %d", after, name, n, least)
				}
			}
		}
		for _, a := range p.arms {
			if a.guide != nil && a.guide.ended() {
				continue
			}
			if name := a.String(); !timeouts[true][name] || !timeouts[false][name] {
				t.Fatalf("%s has early time-outs always or never", name)
			}
		}
	})
}

// TestTurnsWait: no plan of a turn is made before all of the previous turn was observed.
func TestTurnsWait(t *testing.T) {
	p := NewPortfolio(Setting{})
	for p.inOpening() {
		p.showTurn(p.takeTurn(), func(*Request) int { return 0 })
	}
	plans := p.takeTurn()
	for i := range plans {
		r := &plans[i]
		for k := range r.Plan.Repeat {
			if _, ok := p.Next(-1); ok {
				t.Fatalf("a plan before execution %d of plan %d of %d was observed", k, i, len(plans))
			}
			p.Observe(&Observation{Request: r, Index: k, Last: k == r.Plan.Repeat-1, Outcome: &schedule.Outcome{}})
		}
	}
	if next := p.takeTurn(); len(next) == 0 || p.Stage().Round != 3 {
		t.Errorf("%d plans, stage %+v", len(next), p.Stage())
	}
}

// TestTurnsEnd: the last turn has as many executions as are left, and with none left it is empty.
func TestTurnsEnd(t *testing.T) {
	for _, samplers := range [][]Sampler{nil, {Random{}, PCT{}}} {
		for left := range 60 {
			p := NewPortfolio(Setting{Seed: 3}, samplers...)
			sum := 0
			for sum < left {
				plans := 0
				for {
					r, ok := p.Next(left - sum)
					if !ok {
						break
					}
					if r.Plan.Repeat < 1 {
						t.Fatalf("%+v", r)
					}
					plans++
					sum += r.Plan.Repeat
					p.showTurn([]Request{r}, func(*Request) int { return 0 })
				}
				if plans == 0 {
					t.Fatalf("%d of %d executions, and then none", sum, left)
				}
			}
			if _, ok := p.Next(0); ok || sum != left {
				t.Errorf("%d left: %d executions", left, sum)
			}
		}
	}
}

// TestShares: arms get executions in proportion to what they have yielded for their cost, an arm without a
// past as many as the average, and none gets nothing; a single reward makes little difference.
func TestShares(t *testing.T) {
	plain := func(reward, cost float64) *tally { return &tally{Reward: reward, Cost: cost} }
	for _, test := range []struct {
		tallies []*tally
		n       int
		want    []int
	}{
		{[]*tally{plain(9e9, 1e6), plain(4.5e9, 1e6), plain(0, 1e6)}, 1200, []int{99 + 600, 100 + 300, 100}},
		{[]*tally{plain(9e9, 1e6), plain(9e9, 2e6), plain(0, 1e6)}, 1200, []int{99 + 600, 100 + 300, 100}},
		{[]*tally{plain(0, 100), plain(0, 7), {}}, 1200, []int{400, 400, 400}},
		{[]*tally{plain(1, 1000), plain(0, 1000), plain(0, 1000)}, 1200, []int{550, 325, 325}},
		{[]*tally{plain(5000, 1000), plain(5000, 1000), {}}, 1200, []int{400, 400, 400}},
		{[]*tally{plain(90, 100), plain(0, 100)}, 2, []int{1, 1}},
	} {
		if got := shares(test.tallies, test.n); !slices.Equal(got, test.want) {
			t.Errorf("%d executions among %v: %v, want %v", test.n, test.tallies, got, test.want)
		}
	}
}

// TestEffortMoves: the arm that goes on yielding gets most executions, and one that begins to yield when the
// others have stopped gets them soon.
func TestEffortMoves(t *testing.T) {
	p := NewPortfolio(Setting{}, Random{}, PCT{}, Stay{}, POS{})
	part := func(name string, yields ...string) float64 {
		mine, all := 0, 0
		plans := p.takeTurn()
		for _, q := range plans {
			all += q.Plan.Repeat
			if p.armOf(&q).String() == name {
				mine += q.Plan.Repeat
			}
		}
		p.showTurn(plans, func(r *Request) int {
			if slices.Contains(yields, p.armOf(r).String()) {
				return r.Plan.Repeat
			}
			return 0
		})
		return float64(mine) / float64(all)
	}
	for range 8 {
		part("stay", "stay")
	}
	if got := part("stay", "pct"); got < 0.7 {
		t.Errorf("the only arm that yields gets %.2f", got)
	}
	part("pct", "pct")
	if got := part("pct", "pct"); got < 0.5 {
		t.Errorf("two turns after it is the only arm that yields, it gets %.2f", got)
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

// TestLongOpening: the opening watches programs with many accesses less often.
func TestLongOpening(t *testing.T) {
	watched := func(events int) (n int) {
		p := NewPortfolio(Setting{})
		for p.inOpening() {
			p.recorded(&observe.Observation{Events: events, Sent: events}, 1)
			plans := p.takeTurn()
			for _, q := range plans {
				if q.Observe {
					n += q.Plan.Repeat
				}
			}
			p.showTurn(plans, func(*Request) int { return 0 })
		}
		return n
	}
	if short, long := watched(10), watched(2*cheapCost); long == 0 || 5*long > short {
		t.Errorf("of a long program's executions %d are watched, of a short one's %d", long, short)
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
		p := NewPortfolio(c.setting, Samplers()...)
		p.grow([]trace.Site{1})
		watched, all, both := 0, 0, map[[2]bool]bool{}
		for range 8 {
			p.recorded(&observe.Observation{Events: c.events, Sent: c.events}, 1)
			for _, q := range p.nextTurn() {
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
