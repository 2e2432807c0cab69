package tinertia

import (
	"iter"
	"math"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// coarseAbove is the number of TEIs above which coarsen pays. Below it, Algorithm 1 alone needs
// about as few executions.
const coarseAbove = 64

// coarsestWindow is the smallest window of TEIs that coarsen changes. Algorithm 1 does the rest.
const coarsestWindow = 8

// coarsenStart is the position a coarsen pass starts at.
const coarsenStart = -math.MaxInt

// coarsenPlaces is more than the number of TEIs.
const coarsenPlaces = 1 << 31

// coarsen yields large changes to a long trace. It is not in the paper. First, it leaves everything
// after 0, 1, 2, 4, … TEIs to the fair policy. Then it merges a window of TEIs into one TEI per
// thread, with the threads in the order in which they first or last appear there. Windows halve in
// size, as in delta debugging (Zeller and Hildebrandt, TSE'02), and overlap by half. A position is
// the first TEI of the window minus its size times coarsenPlaces, so that a pass continues where a window was
// last accepted.
func coarsen(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		n := len(q.teis)
		if at == coarsenStart {
			for k := 0; k < n; k = max(1, 2*k) {
				if !yield(candidate{op: Coarsen, script: q.part(0, k), bound: unbounded, resume: -n * coarsenPlaces}) {
					return
				}
			}
		}
		if n < coarsestWindow {
			return
		}
		size, first := n, 0
		if at != coarsenStart {
			size = (coarsenPlaces - 1 - at) / coarsenPlaces
			size, first = min(size, n), size*coarsenPlaces+at
		}
		for ; size >= coarsestWindow; size, first = size/2, 0 {
			for start := first; ; start += size / 2 {
				start = min(start, n-size)
				for _, order := range [][]trace.ThreadID{q.firstSeen(start, start+size), q.lastSeen(start, start+size)} {
					if len(order) == size {
						break // already one TEI per thread
					}
					script := splice(q.part(0, start), q.grouped(start, start+size, order), q.part(start+size, n))
					if !yield(candidate{op: Coarsen, script: script, bound: unbounded, resume: start - size*coarsenPlaces}) {
						return
					}
				}
				if start == n-size {
					break
				}
			}
		}
	}
}

// grouped returns the steps of TEIs i to j-1, thread by thread.
func (q *sequence) grouped(i, j int, order []trace.ThreadID) []schedule.Step {
	of := map[trace.ThreadID][]schedule.Step{}
	for k := i; k < j; k++ {
		t := q.teis[k].Thread
		of[t] = append(of[t], q.tei(k)...)
	}
	var out []schedule.Step
	for _, t := range order {
		out = append(out, of[t]...)
	}
	return out
}

// firstSeen returns the threads of TEIs i to j-1 in the order of their first TEI.
func (q *sequence) firstSeen(i, j int) []trace.ThreadID {
	var out []trace.ThreadID
	for _, tei := range q.teis[i:j] {
		if !slices.Contains(out, tei.Thread) {
			out = append(out, tei.Thread)
		}
	}
	return out
}

// lastSeen returns the threads of TEIs i to j-1 in the order of their last TEI.
func (q *sequence) lastSeen(i, j int) []trace.ThreadID {
	var out []trace.ThreadID
	for k := j - 1; k >= i; k-- {
		if t := q.teis[k].Thread; !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	slices.Reverse(out)
	return out
}
