package waiting

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// order is what a thread does after each of its looks at memory: in `while (a != 1 || b != 1) pause();` it looks at b last, and once it
// has found a to be 1, it waits for b alone.
type order struct {
	at     place // the last look
	value  uint64
	looked bool // there has been one since the last pause
	gone   bool // it has been followed by something
	// ends has the decision at which each look was last followed by a pause: it is the last one of a turn.
	ends map[place]int
	// next has what the thread does next after each value that a look has found.
	next map[place][]turn
}

// turn is where a thread goes on from a look that finds a value.
type turn struct {
	value   uint64
	op      trace.Op
	site    trace.Site
	several bool // it went on elsewhere, too
}

// mostValues is how many values of a place are remembered.
const mostValues = 8

// event adds an event of the thread. Accesses to its own stack are to be left out.
func (o *order) event(e *trace.Event, decision int) {
	switch {
	case e.Op == trace.OpState, e.Op == trace.OpWord, e.Op == trace.OpFunctionEntry, e.Op == trace.OpFunctionExit, e.Flags&trace.FlagForced != 0:
		return
	case o.ends == nil:
		o.ends, o.next = map[place]int{}, map[place][]turn{}
	}
	if o.looked && !o.gone {
		o.goesOn(e)
		o.gone = true
	}
	switch does := ops.Does(e.Op); {
	case does == ops.Read, does == ops.AtomicRead:
		o.at, o.value, o.looked, o.gone = place{e.Op, e.Site, e.Object}, e.Value, true, false
	case o.looked && pauses(e):
		o.ends[o.at], o.looked = decision, false
	}
}

func (o *order) goesOn(e *trace.Event) {
	turns := o.next[o.at]
	for i := range turns {
		if t := &turns[i]; t.value == o.value {
			t.several = t.several || t.op != e.Op || t.site != e.Site
			return
		}
	}
	if len(turns) < mostValues {
		o.next[o.at] = append(turns, turn{value: o.value, op: e.Op, site: e.Site})
	}
}

// passes reports whether a value that a look finds lets its thread go on to where another value did not.
func (o *order) passes(at place, value uint64) bool {
	var now, other *turn
	for i := range o.next[at] {
		switch t := &o.next[at][i]; {
		case t.several:
			return false
		case t.value == value:
			now = t
		default:
			other = t
		}
	}
	return now != nil && other != nil && (now.op != other.op || now.site != other.site) && ops.Of(now.op).Of == ops.Memory
}

// pauses reports whether a thread that waits in a loop lets others go on by an event.
func pauses(e *trace.Event) bool {
	switch spec := ops.Of(e.Op); {
	case spec.Blocks == ops.UntilTime, spec.Does == ops.Sleep, spec.Does == ops.Wait:
		return true
	}
	return e.Op == trace.OpYield && e.Object == 0 || e.Op == trace.OpGosched
}
