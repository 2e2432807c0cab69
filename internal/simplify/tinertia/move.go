package tinertia

import (
	"cmp"
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// reach is how many TEIs a TEI is moved past at most.
const reach = 64

// moveTEI moves one TEI past TEIs of other threads, to any place between its
// thread's neighbouring TEIs. Beyond the paper: neither of the two merges here belongs to
// the moved thread's own TEIs, it is the others that become neighbours. Candidates with
// the fewest switches come first, then short moves. Candidates with as many switches as
// before are worth it because a preemption may have become a forced switch.
// Positions are not used: a pass starts over after an acceptance.
func moveTEI(q *sequence, _ int) iter.Seq[candidate] {
	type move struct{ tei, gap, switches, distance int }
	return func(yield func(candidate) bool) {
		var moves []move
		n := len(q.teis)
		for k := range q.teis {
			first, last := q.prev[k]+1, n
			if q.next[k] >= 0 {
				last = q.next[k]
			}
			for gap := max(first, k-reach); gap <= min(last, k+1+reach); gap++ {
				if gap == k || gap == k+1 {
					continue
				}
				if s := n - 1 + switchesAfterMove(q.teis, k, gap); s <= q.cost.Switches {
					moves = append(moves, move{k, gap, s, max(k-gap, gap-k-1)})
				}
			}
		}
		slices.SortStableFunc(moves, func(a, b move) int {
			return cmp.Or(cmp.Compare(a.switches, b.switches), cmp.Compare(a.distance, b.distance))
		})
		for _, m := range moves {
			var c candidate
			if m.gap < m.tei {
				c.script = splice(q.part(0, m.gap), q.tei(m.tei), q.part(m.gap, m.tei), q.part(m.tei+1, n))
			} else {
				c.script = splice(q.part(0, m.tei), q.part(m.tei+1, m.gap), q.tei(m.tei), q.part(m.gap, n))
			}
			c.op, c.bound = MoveTEI, unbounded
			if !yield(c) {
				return
			}
		}
	}
}

// switchesAfterMove is how the number of switches changes when TEI k moves to the place
// before TEI gap (len(teis): to the end).
func switchesAfterMove(teis []trace.TEI, k, gap int) int {
	// boundary is 1 if there is a switch between TEIs i and j, both really there.
	boundary := func(i, j int) int {
		if i < 0 || j >= len(teis) || teis[i].Thread == teis[j].Thread {
			return 0
		}
		return 1
	}
	before := boundary(k-1, k) + boundary(k, k+1) + boundary(gap-1, gap)
	after := boundary(gap-1, k) + boundary(k, gap)
	if k == 0 || k == len(teis)-1 {
		return after - before
	}
	return after + boundary(k-1, k+1) - before
}
