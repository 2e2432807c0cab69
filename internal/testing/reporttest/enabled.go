package reporttest

import (
	"syscall"

	"github.com/heddle-dev/heddle/trace"
)

// fillEnabled works out, for each event, which threads could have done their next
// operation instead.
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
	owner := map[trace.Object]trace.ThreadID{}
	depth := map[trace.Object]int{}  // of locks that are held
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
						_, held := owner[w.Object]
						return !held
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
		switch e.Op.Class() {
		case trace.ClassAcq:
			h, held := owner[e.Object]
			return !held || int(h) == t
		case trace.ClassJoin:
			return ended[e.Value]
		case trace.ClassWait:
			if e.Op == trace.OpSemTrywait {
				return true
			}
			if e.Op == trace.OpCondWake {
				if _, held := owner[trace.Object(e.Aux)]; held {
					return false
				}
			}
			at, ok := posted[e.Object]
			return ok && at > prev[t] && at < i
		}
		return true
	}
	for i := range tr.Events {
		e := &tr.Events[i]
		t := int(e.Thread)
		if e.Flags&trace.FlagNoChoice == 0 || e.Op == trace.OpSignal {
			for u := range n {
				if can(u, i) {
					e.Enabled.Add(trace.ThreadID(u))
				}
			}
		}
		next[t], prev[t] = next[t][1:], i
		switch e.Op.Class() {
		case trace.ClassAcq:
			if e.Result == 0 || e.Result == int32(syscall.EOWNERDEAD) {
				owner[e.Object] = e.Thread
				depth[e.Object]++
			}
		case trace.ClassRel:
			for _, o := range []trace.Object{e.Object, trace.Object(e.Aux)} {
				if depth[o]--; depth[o] <= 0 {
					delete(owner, o)
					delete(depth, o)
				}
			}
		case trace.ClassFork:
			created[e.Value] = true
		case trace.ClassPost:
			posted[e.Object] = i
		case trace.ClassEnd:
			ended[t] = true
		}
		if e.Op == trace.OpCondWake {
			owner[trace.Object(e.Aux)] = e.Thread
			depth[trace.Object(e.Aux)]++
		}
	}
}
