package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Leak is a goroutine that waits for what no other will do.
const Leak = "leak"

var leak = &Pattern{
	Name:  Leak,
	Shows: "Go: a goroutine still waits when the test or the program ends, and the ordering shows none of the above",
	find: func(x *Execution) *Match {
		if x.Order == nil || x.Trace.Ending.Kind != trace.Leak {
			return nil
		}
		var left []trace.ThreadID
		for i := range x.Trace.Ending.Waiters {
			if w := &x.Trace.Ending.Waiters[i]; !w.MayGoOn() && ops.Does(w.Op) != ops.Join {
				left = append(left, w.Thread)
			}
		}
		if len(left) != 1 {
			return nil // which one the ordering concerns is not known
		}
		w, used := x.Waiter(left[0]), x.used(left[0])
		var more []int
		if used >= 0 {
			more = []int{used}
		}
		fact := func(words Words) string { return words.Wait(w.Thread) }
		return &Match{Bare: true, Fact: fact, More: more, Say: func(words Words) string {
			s := fact(words) + " when the execution ends"
			if used >= 0 {
				s += fmt.Sprintf(", and T%d, the last other one that used it, has ended", x.event(used).Thread)
			}
			return s + "."
		}}
	},
}

// used returns the last event by which another thread used what a thread waits for, if that thread has ended, and -1 otherwise.
func (x *Execution) used(th trace.ThreadID) int {
	w := x.Waiter(th)
	for i, ev := range slices.Backward(x.Trace.Events) {
		if w.Object != 0 && ev.Object == w.Object && ev.Thread != th {
			if x.Waiter(ev.Thread) == nil {
				return i
			}
			return -1
		}
	}
	return -1
}
