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

// ObtainedAt returns the event by which a goroutine has the lock that it begins to acquire with an event: it may have to wait until others
// release it. It returns -1 if that does not happen, and the event itself for other threads, and for what acquires no lock or does not wait.
func ObtainedAt(t *trace.Trace, e int) int {
	if Of(t.Events[e].Op).Blocks == Never || t.Header.Target != "go" || AcquiresAt(t, e) == 0 {
		return e
	}
	return partOf(t, e, trace.OpAcquire)
}

// lockNamed returns the object of the first operation of a kind that an event of a goroutine consists of, 0 for none.
func lockNamed(t *trace.Trace, e int, part trace.Op) trace.Object {
	if i := partOf(t, e, part); i >= 0 && t.Events[i].Object != t.Events[e].Object {
		return t.Events[i].Object
	}
	return 0
}

// partOf returns the first operation of a kind that an event of a goroutine consists of, -1 for none.
func partOf(t *trace.Trace, e int, part trace.Op) int {
	own := &t.Events[e]
	for i := e + 1; i < len(t.Events); i++ {
		ev := &t.Events[i]
		switch {
		case ev.Thread != own.Thread:
		case ev.Op == part && ev.Site == own.Site:
			return i
		case ev.Flags&trace.FlagNoDecision == 0 && !(ev.Op == trace.OpResume && ev.Site == own.Site && part == trace.OpAcquire):
			return -1 // another event
		}
	}
	return -1
}
