package tinertia

import (
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// shift moves the end of a preempted TEI: later, by the first actions of its thread's next TEI; or
// earlier, by moving its last actions to that next TEI, or dropping them if the thread has none. It
// is not in the paper, whose move-up-actions tries a single length, the longest that could run. The
// script keeps its switches; the execution may lose a preemption, because the thread now blocks
// there or the following thread no longer does. If that is rejected, the later TEIs may fit only
// the old place: a second candidate schedules the following thread and leaves the rest to the fair
// policy. A position is the index of a TEI.
func shift(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		n := len(q.teis)
		for k := max(at, 0); k < n; k++ {
			if !q.preempted(k) {
				continue
			}
			// offer yields a script that is unchanged before TEI k, where TEI k is now kept.
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

// lengths yields 1 to n; from 16 on, each value is about an eighth more than the one before.
func lengths(n int) iter.Seq[int] {
	return func(yield func(int) bool) {
		for m := 1; m <= n; m += max(1, m/8) {
			if !yield(m) {
				return
			}
		}
	}
}
