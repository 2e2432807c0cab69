package pattern

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// CheckThenAct is a decision on what another thread changes before it is carried out.
const CheckThenAct = "check then act"

var checkThenAct = &Pattern{
	Name:  CheckThenAct,
	Shows: "another thread writes between two reads, which may be in different critical sections",
	find: func(x *Execution) *Match {
		if t := x.interleaving(); t != nil && x.Reads(t[0]) && x.Reads(t[2]) && x.seen(t[1], t[2]) {
			return &Match{Triple: t, More: x.act(t[2])}
		}
		return nil
	},
}

// seen reports whether no third thread writes what two accesses concern between them.
func (x *Execution) seen(write, read int) bool {
	one, two := x.event(write), x.event(read)
	return !slices.ContainsFunc(x.Trace.Events[write+1:read], func(ev trace.Event) bool {
		return ev.Thread != one.Thread && ev.Thread != two.Thread && isAccess(&ev) && ops.Changes(&ev) && Overlaps(&ev, two)
	})
}

// act returns the write that a thread goes on to after an access of the same object, as its next step on that, nil for none.
func (x *Execution) act(from int) []int {
	ev := x.event(from)
	e := x.straight(from+1, ev.Thread, func(other *trace.Event) bool {
		return isAccess(other) && other.Object == ev.Object && ops.Changes(other)
	})
	if e < 0 {
		return nil
	}
	return []int{e}
}
