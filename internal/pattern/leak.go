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
			if w := &x.Trace.Ending.Waiters[i]; !w.Ready && ops.Does(w.Op) != ops.Join {
				left = append(left, w.Thread)
			}
		}
		if len(left) != 1 {
			return nil // which one the ordering concerns is not known
		}
		w, user := x.waiter(left[0]), x.user(left[0])
		fact := func(words Words) string { return words.Wait(w.Thread) }
		return &Match{Bare: true, Fact: fact, Say: func(words Words) string {
			s := fact(words) + " when the execution ends"
			if user >= 0 {
				s += fmt.Sprintf(", and T%d, the last other one that used it, has ended", user)
			}
			return s + "."
		}}
	},
}

// user returns the last other thread that used what a thread waits for, if it has ended, and -1 otherwise.
func (x *Execution) user(th trace.ThreadID) trace.ThreadID {
	w := x.waiter(th)
	for _, ev := range slices.Backward(x.Trace.Events) {
		if w.Object != 0 && ev.Object == w.Object && ev.Thread != th {
			if x.waiter(ev.Thread) == nil {
				return ev.Thread
			}
			return -1
		}
	}
	return -1
}
