package depend

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// sleeper is a thread whose last event was a sleep.
type sleeper struct {
	thread trace.ThreadID
	out    bool // it was seen not to be enabled
}

// clockMoved reports whether a sleeper has been let go since the event before: it could
// not run then and can now.
func (in *Interpreter) clockMoved(ev *trace.Event) bool {
	moved := false
	in.asleep = slices.DeleteFunc(in.asleep, func(s sleeper) bool {
		return s.thread == ev.Thread && !s.out
	})
	if ev.Enabled.Len() == 0 {
		return false // the trace does not say who was enabled
	}
	in.asleep = slices.DeleteFunc(in.asleep, func(s sleeper) bool {
		awake := ev.Enabled.Has(s.thread)
		moved = moved || awake && s.out
		return awake // if it never was out, this sleep took no time
	})
	for i := range in.asleep {
		in.asleep[i].out = true
	}
	return moved
}

// condition is a condition variable: who waits, and the tokens of their waits.
type condition struct{ waiting []waiter }

type waiter struct {
	thread trace.ThreadID
	token  uint64
}

func signal(m Mode, token uint64) Effect { return Effect{m, Signal, token, 1} }

func (in *Interpreter) condition(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	c := get(&in.conds, at)
	switch ev.Op {
	case trace.OpCondWait:
		w := waiter{ev.Thread, in.token()}
		c.waiting = append(c.waiting, w)
		return append(buf, object(Observe, at), signal(Post, w.token), object(Release, trace.Object(ev.Aux)))
	case trace.OpCondWake:
		tok, ok := in.woken[ev.Thread]
		switch {
		case ok && ev.Result == 0:
			delete(in.woken, ev.Thread)
			buf = append(buf, signal(Take, tok))
		case timedOut(ev):
			buf = append(buf, Effect{Mode: Fence, Kind: Ending})
		default:
			// Made to time out, or woken by nobody that was seen.
			delete(in.woken, ev.Thread)
			buf = append(buf, object(Change, at))
		}
		c.waiting = slices.DeleteFunc(c.waiting, func(w waiter) bool { return w.thread == ev.Thread })
		return append(buf, object(Acquire, trace.Object(ev.Aux)))
	case trace.OpCondSignal:
		woke := trace.ThreadID(ev.Value) - 1
		i := slices.IndexFunc(c.waiting, func(w waiter) bool { return w.thread == woke })
		if i < 0 {
			return append(buf, object(Change, at))
		}
		buf = append(buf, object(Observe, at))
		buf = in.wake(c.waiting[i], buf)
		c.waiting = slices.Delete(c.waiting, i, i+1)
		return buf
	case trace.OpCondBroadcast:
		buf = append(buf, object(Change, at))
		for _, w := range c.waiting {
			buf = in.wake(w, buf)
		}
		c.waiting = c.waiting[:0]
		return buf
	}
	return append(buf, object(Change, at)) // init, destroy
}

// wake ends a wait: after it began, and before the thread goes on.
func (in *Interpreter) wake(w waiter, buf []Effect) []Effect {
	tok := in.token()
	set(&in.woken, w.thread, tok)
	return append(buf, signal(Take, w.token), signal(Post, tok))
}

// semaphore is a counting semaphore as a queue of tokens.
type semaphore struct {
	known   bool // the count was known at some event since the start or init
	initial uint64
	queue   []uint64
}

func (in *Interpreter) semaphore(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	s := get(&in.sems, at)
	switch {
	case ev.Op == trace.OpSemPost && ev.Result == 0:
		if !s.known {
			// The event has the count after it.
			s.known, s.initial = true, max(ev.Value, 1)-1
		}
		tok := in.token()
		s.queue = append(s.queue, tok)
		return append(buf, object(Observe, at), signal(Post, tok))
	case (ev.Op == trace.OpSemWait || ev.Op == trace.OpSemTrywait || ev.Op == trace.OpSemTimedwait) && ev.Result == 0:
		if !s.known {
			s.known, s.initial = true, ev.Value+1
		}
		switch {
		case s.initial > 0:
			s.initial--
			return append(buf, object(Observe, at))
		case len(s.queue) > 0:
			tok := s.queue[0]
			s.queue = s.queue[1:]
			return append(buf, object(Observe, at), signal(Take, tok))
		}
		return append(buf, object(Change, at)) // the counts do not add up
	case timedOut(ev):
		return append(buf, Effect{Mode: Fence, Kind: Ending})
	case ev.Op == trace.OpSemInit || ev.Op == trace.OpSemDestroy:
		*s = semaphore{}
	}
	return append(buf, object(Change, at))
}

// barrier is one round of a barrier.
type barrier struct {
	count   uint64 // how many it waits for, 0 if that was not seen
	arrived []waiter
}

func (in *Interpreter) barrier(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	b := get(&in.bars, at)
	mark := func(m Mode) Effect { return Effect{m, Barrier, uint64(at), 1} }
	tok := func(m Mode, t uint64) Effect { return Effect{m, Barrier, t, 1} }
	switch ev.Op {
	case trace.OpBarrierInit:
		*b = barrier{count: ev.Value}
		return append(buf, mark(Change))
	case trace.OpBarrierDestroy:
		*b = barrier{}
		return append(buf, mark(Change))
	case trace.OpBarrierLeave:
		if t, ok := in.passing[ev.Thread]; ok {
			delete(in.passing, ev.Thread)
			buf = append(buf, tok(Take, t))
		}
		return append(buf, mark(Observe))
	}
	if b.count == 0 {
		return append(buf, mark(Change)) // then arrivals and leaves keep their order
	}
	buf = append(buf, mark(Observe))
	if uint64(len(b.arrived))+1 < b.count {
		w := waiter{ev.Thread, in.token()}
		b.arrived = append(b.arrived, w)
		return append(buf, tok(Post, w.token))
	}
	for _, w := range b.arrived {
		t := in.token()
		set(&in.passing, w.thread, t)
		buf = append(buf, tok(Take, w.token), tok(Post, t))
	}
	b.arrived = b.arrived[:0]
	return buf
}
