package race

import (
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// granule is the unit in which Handlers compares addresses, in bits. Neighbours in one are
// taken for the same, which costs a scheduling point and nothing else.
const granule = 3

// Handlers are the memory instructions, ascending, where it may matter when a signal is
// delivered: those of handlers, and of the code that such a handler ran on top of in the
// same thread, that touch the same memory, one of them at least to write. Happens-before
// orders them, as it does all that a thread does, so they are not races; but the handler
// could have run between any two of them. That the signal may have been blocked at some is
// not looked at.
func Handlers(t *trace.Trace) []trace.Site {
	type place struct {
		thread  trace.ThreadID
		granule uint64
	}
	// touch is what was done in a place: the deepest handler that did it, by kind.
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
			if lo, size := span(e.Object, uint64(e.Size)); e.Object != 0 && e.Op.IsAccess() {
				f(e, depth[e.Thread], kind, lo>>granule, (lo+max(size, 1)-1)>>granule)
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
				if p.thread == e.Thread && p.granule >= lo && p.granule <= hi {
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
