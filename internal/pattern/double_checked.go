package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// DoubleChecked is an initialisation under a lock whose result others see, without the lock, before it is complete.
const DoubleChecked = "double-checked locking"

var doubleChecked = &Pattern{
	Name: DoubleChecked,
	Shows: "a thread finds a variable unset, first without a lock and again with it, and sets it; another one finds it set, without the lock, and " +
		"reads something that the first one, which still holds the lock, writes only later",
	find: func(x *Execution) *Match {
		first, later, ok := x.later()
		if !ok || !isAccess(first) || !isAccess(later) || ops.Changes(first) || !ops.Changes(later) || first.Thread == later.Thread {
			return nil
		}
		use := x.Order.First
		for set := use - 1; set >= 0; set-- {
			ev := x.event(set)
			if ev.Thread != later.Thread || !isAccess(ev) || !ops.Changes(ev) || Overlaps(ev, first) || ev.Object.Region() == trace.RegionStack {
				continue
			}
			if m := x.doubleChecked(set, use); m != nil {
				return m
			}
		}
		return nil
	},
}

// doubleChecked returns the match of the event that sets the variable, and the read of what is not there yet; nil for none.
func (x *Execution) doubleChecked(set, use int) *Match {
	owner, user := x.event(set).Thread, x.event(use).Thread
	if v, ok := x.value(set); !ok || v == 0 {
		return nil
	}
	check := -1 // of the other thread, which finds the variable set
	for i := set + 1; i < use; i++ {
		ev := x.event(i)
		if !isAccess(ev) || ev.Object != x.event(set).Object {
			continue
		}
		if ops.Changes(ev) {
			return nil
		}
		if ev.Thread == user {
			check = i
		}
	}
	if check < 0 {
		return nil
	}
	for _, lock := range x.locks(owner, set) {
		if !slices.Contains(x.locks(owner, use), lock) || slices.Contains(x.locks(user, check), lock) || slices.Contains(x.locks(user, use), lock) {
			continue
		}
		since, _ := x.holds(owner, lock, set)
		if x.unset(owner, set, since, set) && x.unset(owner, set, 0, since) {
			return &Match{More: []int{set, check}, Say: func(w Words) string {
				return fmt.Sprintf("%s comes before that, and %s finds it set without the lock that T%d still holds.", w.Event(set), w.Event(check), owner)
			}}
		}
	}
	return nil
}

// unset reports whether a thread reads 0 from the object of an event, between two events.
func (x *Execution) unset(th trace.ThreadID, of, from, to int) bool {
	for i := from; i < to; i++ {
		if ev := x.event(i); ev.Thread == th && ev.Object == x.event(of).Object && isAccess(ev) && !ops.Changes(ev) && ev.Value == 0 {
			return true
		}
	}
	return false
}
