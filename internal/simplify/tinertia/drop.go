package tinertia

import (
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// dropThread removes every choice of one thread. Beyond the paper, whose remove-last-tei
// can only get there TEI by TEI and stops at the first one that is needed by the next.
// A position is a thread's index.
func dropThread(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		first := make(map[trace.ThreadID]bool)
		for _, tei := range q.teis {
			first[tei.Thread] = true
		}
		if len(first) < 2 {
			return
		}
		for t := max(at, 0); t < len(q.trace.Threads); t++ {
			if !first[trace.ThreadID(t)] {
				continue
			}
			var script []schedule.Step
			for _, s := range q.steps {
				if s.Thread != trace.ThreadID(t) {
					script = append(script, s)
				}
			}
			if !yield(candidate{op: DropThread, script: script, bound: unbounded, resume: t + 1}) {
				return
			}
		}
	}
}

// dropTEI removes any TEI. Beyond the paper. What it did is not lost but happens when its
// thread is next scheduled: the tolerant execution runs the thread up to where the script
// goes on. A position is a TEI's index, going down, since later TEIs are more often
// needless.
func dropTEI(q *sequence, at int) iter.Seq[candidate] {
	return func(yield func(candidate) bool) {
		for k := min(at, len(q.teis)-1); k >= 0; k-- {
			script := splice(q.part(0, k), q.part(k+1, len(q.teis)))
			if !yield(candidate{op: DropTEI, script: script, bound: unbounded, resume: k - 1}) {
				return
			}
		}
	}
}
