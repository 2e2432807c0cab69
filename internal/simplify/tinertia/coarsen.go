package tinertia

import (
	"iter"
	"math"
)

// coarsenStart is the position a coarsen pass starts at.
const coarsenStart = -math.MaxInt

// coarsen offers large changes to a long trace. Beyond the paper. First, the fair
// scheduler takes over after 0, 1, 2, 4, … TEIs; then windows are regrouped, see regroup,
// down to a size of coarsestWindow. A position is minus the size of the window.
func coarsen(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		offer := func(c candidate) bool {
			c.op = Coarsen
			return yield(c)
		}
		if at == coarsenStart {
			for k := 0; k < len(q.teis); k = max(1, 2*k) {
				if !offer(candidate{script: q.part(0, k), bound: unbounded, resume: -len(q.teis)}) {
					return
				}
			}
		}
		for c := range regroup(q, at) {
			if -c.resume < coarsestWindow || !offer(c) {
				return
			}
		}
	}
}

// coarsestWindow leaves the rest to Algorithm 1.
const coarsestWindow = 8
