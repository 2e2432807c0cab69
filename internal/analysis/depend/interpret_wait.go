package depend

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

func signal(m Mode, token uint64) Effect { return Effect{m, Signal, token, 1} }

func (in *Interpreter) condition(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	changes := in.state.Apply(ev)
	switch ops.Does(ev.Op) {
	case ops.Wait:
		if len(changes) == 0 {
			return append(buf, object(Observe, at)) // it failed
		}
		tok := in.token()
		set(&in.waits, ev.Thread, tok)
		return append(buf, object(Observe, at), signal(Post, tok), object(Release, trace.Object(ev.Aux)))
	case ops.Resume:
		tok, ok := in.woken[ev.Thread]
		delete(in.woken, ev.Thread)
		delete(in.waits, ev.Thread)
		if ok && changes[0].N == 1 {
			buf = append(buf, signal(Take, tok))
		} else {
			// It timed out, or no recorded thread woke it.
			buf = append(buf, object(Change, at))
		}
		mutex := object(Acquire, trace.Object(ev.Aux))
		if len(changes) == 1 {
			mutex.Mode = Observe // the mutex is not recoverable
		}
		return append(buf, mutex)
	case ops.Leave:
		delete(in.waits, ev.Thread)
		return append(buf, object(Change, at))
	case ops.WakeOne:
		if len(changes) == 0 || in.waits[changes[0].Thread] == 0 {
			return append(buf, object(Change, at))
		}
		buf = append(buf, object(Observe, at))
	default: // init, destroy, broadcast
		buf = append(buf, object(Change, at))
	}
	for i := range changes {
		if c := &changes[i]; c.Kind == ops.Woke {
			buf = in.wake(c.Thread, buf)
		}
	}
	return buf
}

// wake ends a thread's wait: after the wait began, and before the thread continues.
func (in *Interpreter) wake(u trace.ThreadID, buf []Effect) []Effect {
	tok := in.token()
	set(&in.woken, u, tok)
	buf = append(buf, signal(Take, in.waits[u]), signal(Post, tok))
	delete(in.waits, u)
	return buf
}

// semaphore models a counting semaphore as a queue of tokens.
type semaphore struct {
	known   bool // initial is known: from init, or from the first event's count
	initial uint64
	queue   []uint64
}

func (in *Interpreter) semaphore(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	changes := in.state.Apply(ev)
	if len(changes) == 0 {
		return append(buf, object(Change, at)) // it failed, or only reads
	}
	c := &changes[0]
	s := in.sems[at]
	if s == nil {
		s = &semaphore{}
		set(&in.sems, at, s)
	}
	if !s.known && c.Kind != ops.Forgotten {
		s.known, s.initial = true, uint64(max(c.N, 0))
	}
	switch c.Kind {
	case ops.Upped:
		tok := in.token()
		s.queue = append(s.queue, tok)
		return append(buf, object(Observe, at), signal(Post, tok))
	case ops.Downed:
		switch {
		case s.initial > 0:
			s.initial--
			return append(buf, object(Observe, at))
		case len(s.queue) > 0:
			tok := s.queue[0]
			s.queue = s.queue[1:]
			return append(buf, object(Observe, at), signal(Take, tok))
		}
		return append(buf, object(Change, at)) // the counts are inconsistent
	}
	*s = semaphore{}
	return append(buf, object(Change, at))
}

func (in *Interpreter) barrier(ev *trace.Event, buf []Effect) []Effect {
	at := ev.Object
	mark := func(m Mode, at uint64) Effect { return Effect{m, Barrier, at, 1} }
	// A thread may leave while others arrive for the next generation, but not after destroy.
	life := uint64(at) | 1<<63
	changes := in.state.Apply(ev)
	if a := ops.Does(ev.Op); a == ops.Init || a == ops.Destroy {
		return append(buf, mark(Change, uint64(at)), mark(Change, life))
	}
	if changes[0].Kind == ops.Departed {
		if t, ok := in.passing[ev.Thread]; ok {
			delete(in.passing, ev.Thread)
			buf = append(buf, mark(Take, t))
		} else if changes[0].N == 0 {
			buf = append(buf, mark(Observe, uint64(at)))
		}
		return append(buf, mark(Observe, life))
	}
	buf = append(buf, mark(Observe, life))
	switch changes[0].N {
	case 0:
		// The last thread of a generation is unknown: arrivals keep their order, among
		// themselves and relative to the leaves.
		return append(buf, mark(Change, uint64(at)))
	case 1:
		tok := in.token()
		set(&in.arrived, ev.Thread, tok)
		return append(buf, mark(Observe, uint64(at)), mark(Post, tok))
	}
	// It is the last: the arrivals of the next generation come after it.
	buf = append(buf, mark(Change, uint64(at)))
	for i := range changes[1:] {
		u := changes[1+i].Thread
		tok := in.token()
		set(&in.passing, u, tok)
		buf = append(buf, mark(Take, in.arrived[u]), mark(Post, tok))
		delete(in.arrived, u)
	}
	return buf
}
