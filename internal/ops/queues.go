package ops

import (
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

func (s *State) wait(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	th.unqueue(ev.Thread)
	th.at, th.queued, th.granted, th.woken = o, true, false, false
	o.queue = append(o.queue, ev.Thread)
	s.changed(Waits, ev.Thread, o, 0)
	if spec.Of == Condition {
		m := s.Object(trace.Object(ev.Aux))
		th.depth = m.depth(ev.Thread)
		depth := m.drop(ev.Thread, th.depth)
		s.changed(Released, ev.Thread, m, th.depth).Depth = depth
	}
}

// unqueue removes the thread from its queue.
func (th *thread) unqueue(t trace.ThreadID) {
	if th.queued {
		th.queued = false
		th.at.queue = slices.DeleteFunc(th.at.queue, func(u trace.ThreadID) bool { return u == t })
	}
}

func (s *State) resume(spec *Spec, ev *trace.Event) {
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	th.unqueue(ev.Thread)
	woken := int32(0)
	if th.woken && (ev.Result == 0 || (ev.Result == OwnerDead || ev.Result == NotRecoverable) && ev.Flags&trace.FlagTimeout == 0) {
		woken = 1
	}
	th.woken = false
	s.changed(Resumed, ev.Thread, o, woken)
	if spec.Of == Condition && spec.Done(ev) {
		s.own(ev.Thread, s.Object(trace.Object(ev.Aux)), max(1, th.depth))
	}
	th.depth = 0
}

func (s *State) leave(_ *Spec, ev *trace.Event) {
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	th.unqueue(ev.Thread)
	th.granted = true
	s.changed(Left, ev.Thread, o, 0)
}

// wake ends the wait of a thread that is, or may be, waiting at o.
func (s *State) wake(u trace.ThreadID, o *Object) {
	th := s.thread(u)
	th.unqueue(u)
	th.granted, th.woken = true, true
	s.changed(Woke, u, o, 0)
}

func (s *State) wakeOne(_ *Spec, ev *trace.Event) {
	if ev.Value > 0 && ev.Value <= trace.MaxThreads {
		s.wake(trace.ThreadID(ev.Value)-1, s.Object(ev.Object))
	}
}

func (s *State) wakeAll(_ *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	for len(o.queue) > 0 {
		s.wake(o.queue[0], o)
	}
}

func (s *State) wakeSome(spec *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	switch named := ev.Aux - 1; {
	case ev.Value == 0:
	case ev.Value == 1 && named < trace.MaxThreads:
		s.wake(trace.ThreadID(named), o)
	case ev.Value >= uint64(len(o.queue)):
		s.wakeAll(spec, ev)
	case s.next != nil:
		n := ev.Value
		for _, u := range slices.Clone(o.queue) {
			// Skip a thread whose wait timed out or was spurious.
			if next := s.next(u); n > 0 && (next == nil || next.Result == 0 && Does(next.Op) != Leave) {
				s.wake(u, o)
				n--
			}
		}
	default:
		for _, u := range o.queue {
			th := s.thread(u)
			th.granted, th.woken = true, true
			s.changed(MayWake, u, o, 0)
		}
	}
}
