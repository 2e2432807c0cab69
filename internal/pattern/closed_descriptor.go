package pattern

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
)

// ClosedDescriptor is the use of a descriptor that another thread has closed.
const ClosedDescriptor = "use of a closed descriptor"

var closedDescriptor = &Pattern{
	Name:  ClosedDescriptor,
	Shows: "the use of a descriptor fails because another thread has closed it",
	find: func(x *Execution) *Match {
		if x.Order == nil {
			return nil
		}
		uses := []int{x.Order.First}
		if _, _, ok := x.pair(); ok {
			uses = append(uses, x.Order.Second)
		}
		for _, use := range uses {
			closed := x.closedBefore(use)
			if closed < 0 {
				continue
			}
			fact := func(w Words) string { return fmt.Sprintf("%s comes after %s", w.Event(use), w.Event(closed)) }
			return alone(fact, closed, use)
		}
		return nil
	},
}

// closedBefore returns the event by which another thread closed the descriptor whose use by an event fails because it is not open; -1 if it
// does not fail so, or the program has opened the number since.
func (x *Execution) closedBefore(use int) int {
	ev := x.event(use)
	if ops.Of(ev.Op).Of != ops.Descriptor || ev.Result != ops.NotOpen {
		return -1
	}
	for i := use - 1; i >= 0; i-- {
		other := x.event(i)
		s := ops.Of(other.Op)
		if s.Of != ops.Descriptor || other.Aux != ev.Aux || !s.Done(other) {
			continue
		}
		if s.Does == ops.Close && other.Thread != ev.Thread {
			return i
		}
		if s.Does == ops.Open || s.Does == ops.Close {
			return -1
		}
	}
	return -1
}
