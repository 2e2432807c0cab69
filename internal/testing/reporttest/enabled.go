package reporttest

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// fillEnabled works out, for each event, which threads could have done their next operation
// instead. Unlike ops.Enabled it accepts scripts that omit details they do not test:
// a signal on an object wakes all of its waiters.
func fillEnabled(tr *trace.Trace) {
	n := len(tr.Threads)
	next := make([][]int, n) // event indices of each thread, those to come
	for i := range tr.Events {
		t := tr.Events[i].Thread
		next[t] = append(next[t], i)
	}
	created, prev := make([]bool, n), make([]int, n)
	if n > 0 {
		created[0] = true
	}
	state := ops.State{}
	posted := map[trace.Object]int{} // last event that woke waiters
	for i := range prev {
		prev[i] = -1
	}
	ended := make([]bool, n)
	can := func(t, i int) bool {
		if !created[t] || ended[t] {
			return false
		}
		if len(next[t]) == 0 {
			for _, w := range tr.Ending.Waiters {
				if int(w.Thread) == t {
					if w.Op.Class() == trace.ClassAcq { // it may have been free before
						return len(state.Holders(w.Object, -1)) == 0
					}
					return w.Ready
				}
			}
			return tr.Ending.Kind != trace.Deadlock
		}
		k := next[t][0]
		if k == i {
			return true
		}
		e := &tr.Events[k]
		switch spec := ops.Of(e.Op); {
		case e.Op.Class() == trace.ClassAcq:
			_, mine := state.HoldOf(trace.ThreadID(t), e.Object)
			return mine || len(state.Holders(e.Object, -1)) == 0
		case spec.Does == ops.Join:
			return ended[e.Value]
		case e.Op.Class() == trace.ClassWait && spec.Blocks != ops.Never:
			if spec.Blocks == ops.UntilReacquired && len(state.Holders(trace.Object(e.Aux), -1)) > 0 {
				return false
			}
			at, ok := posted[e.Object]
			return ok && at > prev[t] && at < i
		}
		return true
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		t := int(e.Thread)
		if e.Flags&trace.FlagNoDecision == 0 || e.Op == trace.OpSignal {
			for u := range n {
				if can(u, i) {
					e.Enabled.Add(trace.ThreadID(u))
				}
			}
		}
		next[t], prev[t] = next[t][1:], i
		state.Apply(e)
		switch e.Op.Class() {
		case trace.ClassFork:
			created[e.Value] = true
		case trace.ClassPost:
			posted[e.Object] = i
		case trace.ClassEnd:
			ended[t] = true
		}
	}
}
