package tinertia

import (
	"cmp"
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// reach is the maximum number of TEIs that a TEI is moved past.
const reach = 64

// moveTEI moves one TEI past TEIs of other threads, to any place between its thread's neighbouring
// TEIs. It is not in the paper: the move merges TEIs of other threads that become neighbours, not
// those of the moved thread. Candidates with the fewest switches come first, then short moves.
// Candidates with as many switches as before are worth trying because a preemption may have become
// a forced switch. Positions are not used: a pass starts over after an acceptance.
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
				if s := n - 1 + switchesAfterMove(q.teis, k, gap); q.kept == 0 && s <= q.cost.Switches || q.kept > 0 && s <= n-1 {
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

// switchesAfterMove returns the change in the number of switches when TEI k moves before TEI gap,
// or to the end if gap is len(teis).
func switchesAfterMove(teis []trace.TEI, k, gap int) int {
	// boundary returns 1 if both TEIs exist and belong to different threads.
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
