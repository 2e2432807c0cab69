package ops

import "github.com/heddle-dev/heddle/trace"

// bit returns a signal's bit in a set, 0 for an invalid number.
func bit(number uint64) uint64 { return 1 << (number - 1) }

func (s *State) send(_ *Spec, ev *trace.Event) {
	if to := ev.Aux - 1; ev.Result == 0 && to < uint64(len(s.threads)) {
		s.threads[to].signals |= bit(ev.Value)
	} else if ev.Result == 0 {
		s.Object(ev.Object).signals |= bit(ev.Value)
	}
}

func (s *State) take(spec *Spec, ev *trace.Event) {
	th := s.thread(ev.Thread)
	if ev.Op == trace.OpSignalInterrupt {
		th.interrupted = true
	}
	if ev.Flags&trace.FlagNoDecision != 0 || !spec.Done(ev) {
		return // a fault has no sender
	}
	o, b := s.Object(ev.Object), bit(ev.Value)
	switch {
	case th.signals&b != 0:
		th.signals &^= b
	case o.signals&b != 0:
		o.signals &^= b
	default:
		s.Object(0).signals &^= b
	}
}

func (s *State) transmit(_ *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		s.Object(ev.Object).count += int64(ev.Value)
	}
}

func (s *State) receive(_ *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		s.Object(ev.Object).count -= int64(ev.Value)
	}
}

// connect also handles a connection in progress.
func (s *State) connect(_ *Spec, ev *trace.Event) { s.Object(ev.Object).count++ }

func (s *State) accept(_ *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		s.Object(ev.Object).count--
	}
}

func (s *State) close(_ *Spec, ev *trace.Event) { s.Object(ev.Object).closed = true }
