package tinertia

import (
	"cmp"
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// mergeTEIs merges two TEIs of one thread, neighbours or not, up to the place of the
// first or down to the place of the second. Beyond the paper, which merges neighbouring
// TEIs only and moves nothing else with them. Within the window from one to the other the
// moved thread's TEIs go before (up) or after (down) all others. In a second form the
// threads that the moved part creates or joins go with it, transitively: otherwise
// moving a creation down only loses what the new thread did, and moving a join up finds
// it blocked. Narrow windows come first. Positions are not used.
func mergeTEIs(q *sequence, _ int) iter.Seq[candidate] {
	type window struct{ first, last int }
	return func(yield func(candidate) bool) {
		var windows []window
		for i := range q.teis {
			for j := q.next[i]; j >= 0; j = q.next[j] {
				windows = append(windows, window{i, j})
			}
		}
		slices.SortStableFunc(windows, func(a, b window) int {
			return cmp.Compare(a.last-a.first, b.last-b.first)
		})
		for _, w := range windows[:min(len(windows), passLimit(len(q.teis)))] {
			forms := []map[trace.ThreadID]bool{{q.teis[w.first].Thread: true}}
			if family := q.dependents(w.first, w.last); len(family) > 1 {
				forms = append(forms, family)
			}
			for _, moved := range forms {
				in, out := q.divide(w.first, w.last+1, moved)
				for _, middle := range [][]schedule.Step{splice(in, out), splice(out, in)} {
					script := splice(q.part(0, w.first), middle, q.part(w.last+1, len(q.teis)))
					if switches(script) > q.cost.Switches {
						continue
					}
					if !yield(candidate{op: MergeTEIs, script: script, bound: unbounded}) {
						return
					}
				}
			}
		}
	}
}

// divide splits the steps of TEIs i to j-1 into those of the given threads and the
// others, both in their order.
func (q *sequence) divide(i, j int, threads map[trace.ThreadID]bool) (in, out []schedule.Step) {
	for k := i; k < j; k++ {
		if threads[q.teis[k].Thread] {
			in = append(in, q.tei(k)...)
		} else {
			out = append(out, q.tei(k)...)
		}
	}
	return in, out
}

// dependents is the thread of TEI i with the threads that it creates or joins in TEIs i
// to j, and those that they do.
func (q *sequence) dependents(i, j int) map[trace.ThreadID]bool {
	set := map[trace.ThreadID]bool{q.teis[i].Thread: true}
	for grown := true; grown; {
		grown = false
		for _, e := range q.events[q.teis[i].Start:q.teis[j].End] {
			if c := e.Op.Class(); set[e.Thread] && (c == trace.ClassFork || c == trace.ClassJoin) {
				if t := trace.ThreadID(e.Value); !set[t] {
					set[t] = true
					grown = true
				}
			}
		}
	}
	return set
}
