package ops

import "github.com/heddle-dev/heddle/trace"

// Enabled computes which threads were enabled at each of a trace's events: those that existed, and
// whose next operation in the trace did not block. It is for traces that were reordered or come
// from tools that do not record enabled sets. The trace's own sets and waiters decide for events
// that were not scheduling decisions, and for threads that had not ended but have no later event.
//
// A trace does not record when virtual time passes. So a thread that sleeps, or whose wait is about
// to time out, counts as blocked until its own event, unless a signal or a cancellation ends the
// wait: such a thread may be missing from a set, but is never wrongly in one.
//
// A thread whose event came early (trace.Event.Early) is in its own event's set if it was enabled,
// or if the trace's own set has it: a wait whose deadline had passed does not overtake
// (trace.Event.Overtakes), and one that overtook still does.
func Enabled(t *trace.Trace) []trace.ThreadSet {
	r := newReplay(t)
	out := make([]trace.ThreadSet, len(t.Events))
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Flags&trace.FlagNoDecision == 0 {
			for u := range r.alive.All() {
				if r.enabled(u) {
					out[i].Add(u)
				}
			}
			if !ev.Early() || ev.Enabled.Has(ev.Thread) {
				out[i].Add(ev.Thread)
			}
		}
		r.step(i)
	}
	return out
}

// replay follows a trace whose end is known.
type replay struct {
	State
	t       *trace.Trace
	futures []future
	alive   trace.ThreadSet // created, and not ended
	at      int             // the next event
	wakes   map[int32]int32 // for each resume, the latest event that can have enabled it
}

// future is a thread's remaining events.
type future struct {
	events  []int32 // its scheduling points in the whole trace
	done    int     // of events
	waiter  *trace.Waiter
	unknown bool // enabled after its last event, according to the trace
}

func newReplay(t *trace.Trace) *replay {
	r := &replay{t: t}
	n := len(t.Threads)
	for i := range t.Events {
		n = max(n, int(t.Events[i].Thread)+1)
	}
	r.threads, r.futures = make([]thread, n), make([]future, n)
	last := trace.ThreadSet{}
	for i := range t.Events {
		ev := &t.Events[i]
		if id, ok := ev.Child(); ok && int(id) < n {
			r.threads[id].absent = true
		}
		if ev.Flags&trace.FlagNoDecision == 0 {
			u := &r.futures[ev.Thread]
			u.events = append(u.events, int32(i))
			last = ev.Enabled
		}
		if s := Of(ev.Op); s.Of == Semaphore {
			switch s.Does {
			case Init, Inspect, Up, Down:
				r.Object(ev.Object).assume(ev, s.Does) // the count is needed before its first event
			}
		}
	}
	r.findWakes()
	for u := range r.futures {
		if !r.threads[u].absent {
			r.alive.Add(trace.ThreadID(u))
		}
		r.futures[u].unknown = last.Has(trace.ThreadID(u))
	}
	for i := range t.Ending.Waiters {
		if w := &t.Ending.Waiters[i]; w.Thread >= 0 && int(w.Thread) < n {
			r.futures[w.Thread].waiter = w
		}
	}
	r.next = r.nextOf
	return r
}

// nextOf returns thread u's next event, nil if none is recorded.
func (r *replay) nextOf(u trace.ThreadID) *trace.Event {
	if f := &r.futures[u]; f.done < len(f.events) {
		return &r.t.Events[f.events[f.done]]
	}
	return nil
}

// step applies event i.
func (r *replay) step(i int) {
	r.at = i + 1
	ev := &r.t.Events[i]
	if ev.Flags&trace.FlagNoDecision == 0 {
		r.futures[ev.Thread].done++
	}
	r.Apply(ev)
	if Does(ev.Op) == Finish {
		r.alive.Remove(ev.Thread)
	} else if id, ok := ev.Child(); ok && int(id) < len(r.threads) {
		r.alive.Add(id)
	}
}

// enabled reports whether a thread could take a step.
func (r *replay) enabled(u trace.ThreadID) bool {
	th, f := &r.threads[u], &r.futures[u]
	switch {
	case th.absent || th.ended:
		return false
	case th.interrupted:
		return true
	}
	if next := r.nextOf(u); next != nil {
		return r.could(u, f.events[f.done], next)
	}
	// Its next operation is not recorded, but may follow from its last one, or from the
	// operation that was pending when the execution ended.
	if n := len(f.events); n > 0 {
		ev := &r.t.Events[f.events[n-1]]
		switch s := Of(ev.Op); {
		case ev.Op >= trace.OpGo || ev.Result != 0:
		case s.Does == Wait && s.Of == Condition:
			return th.granted && r.free(trace.Object(ev.Aux), u)
		case s.Does == Wait, s.Does == Arrive:
			return th.granted
		}
	}
	if w := f.waiter; w != nil {
		if w.Op == trace.OpThreadJoin || w.Op >= trace.OpGo {
			return w.Ready
		}
		return r.Can(u, &trace.Event{Op: w.Op, Object: w.Object, Value: 1})
	}
	return f.unknown
}

// could reports whether thread u could perform its next event, number i.
func (r *replay) could(u trace.ThreadID, i int32, ev *trace.Event) bool {
	th, s := &r.threads[u], Of(ev.Op)
	switch {
	case th.away:
		return false
	case s.Blocks == UntilResumed:
		return int(r.wakes[i]) < r.at
	case s.Deadline && ev.Result == invalid:
		return true // no deadline to wait for
	case s.Of == Descriptor && s.Blocks != Never && ev.Flags&trace.FlagTimeout != 0:
		return false // the trace does not record whether it could continue; it could not when it timed out
	case ev.Result == Cancelled && th.cancelled:
		return s.Does != Resume || s.Of != Condition || r.free(trace.Object(ev.Aux), u)
	case s.Does == Join && ev.Value < uint64(len(r.threads)) && r.over(trace.ThreadID(ev.Value)):
		return true
	}
	return r.Can(u, ev)
}

// over reports whether a thread without an end event has no events left.
func (r *replay) over(u trace.ThreadID) bool {
	th, f := &r.threads[u], &r.futures[u]
	return !th.absent && f.done == len(f.events) && (int(u) >= len(r.t.Threads) || !r.t.Threads[u].Ended) && f.waiter == nil
}
