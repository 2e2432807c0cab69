package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// UseAfterFree is an access to memory that another thread has freed.
const UseAfterFree = "use after free"

var useAfterFree = &Pattern{
	Name:  UseAfterFree,
	Shows: "the first event frees what the second accesses, or the execution ends as a thread accesses what another has freed",
	find: func(x *Execution) *Match {
		if x.Order == nil {
			return nil
		}
		// The name tells how the execution ends, not what the ordering is of.
		if freed := Freed(x.Trace); freed >= 0 {
			return x.endsAfter(freed, "accesses")
		}
		if first, second, ok := x.pair(); ok && ops.Does(first.Op) == ops.Free && (isAccess(second) || ops.Does(second.Op) == ops.Free) {
			return &Match{Bare: true}
		}
		return nil
	},
}

// endsAfter is the match of an execution that ends as a thread does something to memory after another has freed it.
func (x *Execution) endsAfter(freed int, does string) *Match {
	return &Match{Bare: true, Triple: x.interleaving(), More: []int{freed}, Say: func(w Words) string {
		return fmt.Sprintf("The execution ends as T%d %s memory after %s.", x.Trace.Ending.Thread, does, w.Event(freed))
	}}
}

// Freed returns the event by which another thread freed the memory whose access ends an execution; -1 if it does
// not end so.
func Freed(t *trace.Trace) int {
	end := &t.Ending
	if end.Kind != trace.Misuse || end.Object == 0 {
		return -1
	}
	for _, a := range slices.Backward(t.Allocs) {
		if a.Object <= end.Object && end.Object < a.Object+trace.Object(max(a.Size, 1)) {
			if a.Freed >= 0 && a.Freed < len(t.Events) && t.Events[a.Freed].Thread != end.Thread && ops.Does(t.Events[a.Freed].Op) == ops.Free {
				return a.Freed
			}
			return -1
		}
	}
	return -1
}
