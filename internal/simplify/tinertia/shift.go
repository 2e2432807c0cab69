package tinertia

import (
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// shift moves the end of a preempted TEI: later, by the first actions of its thread's
// next TEI; or earlier, by giving its last actions to that next TEI, or up altogether
// where no such place exists. Beyond the paper, whose move-up-actions tries one length only and
// never less than what could run. The script keeps its switches; the execution may lose a
// preemption, because the thread now blocks there or the one that follows no longer does.
// Where that fails, the TEIs from the next but one on may only fit the old place: then
// the thread that follows is scheduled and the rest left to the fair scheduler.
// A position is a TEI's index.
func shift(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		n := len(q.teis)
		for k := max(at, 0); k < n; k++ {
			if !q.preempted(k) {
				continue
			}
			// offer is for a script that is the same as before up to TEI k, which now ends with kept.
			offer := func(script, kept []schedule.Step) bool {
				c := candidate{op: Shift, script: script, bound: unbounded, resume: k}
				c.next = func(*trace.Trace) []candidate {
					script := splice(q.part(0, k), kept, q.tei(k + 1)[:1])
					return []candidate{{op: Shift, script: script, bound: unbounded, resume: k}}
				}
				return yield(c)
			}
			j, tei := q.next[k], q.tei(k)
			if j >= 0 {
				for m := range lengths(len(q.tei(j)) - 1) {
					if !offer(moveUpPrefix(q, k, j, m), splice(tei, q.tei(j)[:m])) {
						return
					}
				}
			}
			for m := range lengths(len(tei) - 1) {
				keep, late := tei[:len(tei)-m], tei[len(tei)-m:]
				script := splice(q.part(0, k), keep, q.part(k+1, n))
				if j >= 0 {
					script = splice(q.part(0, k), keep, q.part(k+1, j), late, q.part(j, n))
				}
				if !offer(script, keep) {
					return
				}
			}
		}
	}
}

// lengths is 1 to n, thinned beyond 16: each about an eighth more than the one before.
func lengths(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for m := 1; m <= n; m += max(1, m/8) {
			if !yield(m) {
				return
			}
		}
	}
}
