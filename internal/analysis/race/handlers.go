package race

import (
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Handlers returns the memory instructions, in ascending order, between which the delivery of a
// signal may matter: those of handlers, and of the code that a handler interrupted in the same
// thread, that access the same memory, at least one of them to write. Happens-before orders them,
// as it orders everything a thread does, so they are not races; but the handler could have run
// between any two of them. The signal may have been blocked at some; Handlers ignores that.
func Handlers(t *trace.Trace) []trace.Site {
	type place struct {
		thread trace.ThreadID
		byte   uint64
	}
	// touch records, by kind of access, the deepest handler that accessed a byte.
	type touch struct {
		deepest [2]int // reads, writes
		sites   [2]map[trace.Site]bool
	}
	handlers := map[place]*touch{}
	pass := func(f func(e *trace.Event, depth, kind int, lo, hi uint64)) {
		depth := map[trace.ThreadID]int{}
		for i := range t.Events {
			e := &t.Events[i]
			switch s := ops.Of(e.Op); {
			case s.Blocks == ops.UntilDelivery && e.Object != 0:
				depth[e.Thread]++
			case s.Does == ops.Return:
				depth[e.Thread]--
			}
			kind := 0
			switch kindOf(e) {
			case none:
				continue
			case plainWrite, atomicWrite:
				kind = 1
			}
			if lo, size := e.Object.Bytes(uint64(e.Size)); e.Object != 0 && e.Op.IsAccess() {
				f(e, depth[e.Thread], kind, lo, lo+max(size, 1)-1)
			}
		}
	}
	pass(func(e *trace.Event, depth, kind int, lo, hi uint64) {
		if depth == 0 {
			return
		}
		for g := lo; g <= hi && g-lo < 1<<16; g++ {
			x := handlers[place{e.Thread, g}]
			if x == nil {
				x = &touch{}
				handlers[place{e.Thread, g}] = x
			}
			x.deepest[kind] = max(x.deepest[kind], depth)
			if x.sites[kind] == nil {
				x.sites[kind] = map[trace.Site]bool{}
			}
			x.sites[kind][e.Site] = true
		}
	})
	if len(handlers) == 0 {
		return nil
	}
	sites := map[trace.Site]bool{}
	pass(func(e *trace.Event, depth, kind int, lo, hi uint64) {
		meet := func(x *touch) {
			for k := range x.deepest {
				if x.deepest[k] > depth && (k == 1 || kind == 1) {
					sites[e.Site] = true
					maps.Copy(sites, x.sites[k])
				}
			}
		}
		if hi-lo > uint64(len(handlers)) {
			for p, x := range handlers {
				if p.thread == e.Thread && p.byte >= lo && p.byte <= hi {
					meet(x)
				}
			}
			return
		}
		for g := lo; g <= hi; g++ {
			if x := handlers[place{e.Thread, g}]; x != nil {
				meet(x)
			}
		}
	})
	return slices.Sorted(maps.Keys(sites))
}
