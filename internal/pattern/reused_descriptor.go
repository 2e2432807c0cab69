package pattern

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
)

// ReusedDescriptor is the use of a descriptor that has been closed, and whose number another one has got.
const ReusedDescriptor = "reused descriptor"

var reusedDescriptor = &Pattern{
	Name:  ReusedDescriptor,
	Shows: "a thread uses a descriptor that another thread has closed, and whose number one that was opened since has",
	find: func(x *Execution) *Match {
		first, second, ok := x.pair()
		if !ok || ops.Of(first.Op).Of != ops.Descriptor || ops.Does(first.Op) != ops.Open || ops.Of(second.Op).Of != ops.Descriptor {
			return nil
		}
		for i := x.Order.First - 1; i >= 0; i-- {
			ev := x.event(i)
			if ops.Of(ev.Op).Of == ops.Descriptor && ops.Does(ev.Op) == ops.Close && ops.Of(ev.Op).Done(ev) && ev.Aux == second.Aux && ev.Thread != second.Thread {
				fact := func(w Words) string {
					return fmt.Sprintf("%s comes after T%d's %s%s, and %s%s has reused the number",
						w.Event(x.Order.Second), ev.Thread, ev.Op, at(w, i), first.Op, at(w, x.Order.First))
				}
				return &Match{Alone: true, More: []int{i}, Fact: fact, Say: func(w Words) string { return fact(w) + "." }}
			}
		}
		return nil
	},
}
