package ops

import "github.com/heddle-dev/heddle/trace"

// Can reports whether thread t could perform an operation now. Of the event only Op, Object, Aux,
// Value and Result matter, with the values that they have once the operation is done. State that a
// trace does not record counts as not reached (time) or as available (space in a pipe).
func (s *State) Can(t trace.ThreadID, ev *trace.Event) bool {
	can := met[Of(ev.Op).Blocks]
	return can == nil || can(s, t, ev)
}

// met reports, for each condition, whether it holds for a thread and its operation.
var met = [conditions]func(*State, trace.ThreadID, *trace.Event) bool{
	UntilFree: func(s *State, t trace.ThreadID, ev *trace.Event) bool { return s.free(ev.Object, t) },
	UntilReadable: func(s *State, t trace.ThreadID, ev *trace.Event) bool {
		o := s.Object(ev.Object)
		return len(o.holds) == 0 && o.announced == 0 || o.shared && o.announced == 0 || !o.shared && o.holdOf(t) != nil
	},
	UntilDone:  func(s *State, _ trace.ThreadID, ev *trace.Event) bool { return len(s.Object(ev.Object).holds) == 0 },
	UntilWoken: func(s *State, t trace.ThreadID, _ *trace.Event) bool { return s.thread(t).granted },
	UntilReacquired: func(s *State, t trace.ThreadID, ev *trace.Event) bool {
		return s.thread(t).granted && s.free(trace.Object(ev.Aux), t)
	},
	UntilPositive: func(s *State, _ trace.ThreadID, ev *trace.Event) bool { return s.Object(ev.Object).count > 0 },
	UntilEnded: func(s *State, _ trace.ThreadID, ev *trace.Event) bool {
		// With EBUSY it did not wait.
		return ev.Result == busy || ev.Value >= uint64(len(s.threads)) || s.threads[ev.Value].ended
	},
	UntilSignal: func(s *State, t trace.ThreadID, ev *trace.Event) bool {
		return (s.Object(ev.Object).signals|s.Object(0).signals|s.thread(t).signals)&ev.Aux != 0
	},
	UntilDelivery: func(s *State, t trace.ThreadID, ev *trace.Event) bool {
		return ev.Value == 0 || (s.Object(0).signals|s.thread(t).signals)&bit(ev.Value) != 0
	},
	UntilHandled: func(s *State, t trace.ThreadID, _ *trace.Event) bool { return s.thread(t).interrupted },
	UntilTime:    func(*State, trace.ThreadID, *trace.Event) bool { return false },
	UntilInput: func(s *State, _ trace.ThreadID, ev *trace.Event) bool {
		// An end of file and an error carry no data; they are available when the trace has
		// them. No thread blocks on a file. Which signals a signalfd gives is not recorded.
		o := s.Object(ev.Object)
		kind, _, _ := ev.Object.Channel()
		return ev.Value == 0 || o.count > 0 || o.closed || kind == trace.ChannelFile || kind == trace.ChannelSignals
	},
}

// free reports whether thread t could acquire a lock exclusively.
func (s *State) free(name trace.Object, t trace.ThreadID) bool {
	o := s.Object(name)
	return len(o.holds) == 0 || !o.shared && o.holdOf(t) != nil
}
