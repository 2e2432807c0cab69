package live

import (
	"slices"
	"syscall"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// valued completes the events of a recording with values: what was read or written, with pointers named by what they
// point to, and objects by names that depend on no address. It is shown the records by time.
type valued struct {
	memory
	trace *trace.Trace
	live  map[uint64]int // of Trace.Allocs, by address
	last  []int          // of each thread that ends, its last record; -1 for others
}

func newValued(t *trace.Trace, events []event, h *head, spans []span) *valued {
	v := &valued{trace: t, live: map[uint64]int{}}
	v.spans, v.vectors, v.strings, v.stringsEnd = spans, h.Vectors, h.Strings, h.StringsEnd
	v.bounds, v.last = make([]stack, len(t.Threads)), slices.Repeat([]int{-1}, len(t.Threads))
	for i := range events {
		// A thread's destructors run after its end is recorded.
		if e := &events[i]; e.kind == kindEnd || v.last[e.thread] >= 0 {
			v.last[e.thread] = i
		}
		// A thread's creator may name it before it has recorded where its stack is.
		if e := &events[i]; e.kind == kindStack && e.thread > 0 {
			v.bounds[e.thread] = stack{thread: e.thread, lo: e.value, hi: e.object}
		}
	}
	t.Header.Values = true
	return v
}

// only reports whether a record is not an event of the trace, and learns from it. Such records are of what happened before main, as in
// recordings of heddle's scheduler, and the release of a block that libc has allocated for itself.
func (v *valued) only(e *event) bool {
	switch e.kind {
	case kindStack:
		switch {
		case e.thread > 0:
		case v.main.top == 0:
			v.main = mainStack{lo: e.value, top: e.object}
		default:
			v.main.hi = e.object
		}
		v.created(e.thread)
		return true
	case kindCreated:
		v.created(int(e.value))
		return true
	case kindEnd:
		return true // see ended
	case kindMap:
		v.mapped(e.object, e.value)
		return true
	case kindUnmap:
		v.unmapped(e.object, e.value)
		return true
	case kindFree:
		if _, known := v.live[e.object]; known {
			return false // see complete
		}
		v.freed(e.object)
		return true
	case kindMalloc:
		if v.main.hi == 0 {
			if e.object != 0 {
				v.allocated(e.object, e.value)
			}
			return true
		}
	}
	return v.main.hi == 0 && e.thread == 0 && e.kind != kindCreate && e.kind != kindJoin
}

// ended adds the end of a thread, if its last record was record i.
func (v *valued) ended(e *event, i int) bool {
	if v.last[e.thread] != i {
		return false
	}
	v.trace.Events = append(v.trace.Events, trace.Event{Thread: trace.ThreadID(e.thread), Op: trace.OpThreadEnd, Flags: trace.FlagNoDecision})
	v.trace.Threads[e.thread].Ended = true
	return true
}

func (v *valued) complete(e *event, x *trace.Event) {
	switch e.kind {
	case kindMalloc:
		if e.object == 0 {
			x.Result = int32(syscall.ENOMEM)
			return
		}
		v.allocated(e.object, e.value)
	case kindCreate:
		v.creating(int(e.value))
	}
	if e.kind != kindStart {
		x.Object, _ = v.object(e.object)
	}
	switch e.kind {
	case kindMalloc:
		v.live[e.object] = len(v.trace.Allocs)
		v.trace.Allocs = append(v.trace.Allocs, trace.Alloc{Object: x.Object, Size: e.value, Thread: x.Thread, Site: x.Site, Event: len(v.trace.Events), Freed: -1})
		return
	case kindFree:
		if i, ok := v.live[e.object]; ok {
			v.trace.Allocs[i].Freed = len(v.trace.Events)
			delete(v.live, e.object)
		}
		v.freed(e.object)
		return
	case kindCondWait, kindCondWake:
		o, _ := v.object(e.value)
		x.Aux = uint64(o)
		return
	case kindTrylock, kindTryrdlock, kindTrywrlock, kindSpinTrylock, kindTimedlock, kindTimedrdlock, kindTimedwrlock, kindSemWait, kindSemTrywait, kindSemTimedwait:
		x.Result = int32(e.value)
		return
	case kindExit, kindSemInit:
		x.Value = e.value
		return
	}
	if ops.Of(x.Op).Of != ops.Memory {
		return
	}
	x.Value, x.Aux = e.value, e.more
	ranged := (x.Op == trace.OpReadRange || x.Op == trace.OpWriteRange) && x.Size > 8
	if x.Size >= 8 && !ranged {
		if o, ok := v.pointer(x.Value); ok {
			x.Value, x.Flags = uint64(o), x.Flags|trace.FlagPointer
		} else {
			x.Value = v.elsewhere(x.Value)
		}
	}
}
