package tinertia

import (
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// sequence is an execution reduced to its scheduling decisions and their TEIs.
type sequence struct {
	trace  *trace.Trace
	kept   int             // scheduling decisions before those of the sequence
	before int             // context switches of those
	last   trace.ThreadID  // thread of the last of them, -1 for none
	events []trace.Event   // the events that were scheduling decisions, after those kept
	steps  []schedule.Step // steps[i] chooses events[i]
	teis   []trace.TEI     // TEIs of events
	prev   []int           // prev[k] is the previous TEI of the same thread as teis[k], or -1
	next   []int           // next[k] is the next one, or -1
	cost   trace.Cost      // of trace
}

// newSequence returns the decisions of an execution after the first kept ones, of which it has more.
func newSequence(t *trace.Trace, kept int) *sequence {
	q := &sequence{trace: t, kept: kept, last: -1, cost: trace.CostOf(t.Events)}
	all := choices(t.Events)
	q.events = all[kept:]
	if kept > 0 {
		q.before, q.last = trace.CostOf(all[:kept]).Switches, all[kept-1].Thread
	}
	q.steps = schedule.Steps(q.events)
	q.teis = trace.TEIs(q.events)
	q.prev = make([]int, len(q.teis))
	q.next = make([]int, len(q.teis))
	last := map[trace.ThreadID]int{}
	for k, tei := range q.teis {
		q.prev[k], q.next[k] = -1, -1
		if p, ok := last[tei.Thread]; ok {
			q.prev[k] = p
			q.next[p] = k
		}
		last[tei.Thread] = k
	}
	return q
}

// choices returns the events that were scheduling decisions.
func choices(events []trace.Event) []trace.Event {
	noChoice := func(e trace.Event) bool { return e.Flags&trace.FlagNoDecision != 0 }
	if !slices.ContainsFunc(events, noChoice) {
		return events
	}
	return slices.DeleteFunc(slices.Clone(events), noChoice)
}

// part returns the steps of TEIs i to j-1.
func (q *sequence) part(i, j int) []schedule.Step {
	if i >= j {
		return nil
	}
	return q.steps[q.teis[i].Start:q.teis[j-1].End]
}

// tei returns the steps of one TEI.
func (q *sequence) tei(k int) []schedule.Step { return q.part(k, k+1) }

// preempted reports whether the thread of TEI k was still enabled at its end.
func (q *sequence) preempted(k int) bool {
	return k+1 < len(q.teis) && trace.Preemptive(q.events, q.teis[k+1].Start)
}

// covering returns the TEI that contains position i, clamped to the sequence.
func (q *sequence) covering(i int) int {
	i = max(0, min(i, len(q.steps)-1))
	k, _ := slices.BinarySearchFunc(q.teis, i, func(t trace.TEI, i int) int {
		switch {
		case t.End <= i:
			return -1
		case t.Start > i:
			return 1
		}
		return 0
	})
	return k
}

// bound returns the context switches of a script after the decisions kept.
func (q *sequence) bound(script []schedule.Step) int {
	n := q.before + switches(script)
	if q.last >= 0 && len(script) > 0 && script[0].Thread != q.last {
		n++
	}
	return n
}

// stepsAfter returns the scheduling decisions of an execution after the first kept ones.
func stepsAfter(t *trace.Trace, kept int) []schedule.Step {
	events := choices(t.Events)
	return schedule.Steps(events[min(kept, len(events)):])
}

// Kept returns the number of scheduling decisions of a trace before its last context switches, of which there
// are that many: those before the TEI in front of the first of them. It is 0 if the trace has no more.
func Kept(t *trace.Trace, switches int) int {
	teis := trace.TEIs(choices(t.Events))
	if len(teis)-1 <= switches {
		return 0
	}
	return teis[len(teis)-1-switches].Start
}

// switches returns the cost of a script as defined in the paper: its number of TEIs minus one.
func switches(script []schedule.Step) int {
	n := 0
	for i := 1; i < len(script); i++ {
		if script[i].Thread != script[i-1].Thread {
			n++
		}
	}
	return n
}

// matched returns how many of the steps in want were performed after got has run. If control flow
// changed, got may contain other steps in between and may lack some.
func matched(want []schedule.Step, got []trace.Event) int {
	done := 0
	for i := range got {
		for k := done; k < len(want); k++ {
			if want[k].Op == got[i].Op && want[k].Site == got[i].Site {
				done = k + 1
				break
			}
		}
	}
	return done
}

// runAt returns the events of thread name from scheduling decision i up to the next event of another thread.
// Up to that position, both executions must be the same.
func runAt(t *trace.Trace, i int, name uint64) []trace.Event {
	events := choices(t.Events)
	if i > len(events) {
		return nil
	}
	j := i
	for j < len(events) && nameOf(t.Threads, events[j].Thread) == name {
		j++
	}
	return events[i:j]
}

// nameOf returns a number that identifies a thread across executions. For traces without names
// (imported ones) it is derived from the index.
func nameOf(threads []trace.Thread, id trace.ThreadID) uint64 {
	if id >= 0 && int(id) < len(threads) && threads[id].Name != 0 {
		return threads[id].Name
	}
	return uint64(id) + 1
}

// idOf is the inverse of nameOf. It returns -1 if the execution has no such thread.
func idOf(threads []trace.Thread, name uint64) trace.ThreadID {
	for i := range threads {
		if nameOf(threads, trace.ThreadID(i)) == name {
			return trace.ThreadID(i)
		}
	}
	return -1
}
