package strategy

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// use is one way in which an operation touches state that threads share.
type use struct {
	Space space  `json:"s"`
	At    uint64 `json:"a,omitempty"`
	Size  uint64 `json:"n,omitempty"` // bytes, for spaceMemory
	Write bool   `json:"w,omitempty"`
}

// space tells apart kinds of state whose names may coincide.
type space uint8

const (
	spaceAll    space = iota // everything: the operation is dependent on every other one
	spaceMemory              // bytes
	spaceObject              // a lock, condition variable, semaphore, …
	spaceThread              // the life of a thread, by its name
)

// footprint is what an operation touches. Two operations of different threads are dependent if
// their footprints conflict, that is, touch the same state and at least one of them writes it. All
// operations without shared state are independent.
//
// Unlike package depend, which asks whether two events of a given execution may be swapped, a
// footprint must be valid for every execution that an exhaustive search derives from this one. So
// it has no tokens: all operations on a condition variable or semaphore conflict, and operations
// whose objects a trace does not record conflict with everything.
type footprint []use

var everything = footprint{{Space: spaceAll, Write: true}}

// conflicts reports whether two operations are dependent.
func (f footprint) conflicts(g footprint) bool {
	for i := range f {
		for j := range g {
			if f[i].conflicts(&g[j]) {
				return true
			}
		}
	}
	return f.all() || g.all()
}

// all reports whether an operation is dependent on every other one.
func (f footprint) all() bool { return len(f) > 0 && f[0].Space == spaceAll }

func (u *use) conflicts(v *use) bool {
	switch {
	case !u.Write && !v.Write || u.Space != v.Space:
		return false
	case u.Space == spaceMemory:
		return u.At < v.At+v.Size && v.At < u.At+u.Size
	}
	return u.At == v.At
}

// footprintOf returns the footprint of an event. blocked is the object of its thread's last
// operation, which a goroutine that resumes completes; name returns the name of a thread.
func footprintOf(e *trace.Event, blocked trace.Object, name func(uint64) uint64) footprint {
	s := ops.Of(e.Op)
	memory := func(write bool) use {
		return use{Space: spaceMemory, At: uint64(e.Object), Size: uint64(max(e.Size, 1)), Write: write}
	}
	thread := func(id uint64) footprint { return footprint{{Space: spaceThread, At: name(id), Write: true}} }
	switch s.Does {
	case ops.Read, ops.AtomicRead:
		return footprint{memory(false)}
	case ops.Write, ops.AtomicWrite, ops.Exchange:
		return footprint{memory(true)}
	case ops.Compare:
		return footprint{memory(e.Result != 0)}
	case ops.Start, ops.Finish:
		return thread(uint64(e.Thread))
	case ops.Create, ops.Join:
		return thread(e.Value)
	case ops.None:
		if s.Of == ops.Thread && s.Noticed {
			return thread(e.Value)
		}
		return nil
	case ops.Exit, ops.Fence:
		return nil
	case ops.Opaque, ops.Stop, ops.Cancel, ops.Select, ops.Selected, ops.Switch, ops.Allocate, ops.Free:
		return everything
	}
	object := func(at trace.Object, write bool) use { return use{Space: spaceObject, At: uint64(at), Write: write} }
	if s.Does == ops.Continue {
		if blocked == 0 {
			return everything
		}
		return footprint{object(blocked, true)}
	}
	write := true
	switch s.Of {
	case ops.Mutex:
		write = s.Does != ops.Acquire || s.Done(e) // a failed attempt only looks
	case ops.RWLock:
		write = s.Does != ops.AcquireShared
	case ops.Once:
		write = s.Does != ops.Begin || e.Value == 1
	case ops.Barrier:
		write = s.Does != ops.Depart
	case ops.Condition, ops.Semaphore, ops.Futex, ops.Channel, ops.WaitGroup, ops.Pool:
		if e.Object == 0 {
			return everything
		}
	default: // signals, timers, descriptors, processes
		return everything
	}
	out := footprint{object(e.Object, write)}
	if s.Aux == ops.ObjectName {
		out = append(out, object(trace.Object(e.Aux), true))
	}
	if s.Of == ops.Futex || s.Of == ops.Once {
		// A futex wait reads the word, and compiled code reads the first byte of a C++ guard.
		out = append(out, use{Space: spaceMemory, At: uint64(e.Object), Size: 4, Write: s.Of == ops.Once && s.Does == ops.Release})
	}
	return out
}
