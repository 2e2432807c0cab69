package ops

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

func (s *State) init(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	o := s.Object(ev.Object)
	o.forget()
	switch spec.Of {
	case Semaphore:
		o.counted, o.count = true, int64(ev.Value)
	case Barrier:
		o.total = ev.Value
	}
	s.changed(Forgotten, ev.Thread, o, 0)
}

func (s *State) destroy(_ *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	// The object keeps its number: the next object at this address reuses its slice entries in
	// analyses.
	o := s.Object(ev.Object)
	o.forget()
	s.changed(Forgotten, ev.Thread, o, 0)
}

func (o *Object) forget() {
	*o = Object{Num: o.Num, Name: o.Name, holds: o.holds[:0], queue: o.queue[:0], arrived: o.arrived[:0], generation: o.generation + 1, signals: o.signals}
}

// announced ends the wait of a writer that blocked readers.
func (s *State) announced(t trace.ThreadID, o *Object) {
	if th := s.thread(t); th.announced == o {
		o.announced = max(0, o.announced-1)
		th.announced = nil
	}
}

func (s *State) announce(_ *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	o.announced++
	s.thread(ev.Thread).announced = o
}

func (s *State) acquire(spec *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	if spec.Of == RWLock {
		s.announced(ev.Thread, o)
	}
	if spec.Done(ev) {
		s.own(ev.Thread, o, 1)
	}
}

// own makes a thread the exclusive holder.
func (s *State) own(t trace.ThreadID, o *Object, times int32) {
	depth := times
	if h := o.holdOf(t); h != nil && (!o.shared || len(o.holds) == 1) {
		h.Depth += times
		depth = h.Depth
	} else {
		o.holds = append(o.holds[:0], Hold{t, times, s.event})
	}
	o.shared = false
	s.changed(Acquired, t, o, times).Depth = depth
}

func (s *State) acquireShared(spec *Spec, ev *trace.Event) {
	if spec.Done(ev) {
		s.share(ev.Thread, s.Object(ev.Object))
	}
}

// share makes a thread a shared holder.
func (s *State) share(t trace.ThreadID, o *Object) {
	depth := int32(1)
	if h := o.holdOf(t); h != nil {
		h.Depth++
		depth = h.Depth
	} else {
		if !o.shared {
			o.holds = o.holds[:0]
		}
		o.holds = append(o.holds, Hold{t, 1, s.event})
		o.shared = true
	}
	s.changed(AcquiredShared, t, o, 1).Depth = depth
}

func (s *State) begin(_ *Spec, ev *trace.Event) {
	switch o := s.Object(ev.Object); {
	case ev.Result != 0:
	case ev.Value == 1:
		s.own(ev.Thread, o, 1)
	default:
		s.changed(Passed, ev.Thread, o, 0)
	}
}

func (s *State) release(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	o, kind := s.Object(ev.Object), Released
	if spec.Of == RWLock && (o.shared || o.holdOf(ev.Thread) == nil) {
		kind = ReleasedShared
	}
	if kind == ReleasedShared && !o.shared {
		s.changed(kind, ev.Thread, o, 1) // the exclusive holder still holds it
		return
	}
	depth := o.drop(ev.Thread, 1)
	s.changed(kind, ev.Thread, o, 1).Depth = depth
}

func (s *State) abandon(_ *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	n := o.depth(ev.Thread)
	o.holds = o.holds[:0]
	s.changed(Released, ev.Thread, o, n)
}

// depth returns the depth of thread t's hold, or of the first holder's if t holds nothing; 1 if no
// holder is known.
func (o *Object) depth(t trace.ThreadID) int32 {
	if h := o.holdOf(t); h != nil {
		return h.Depth
	}
	if len(o.holds) > 0 && !o.shared {
		return o.holds[0].Depth
	}
	return 1
}

// drop releases thread t's hold, or the first hold if t has none. It returns the remaining depth.
func (o *Object) drop(t trace.ThreadID, times int32) int32 {
	if len(o.holds) == 0 {
		return 0
	}
	h := o.holdOf(t)
	if h == nil {
		h = &o.holds[0]
	}
	if h.Depth -= times; h.Depth > 0 {
		return h.Depth
	}
	if len(o.holds) == 1 {
		o.holds = o.holds[:0]
	} else {
		o.holds = slices.DeleteFunc(o.holds, func(h Hold) bool { return h.Depth <= 0 })
	}
	return 0
}

// goAcquire handles a blocking lock. A trace does not record whether a try-lock acquired. Go's locks are not recursive: whoever held it
// has released it, or the program has overwritten it.
func (s *State) goAcquire(spec *Spec, ev *trace.Event, blocked bool) {
	if !blocked && spec.Blocks != Never {
		o := s.Object(ev.Object)
		o.holds = o.holds[:0]
		s.own(ev.Thread, o, 1)
	}
}

func (s *State) goAcquireShared(spec *Spec, ev *trace.Event, blocked bool) {
	if !blocked && spec.Blocks != Never {
		s.share(ev.Thread, s.Object(ev.Object))
	}
}

func (s *State) goRelease(_ *Spec, ev *trace.Event, _ bool) {
	o := s.Object(ev.Object)
	depth := o.drop(ev.Thread, 1)
	s.changed(Released, ev.Thread, o, 1).Depth = depth
}
