package tinertia

import (
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// sequence is an execution reduced to its scheduling decisions and their TEIs.
type sequence struct {
	trace  *trace.Trace
	events []trace.Event   // the events that were scheduling decisions
	steps  []schedule.Step // steps[i] chooses events[i]
	teis   []trace.TEI     // TEIs of events
	prev   []int           // prev[k] is the previous TEI of the same thread as teis[k], or -1
	next   []int           // next[k] is the next one, or -1
	cost   trace.Cost      // of trace
}

func newSequence(t *trace.Trace) *sequence {
	q := &sequence{trace: t, events: choices(t.Events), cost: trace.CostOf(t.Events)}
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

// runAt returns the events of thread name from position i up to the next event of another thread.
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
