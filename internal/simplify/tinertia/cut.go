package tinertia

import (
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// cut keeps the first TEIs and leaves the rest to the fair scheduler, which goes on with
// the thread of the last kept TEI. Beyond the paper. A position is the number of TEIs
// kept. Where the cut fails and that thread was preempted, its execution tells how far
// the thread goes when left alone, which is what runOn needs: the same trick as §4.1's.
func cut(withRunOn bool) generator {
	return func(q *sequence, at int) iter.Seq[candidate] {
		return func(yield func(candidate) bool) {
			for k := max(at, 0); k < len(q.teis); k++ {
				c := candidate{op: Cut, script: q.part(0, k), bound: unbounded, resume: k}
				if withRunOn && k > 0 && q.preempted(k-1) {
					c.next = func(rejected *trace.Trace) []candidate { return runOn(q, k-1, rejected) }
				}
				if !yield(c) {
					return
				}
			}
		}
	}
}

// runOn extends TEI k by everything its thread did in rejected, the execution that was
// cut after TEI k, and leaves that out of the thread's later TEIs.
func runOn(q *sequence, k int, rejected *trace.Trace) []candidate {
	if rejected.Ending.Kind == trace.Hang {
		return nil // the thread may have spun for as long as it was allowed to
	}
	thread := q.teis[k].Thread
	end := q.teis[k].End
	run := runAt(rejected, end, nameOf(q.trace.Threads, thread))
	if len(run) == 0 {
		return nil
	}
	var later []schedule.Step
	for _, s := range q.steps[end:] {
		if s.Thread == thread {
			later = append(later, s)
		}
	}
	done := matched(later, run)

	script := splice(q.part(0, k+1))
	for _, s := range schedule.Steps(run) {
		s.Thread = thread
		if s.Wake >= 0 {
			s.Wake = idOf(q.trace.Threads, nameOf(rejected.Threads, s.Wake))
		}
		script = append(script, s)
	}
	for _, s := range q.steps[end:] {
		if s.Thread == thread && done > 0 {
			done--
			continue
		}
		script = append(script, s)
	}
	return []candidate{{op: RunOn, script: script, bound: unbounded, resume: k + 1}}
}
