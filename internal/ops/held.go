package ops

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// HeldLock is a lock that a thread holds.
type HeldLock struct {
	Lock   trace.Object
	Thread trace.ThreadID
	Shared bool // for reading
	Event  int  // the acquisition
}

// LocksAt returns the locks held before event e of an execution, in the order of their acquisition. Locks of Go programs
// are not known.
func LocksAt(t *trace.Trace, e int) (held []HeldLock) {
	if t.Header.Target == "go" {
		return nil
	}
	state := State{}
	for i := range t.Events[:e] {
		for _, c := range state.Apply(&t.Events[i]) {
			mine := func(l HeldLock) bool { return l.Lock == c.Object.Name && l.Thread == c.Thread }
			switch c.Kind {
			case Acquired, AcquiredShared:
				if !slices.ContainsFunc(held, mine) {
					held = append(held, HeldLock{c.Object.Name, c.Thread, c.Kind == AcquiredShared, i})
				}
			case Released, ReleasedShared:
				if c.Depth == 0 {
					held = slices.DeleteFunc(held, mine)
				}
			}
		}
	}
	return held
}

// Changes reports whether an access changes memory. A compare-and-swap that fails only reads.
func Changes(ev *trace.Event) bool {
	switch Does(ev.Op) {
	case Read, AtomicRead:
		return false
	case Compare:
		return ev.Result != 0
	}
	return true
}
