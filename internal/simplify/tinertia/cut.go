package tinertia

import (
	"iter"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// cut keeps the first TEIs and leaves the rest to the fair policy, which continues with the thread
// of the last kept TEI. It is not in the paper. A position is the number of TEIs kept. If the cut
// is rejected and that thread was preempted, its execution shows how far the thread runs without
// preemption, which runOn uses in the manner of §4.1.
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

// runOn extends TEI k by the steps that its thread performed, until it blocked, in rejected, the
// execution cut after TEI k. It removes those steps from the thread's later TEIs. If the thread ran
// again later in that execution (the fair policy had switched away because it slept or spun), a
// second candidate extends the TEI by all steps that the thread performed. It keeps the later TEIs
// unchanged, because the thread blocks if that is too much.
func runOn(q *sequence, k int, rejected *trace.Trace) []candidate {
	if rejected.Ending.Kind == trace.Hang {
		return nil // the thread may have spun until its budget ended
	}
	thread := q.teis[k].Thread
	name := nameOf(q.trace.Threads, thread)
	end := q.teis[k].End
	rest := q.steps[end:]

	var all []trace.Event
	if events := choices(rejected.Events); q.kept+end < len(events) {
		for _, e := range events[q.kept+end:] {
			if nameOf(rejected.Threads, e.Thread) == name {
				all = append(all, e)
			}
		}
	}
	run := all[:len(runAt(rejected, q.kept+end, name))]

	var out []candidate
	if len(run) > 0 {
		var later []schedule.Step
		for _, s := range rest {
			if s.Thread == thread {
				later = append(later, s)
			}
		}
		done := matched(later, run)
		undone := make([]schedule.Step, 0, len(rest))
		for _, s := range rest {
			if s.Thread == thread && done > 0 {
				done--
				continue
			}
			undone = append(undone, s)
		}
		script := splice(q.part(0, k+1), renamed(schedule.Steps(run), rejected.Threads, q.trace.Threads), undone)
		out = append(out, candidate{op: RunOn, script: script, bound: unbounded, resume: k + 1})
	}
	if len(all) > len(run) {
		script := splice(q.part(0, k+1), renamed(schedule.Steps(all), rejected.Threads, q.trace.Threads), rest)
		out = append(out, candidate{op: RunOn, script: script, bound: unbounded, resume: k + 1})
	}
	return out
}

// renamed converts steps of one execution into steps of another with different thread indices. The
// threads that perform the steps must exist in both.
func renamed(steps []schedule.Step, from, to []trace.Thread) []schedule.Step {
	for i := range steps {
		s := &steps[i]
		s.Thread = idOf(to, nameOf(from, s.Thread))
		if s.Wake >= 0 {
			s.Wake = idOf(to, nameOf(from, s.Wake))
		}
	}
	return steps
}
