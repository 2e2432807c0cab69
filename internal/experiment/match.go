package experiment

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Matching finds the events of one execution in another. Events correspond if their threads have one name, the operation and
// the instruction are the same, and the threads have executed it as often before. A timer that fires has the instruction that started it.
type Matching struct {
	from *numbering
	at   map[operation][]int32 // in the other execution
}

type operation struct {
	thread uint64 // its name
	site   trace.Site
	op     trace.Op
}

// numbering has, for each event of an execution, how often its thread has executed the same before.
type numbering struct {
	trace  *trace.Trace
	nth    []int32     // nil until needed
	starts map[int]int // of its timers, by the event when they fire; nil until needed

	steps  []schedule.Step // of its scheduling decisions, nil until needed
	before []int           // by event: how many steps come before it; one more than there are events

	origins map[call]report.Origin // of its events, as far as they are known
}

// call is an instruction and its callers, on which the origin of an event depends.
type call struct {
	site  trace.Site
	stack uint32
}

// script returns the steps of the execution, and by event how many of them come before it.
func (n *numbering) script() ([]schedule.Step, []int) {
	if n.steps == nil {
		events := n.trace.Events
		n.steps, n.before = Steps(events), make([]int, len(events)+1)
		for i := range events {
			n.before[i+1] = n.before[i]
			if events[i].Flags&trace.FlagNoDecision == 0 {
				n.before[i+1]++
			}
		}
	}
	return n.steps, n.before
}

// Match returns how the events of from correspond to those of to.
func Match(from, to *trace.Trace) *Matching { return (&numbering{trace: from}).match(to) }

func (n *numbering) match(to *trace.Trace) *Matching {
	if n.nth == nil {
		n.nth, n.starts = make([]int32, len(n.trace.Events)), ops.Timers(n.trace)
		next := map[operation]int32{}
		for i := range n.nth {
			k := operationOf(n.trace, i, n.starts)
			n.nth[i] = next[k]
			next[k]++
		}
	}
	m := &Matching{n, map[operation][]int32{}}
	starts := ops.Timers(to)
	for i := range to.Events {
		k := operationOf(to, i, starts)
		m.at[k] = append(m.at[k], int32(i))
	}
	return m
}

// Of returns the event of the other execution, or -1 if that lacks it.
func (m *Matching) Of(event int) int {
	if at, nth := m.at[operationOf(m.from.trace, event, m.from.starts)], int(m.from.nth[event]); nth < len(at) {
		return int(at[nth])
	}
	return -1
}

func operationOf(t *trace.Trace, event int, starts map[int]int) operation {
	e := &t.Events[event]
	site := e.Site
	if start, ok := starts[event]; ok {
		site = t.Events[start].Site
	}
	return operation{t.Threads[e.Thread].Name, site, e.Op}
}
