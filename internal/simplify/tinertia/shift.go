package tinertia

import "iter"

// shift moves the end of a preempted TEI: later, by the first actions of its thread's
// next TEI; or earlier, by giving its last actions to that next TEI, or up altogether
// where there is none. Beyond the paper, whose move-up-actions tries one length only and
// never less than what could run. The script keeps its switches; the execution may lose a
// preemption, because the thread now blocks there or the one that follows no longer does.
// A position is a TEI's index.
func shift(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		n := len(q.teis)
		for k := max(at, 0); k < n; k++ {
			if !q.preempted(k) {
				continue
			}
			j := q.next[k]
			if j >= 0 {
				for m := range lengths(len(q.tei(j)) - 1) {
					if !yield(candidate{op: Shift, script: moveUpPrefix(q, k, j, m), bound: unbounded, resume: k}) {
						return
					}
				}
			}
			tei := q.tei(k)
			for m := range lengths(len(tei) - 1) {
				keep, late := tei[:len(tei)-m], tei[len(tei)-m:]
				script := splice(q.part(0, k), keep, q.part(k+1, n))
				if j >= 0 {
					script = splice(q.part(0, k), keep, q.part(k+1, j), late, q.part(j, n))
				}
				if !yield(candidate{op: Shift, script: script, bound: unbounded, resume: k}) {
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
