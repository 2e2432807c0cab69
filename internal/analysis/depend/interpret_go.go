package depend

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Keys of state that is not an object of the program. No object's name is that large.
const (
	channels = ^uint64(0) - 1 - iota // every channel, for select
	timers                           // the order in which timers are set
	tests                            // test results
)

// syncClock is the bit that distinguishes the clock of a sync variable, which only the race
// detector reads, from the object itself.
const syncClock = 1 << 62

// blocked is the last operation of a goroutine, in which it may be blocked.
type blocked struct {
	op trace.Op
	at trace.Object
}

// goroutine returns the effects of an operation of a Go program. Its events come just before the
// operation; an operation that blocks continues with a RESUME.
func (in *Interpreter) goroutine(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	pseudo := func(m Mode, key uint64) Effect { return Effect{m, Lock, key, 1} }
	switch ops.Does(ev.Op) {
	case ops.Observe:
		return append(buf, pseudo(Observe, uint64(at)|syncClock))
	case ops.Publish, ops.Merge, ops.Renew:
		return append(buf, pseudo(Change, uint64(at)|syncClock))
	case ops.Switch:
		tok := in.token()
		set(&in.switched, trace.ThreadID(ev.Value), tok)
		return append(buf, signal(Post, tok))
	case ops.Selected:
		delete(in.selecting, ev.Thread)
		return buf
	case ops.Fail:
		return append(buf, pseudo(Change, tests))
	case ops.Opaque:
		if ops.Of(ev.Op).Op == ev.Op { // of known operations only
			return append(buf, Effect{Mode: Fence, Kind: Signal})
		}
	}

	was := in.blocked[ev.Thread]
	delete(in.selecting, ev.Thread)
	set(&in.blocked, ev.Thread, blocked{ev.Op, at})
	op := ev.Op
	if op == trace.OpResume {
		if was.op != trace.Op(ev.Value) {
			return append(buf, Effect{Mode: Fence, Kind: Signal}) // its blocking operation was not recorded
		}
		op, at = was.op, was.at
	}
	resumed := ev.Op == trace.OpResume
	if at.Region() == trace.RegionHeap && !resumed {
		buf = append(buf, memory(Read, at, 1))
	}
	switch ops.Does(op) {
	case ops.Communicate:
		if resumed {
			// The goroutine that woke it, by an operation on the channel or a select,
			// has already made every change.
			return append(buf, object(Observe, at), pseudo(Observe, channels))
		}
		if ev.Result != 0 { // an attempt: it has found the channel not ready
			return append(buf, object(Observe, at), pseudo(Observe, channels))
		}
		all := Observe
		if len(in.selecting) > 0 {
			// The result of a select depends on which channel is ready first.
			all = Change
		}
		return append(buf, object(Change, at), pseudo(all, channels))
	case ops.Select:
		if !resumed {
			set(&in.selecting, ev.Thread, struct{}{})
		}
		return append(buf, pseudo(Change, channels))
	case ops.AcquireShared, ops.ReleaseShared:
		return append(buf, object(Observe, at))
	case ops.Count:
		if int64(ev.Value) < 0 {
			return append(buf, object(Observe, at)) // the last one wakes the waiters, whichever thread performs it
		}
		return append(buf, object(Change, at))
	case ops.Sleep, ops.Arm:
		if resumed {
			return buf // after the clock's event, which is ordered with all others
		}
		if at != 0 {
			buf = append(buf, object(Change, at))
		}
		return append(buf, pseudo(Change, timers))
	case ops.Opaque:
		return append(buf, Effect{Mode: Fence, Kind: Ending})
	}
	return append(buf, object(Change, at)) // of package sync
}

// arrive takes the token of the goroutine that switched to the event's goroutine.
func (in *Interpreter) arrive(ev *trace.Event, buf []Effect) []Effect {
	if tok, ok := in.switched[ev.Thread]; ok && !onBehalf(ev.Op) {
		delete(in.switched, ev.Thread)
		buf = append(buf, signal(Take, tok))
	}
	return buf
}
