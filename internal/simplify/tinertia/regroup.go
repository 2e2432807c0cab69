package tinertia

import (
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// regroup makes one TEI per thread out of a window of TEIs, the threads in the order in
// which they first or last appear there. Beyond the paper. Windows halve in size, as in
// delta debugging (Zeller and Hildebrandt, TSE'02), and overlap by half. A position is
// minus the size of the window, so that a pass goes on with windows of the size that was
// last accepted.
func regroup(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		n := len(q.teis)
		// The smallest window worth it is a, b, a.
		for size := min(-at, n); size >= 3; size = shrink(size) {
			for start := 0; ; start += max(1, size/2) {
				start = min(start, n-size)
				for _, order := range [][]trace.ThreadID{q.firstSeen(start, start+size), q.lastSeen(start, start+size)} {
					if len(order) == size {
						break // already one TEI per thread
					}
					var middle []schedule.Step
					for _, t := range order {
						in, _ := q.divide(start, start+size, map[trace.ThreadID]bool{t: true})
						middle = append(middle, in...)
					}
					script := splice(q.part(0, start), middle, q.part(start+size, n))
					if !yield(candidate{op: Regroup, script: script, bound: unbounded, resume: -size}) {
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

// shrink halves large windows and takes small ones one by one: near the end every size
// counts and there are few windows.
func shrink(size int) int {
	if size > 16 {
		return size / 2
	}
	return size - 1
}

// firstSeen is the threads of TEIs i to j-1 in the order of their first one.
func (q *sequence) firstSeen(i, j int) []trace.ThreadID {
	var out []trace.ThreadID
	seen := map[trace.ThreadID]bool{}
	for k := i; k < j; k++ {
		if t := q.teis[k].Thread; !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	return out
}

// lastSeen is likewise in the order of their last one.
func (q *sequence) lastSeen(i, j int) []trace.ThreadID {
	var out []trace.ThreadID
	seen := map[trace.ThreadID]bool{}
	for k := j - 1; k >= i; k-- {
		if t := q.teis[k].Thread; !seen[t] {
			seen[t] = true
			out = append(out, t)
		}
	}
	slices.Reverse(out)
	return out
}
