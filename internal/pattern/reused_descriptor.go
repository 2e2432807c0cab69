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
		if !ok || ops.Of(first.Op).Of != ops.Descriptor || ops.Of(second.Op).Of != ops.Descriptor {
			return nil
		}
		does := func(i int, what ops.Action) bool {
			ev := x.event(i)
			return ops.Of(ev.Op).Of == ops.Descriptor && ops.Does(ev.Op) == what && ops.Of(ev.Op).Done(ev) && ev.Aux == second.Aux
		}
		closed, opened := -1, -1
		switch ops.Does(first.Op) {
		case ops.Open:
			opened = x.Order.First
			for i := opened - 1; i >= 0 && closed < 0; i-- {
				if does(i, ops.Close) && x.event(i).Thread != second.Thread {
					closed = i
				}
			}
		case ops.Close:
			for i := x.Order.First + 1; i < x.Order.Second && opened < 0; i++ {
				if does(i, ops.Open) && x.event(i).Object == second.Object && does(x.Order.First, ops.Close) {
					closed, opened = x.Order.First, i
				}
			}
		}
		if closed < 0 || opened < 0 {
			return nil
		}
		fact := func(w Words) string {
			return fmt.Sprintf("%s comes after T%d's %s%s, and %s%s has reused the number",
				w.Event(x.Order.Second), x.event(closed).Thread, x.event(closed).Op, at(w, closed), x.event(opened).Op, at(w, opened))
		}
		return alone(fact, closed, opened)
	},
}
