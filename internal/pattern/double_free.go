package pattern

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// DoubleFree is memory that two threads free.
const DoubleFree = "double free"

var doubleFree = &Pattern{
	Name:  DoubleFree,
	Shows: "the execution ends as a thread frees memory that another has freed",
	find: func(x *Execution) *Match {
		freed := Freed(x.Trace)
		if x.Order == nil || freed < 0 || !freesAgain(x.Trace) {
			return nil
		}
		return x.endsAfter(freed, "frees")
	},
}

// freesAgain reports whether the use of freed memory that ends an execution is a free.
func freesAgain(t *trace.Trace) bool {
	for i := len(t.Events) - 1; i >= 0; i-- {
		if ev := &t.Events[i]; ev.Thread == t.Ending.Thread {
			return ops.Does(ev.Op) == ops.Free && ev.Object == t.Ending.Object
		}
	}
	return false
}
