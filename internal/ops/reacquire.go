package ops

import "github.com/heddle-dev/heddle/trace"

// AcquiresAt is Acquires for an event of an execution. A goroutine that goes on after its wait on a condition acquires the lock again: the
// event does not name it, but the next ones of its thread do.
func AcquiresAt(t *trace.Trace, e int) trace.Object {
	if ev := &t.Events[e]; ev.Op != trace.OpResume || trace.Op(ev.Value) != trace.OpGcondWait {
		return Acquires(ev)
	}
	return lockNamed(t, e, trace.OpAcquire)
}

// ReleasesAt is Releases for an event of an execution, also where a goroutine begins to wait on a condition.
func ReleasesAt(t *trace.Trace, e int) trace.Object {
	if ev := &t.Events[e]; ev.Op != trace.OpGcondWait {
		return Releases(ev)
	}
	return lockNamed(t, e, trace.OpRelease)
}

// lockNamed returns the object of the first operation of a kind that an event of a goroutine consists of, 0 for none.
func lockNamed(t *trace.Trace, e int, part trace.Op) trace.Object {
	own := &t.Events[e]
	for i := e + 1; i < len(t.Events); i++ {
		ev := &t.Events[i]
		switch {
		case ev.Thread != own.Thread:
		case ev.Op == part && ev.Site == own.Site && ev.Object != own.Object:
			return ev.Object
		case ev.Flags&trace.FlagNoDecision == 0 && !(ev.Op == trace.OpResume && ev.Site == own.Site && part == trace.OpAcquire):
			return 0 // another event
		}
	}
	return 0
}
