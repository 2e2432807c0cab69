package tinertia

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// drawnSequence returns the events of some threads in a random order. The n-th event of thread t
// has site 100*t+n.
func drawnSequence(t *rapid.T) *sequence {
	order := rapid.SliceOfN(rapid.IntRange(0, 3), 1, 40).Draw(t, "order")
	tr := &trace.Trace{Threads: make([]trace.Thread, 4)}
	count := map[int]int{}
	for _, id := range order {
		e := trace.Event{Thread: trace.ThreadID(id), Op: trace.OpWrite, Site: trace.Site(100*id + count[id])}
		for other := range 4 {
			if rapid.Bool().Draw(t, "enabled") || other == id {
				e.Enabled.Add(trace.ThreadID(other))
			}
		}
		count[id]++
		tr.Events = append(tr.Events, e)
	}
	return newSequence(tr, 0)
}

func sites(steps []schedule.Step) (out []trace.Site) {
	for _, s := range steps {
		out = append(out, s.Site)
	}
	return out
}

// TestCandidates checks the requirements on candidates (FSE'10 §3.1): actions of the execution,
// none twice, each thread's in their order. It also checks that passes continue in their direction.
func TestCandidates(t *testing.T) {
	for _, c := range []struct {
		name  string
		gen   generator
		start int
		fewer bool // at least one switch, as §3.3 says of the operation
		down  bool // positions fall
		still bool // a pass starts over after an acceptance
	}{
		{"remove-last-tei", removeLast, math.MaxInt, true, true, false},
		{"move-up-tei", consolidateUp(true), 0, true, false, false},
		{"move-down-tei", consolidateDown, math.MaxInt, true, true, false},
		{"cut", cut(true), 0, false, false, false},
		{"move-tei", moveTEI, 0, false, false, true},
		{"shift", shift, 0, false, false, false},
		{"coarsen", coarsen, coarsenStart, false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			some := false
			rapid.Check(t, func(t *rapid.T) {
				q := drawnSequence(t)
				last := c.start
				for d := range c.gen(q, c.start) {
					some = true
					if d.op != Operation(c.name) {
						t.Errorf("operation %s", d.op)
					}
					byThread := map[trace.ThreadID]trace.Site{}
					for _, s := range d.script {
						if was, ok := byThread[s.Thread]; ok && s.Site <= was {
							t.Fatalf("program order: %v of %v", sites(d.script), sites(q.steps))
						}
						byThread[s.Thread] = s.Site
					}
					if slices.Equal(d.script, q.steps) {
						t.Errorf("nothing changed: %v", sites(d.script))
					}
					n := switches(d.script)
					if c.fewer && n >= q.cost.Switches || d.bound != unbounded && d.bound != n {
						t.Errorf("%d switches of %d, bound %d", n, q.cost.Switches, d.bound)
					}
					if !c.still && (c.down && d.resume >= last || !c.down && d.resume < last) {
						t.Errorf("position %d after %d", d.resume, last)
					}
					last = d.resume
				}
				// A pass that has reached its end yields nothing more.
				end := len(q.steps) + 1
				if c.down {
					end = -1
				}
				if !c.still {
					for d := range c.gen(q, end) {
						if c.name != "coarsen" {
							t.Errorf("position %d still gives %v", end, sites(d.script))
						}
						break
					}
				}
			})
			if !some {
				t.Error("no candidates")
			}
		})
	}
}

// TestMoves checks the arithmetic that saves moveTEI from building scripts.
func TestMoves(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		q := drawnSequence(t)
		for d := range moveTEI(q, 0) {
			if n := switches(d.script); n > q.cost.Switches || len(d.script) != len(q.steps) {
				t.Errorf("%d switches from %d: %v from %v", n, q.cost.Switches, sites(d.script), sites(q.steps))
			}
		}
		for k := range q.teis {
			for gap := range len(q.teis) + 1 {
				if gap == k || gap == k+1 {
					continue
				}
				var order []schedule.Step
				for i := range len(q.teis) + 1 {
					if i == gap {
						order = append(order, q.tei(k)...)
					}
					if i < len(q.teis) && i != k {
						order = append(order, q.tei(i)...)
					}
				}
				if got, want := q.cost.Switches+switchesAfterMove(q.teis, k, gap), switches(order); got != want {
					t.Errorf("TEI %d to %d of %v: %d switches, want %d", k, gap, sites(q.steps), got, want)
				}
			}
		}
	})
}

func letters(order string) *sequence {
	tr := &trace.Trace{}
	for i, r := range order {
		e := trace.Event{Thread: trace.ThreadID(r - 'a'), Op: trace.OpWrite, Site: trace.Site(i + 1)}
		e.Enabled.Low = math.MaxUint64
		tr.Events = append(tr.Events, e)
	}
	return newSequence(tr, 0)
}

// TestShiftBothWays lists what shift offers: with the rest kept, then without.
func TestShiftBothWays(t *testing.T) {
	var got []string
	for d := range shift(letters("aabaaab"), 0) {
		got = append(got, fmt.Sprint(d.resume, sites(d.script)))
		for _, e := range d.next(nil) {
			got = append(got, fmt.Sprint(e.resume, sites(e.script)))
		}
	}
	want := []string{
		"0 [1 2 4 3 5 6 7]", "0 [1 2 4 3]", // a continues for one
		"0 [1 2 4 5 3 6 7]", "0 [1 2 4 5 3]", // for two
		"0 [1 3 2 4 5 6 7]", "0 [1 3]", // a stops one earlier
		"2 [1 2 3 4 5 7]", "2 [1 2 3 4 5 7]", // a stops one earlier, and is not scheduled again
		"2 [1 2 3 4 7]", "2 [1 2 3 4 7]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%q want\n%q", got, want)
	}
	var n []int
	for m := range lengths(40) {
		n = append(n, m)
	}
	if !slices.Equal(n, []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 27, 30, 33, 37}) {
		t.Errorf("lengths %v", n)
	}
}

// TestAcceptable checks the acceptance test alone.
func TestAcceptable(t *testing.T) {
	s := &search{visited: map[uint64]bool{}}
	s.setCurrent(letters("aabaab").trace)
	cur := s.cur.cost
	other := letters("abbaab").trace // as simple, and another schedule
	for _, c := range []struct {
		what  string
		cand  candidate
		v     verdict
		maybe bool
	}{
		{"simpler", candidate{bound: unbounded}, verdict{same: true, cost: trace.Cost{Switches: 1}, trace: other}, true},
		{"another bug", candidate{bound: unbounded}, verdict{cost: trace.Cost{Switches: 1}, trace: other}, false},
		{"more switches than the script", candidate{bound: 0}, verdict{same: true, cost: trace.Cost{Switches: 1}, trace: other}, false},
		{"as many", candidate{bound: 1}, verdict{same: true, cost: trace.Cost{Switches: 1}, trace: other}, true},
		{"as simple", candidate{bound: unbounded}, verdict{same: true, cost: cur, trace: other}, false},
		{"as simple, which will do", candidate{bound: unbounded, equal: true}, verdict{same: true, cost: cur, trace: other}, true},
		{"the current one", candidate{bound: unbounded, equal: true}, verdict{same: true, cost: cur, trace: s.cur.trace}, false},
		{"forgotten", candidate{bound: unbounded}, verdict{same: true}, false},
	} {
		if got := s.acceptable(&c.cand, &c.v); got != c.maybe {
			t.Errorf("%s: %v", c.what, got)
		}
	}
	back := s.cur.trace
	s.setCurrent(other)
	if s.acceptable(&candidate{bound: unbounded, equal: true}, &verdict{same: true, cost: cur, trace: back}) {
		t.Error("goes back to where it was")
	}
}
