package depend

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Keys of what is not an object of the program's. No object's name is that large.
const (
	channels = ^uint64(0) - 1 - iota // every channel, for select
	timers                           // the order in which timers are set
	tests                            // what tests reported
)

// syncClock is the bit that marks the clock of a sync variable, which only the race
// detector sees, from the object itself.
const syncClock = 1 << 62

// blocked is the operation that a goroutine did last, and may be blocked in.
type blocked struct {
	op trace.Op
	at trace.Object
}

// goroutine is the effects of an operation of a Go program. Its events stand where the
// operation is about to happen; one that has to wait continues with a RESUME.
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
		if ops.Of(ev.Op).Op == ev.Op { // of operations that are known only
			return append(buf, Effect{Mode: Fence, Kind: Signal})
		}
	}

	was := in.blocked[ev.Thread]
	delete(in.selecting, ev.Thread)
	set(&in.blocked, ev.Thread, blocked{ev.Op, at})
	op := ev.Op
	if op == trace.OpResume {
		if was.op != trace.Op(ev.Value) {
			return append(buf, Effect{Mode: Fence, Kind: Signal}) // what it waited for was not recorded
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
			// Whoever woke it, by an operation on the channel or a select, did all there
			// was to do.
			return append(buf, object(Observe, at), pseudo(Observe, channels))
		}
		all := Observe
		if len(in.selecting) > 0 {
			// Which of two channels has something first decides what a select does.
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
			return append(buf, object(Observe, at)) // the last one wakes those that wait, whoever it is
		}
		return append(buf, object(Change, at))
	case ops.Sleep, ops.Arm:
		if resumed {
			return buf // after the clock's event, with which all is in order
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

// arrive takes what switched to the event's goroutine.
func (in *Interpreter) arrive(ev *trace.Event, buf []Effect) []Effect {
	if tok, ok := in.switched[ev.Thread]; ok && !onBehalf(ev.Op) {
		delete(in.switched, ev.Thread)
		buf = append(buf, signal(Take, tok))
	}
	return buf
}
