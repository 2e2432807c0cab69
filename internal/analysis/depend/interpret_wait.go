package depend

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// condition is a condition variable: its waiters, and the tokens of their waits.
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
		delete(in.woken, ev.Thread)
		if ok && (ev.Result == 0 || ev.Result == ownerDead || ev.Result == notRecoverable) {
			buf = append(buf, signal(Take, tok))
		} else {
			// It timed out, or was woken by nobody (that was seen).
			buf = append(buf, object(Change, at))
		}
		c.waiting = slices.DeleteFunc(c.waiting, func(w waiter) bool { return w.thread == ev.Thread })
		mutex := object(Acquire, trace.Object(ev.Aux))
		if ev.Result == notRecoverable {
			mutex.Mode = Observe
		}
		return append(buf, mutex)
	case trace.OpCondTimeout, trace.OpSpuriousWake:
		c.waiting = slices.DeleteFunc(c.waiting, func(w waiter) bool { return w.thread == ev.Thread })
		return append(buf, object(Change, at))
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
	known   bool // initial is: from init, or from the first event's count
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
	case ev.Op == trace.OpSemInit && ev.Result == 0:
		*s = semaphore{known: true, initial: ev.Value}
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
	mark := func(m Mode, at uint64) Effect { return Effect{m, Barrier, at, 1} }
	// A thread may leave while others arrive for the next round; it may not after destroy.
	life := uint64(at) | 1<<63
	switch ev.Op {
	case trace.OpBarrierInit, trace.OpBarrierDestroy:
		*b = barrier{}
		if ev.Op == trace.OpBarrierInit {
			b.count = ev.Value
		}
		return append(buf, mark(Change, uint64(at)), mark(Change, life))
	case trace.OpBarrierLeave:
		if t, ok := in.passing[ev.Thread]; ok {
			delete(in.passing, ev.Thread)
			buf = append(buf, mark(Take, t))
		} else if b.count == 0 {
			buf = append(buf, mark(Observe, uint64(at)))
		}
		return append(buf, mark(Observe, life))
	}
	buf = append(buf, mark(Observe, life))
	if b.count == 0 {
		// Who completes a round is not known: arrivals keep their order, among
		// themselves and with the leaves.
		return append(buf, mark(Change, uint64(at)))
	}
	if uint64(len(b.arrived))+1 < b.count {
		w := waiter{ev.Thread, in.token()}
		b.arrived = append(b.arrived, w)
		return append(buf, mark(Observe, uint64(at)), mark(Post, w.token))
	}
	// The last one: the arrivals of the next round come after it.
	buf = append(buf, mark(Change, uint64(at)))
	for _, w := range b.arrived {
		t := in.token()
		set(&in.passing, w.thread, t)
		buf = append(buf, mark(Take, w.token), mark(Post, t))
	}
	b.arrived = b.arrived[:0]
	return buf
}
