package report

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// missingLock says which lock guards another access of the object and one of the pair, which have no lock in
// common; empty for none.
func (x *explaining) missingLock(o *Order) string {
	if o.Second < 0 || o.Waiting || x.Trace.Header.Target == "go" {
		return "" // not a pair of accesses, or the locks held are not known
	}
	first, second := &x.Trace.Events[o.First], &x.Trace.Events[o.Second]
	if ops.Of(first.Op).Of != ops.Memory || ops.Of(second.Op).Of != ops.Memory {
		return ""
	}
	held := map[trace.ThreadID]map[trace.Object]bool{}
	guards := map[trace.Object]int{} // lock: accesses of the object that hold it
	var mine [2]map[trace.Object]bool
	accesses := 0
	for i := range x.Trace.Events {
		ev := &x.Trace.Events[i]
		h := held[ev.Thread]
		if h == nil {
			h = map[trace.Object]bool{}
			held[ev.Thread] = h
		}
		switch ops.Does(ev.Op) {
		case ops.Acquire:
			if ops.Of(ev.Op).Done(ev) {
				h[ev.Object] = true
			}
		case ops.Release:
			delete(h, ev.Object)
		}
		if ev.Object != second.Object || ops.Of(ev.Op).Of != ops.Memory {
			continue
		}
		accesses++
		for lock := range h {
			guards[lock]++
		}
		for k, e := range []int{o.First, o.Second} {
			if e == i {
				mine[k] = map[trace.Object]bool{}
				for lock := range h {
					mine[k][lock] = true
				}
			}
		}
	}
	for _, lock := range slices.Sorted(func(yield func(trace.Object) bool) {
		for l := range guards {
			if !yield(l) {
				return
			}
		}
	}) {
		without := first
		switch {
		case mine[0][lock] && mine[1][lock]:
			return "" // a lock that both hold
		case mine[0][lock] == mine[1][lock], guards[lock] < 2:
			continue
		case mine[0][lock]:
			without = second
		}
		return fmt.Sprintf("T%d's access holds no %s, which the other holds.", without.Thread, x.names.Object(x.Trace, lock, 0, o.Second))
	}
	return ""
}
