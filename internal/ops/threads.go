package ops

import "github.com/heddle-dev/heddle/trace"

func (s *State) create(_ *Spec, ev *trace.Event) {
	if id, ok := ev.Child(); ok && int(id) < len(s.threads) {
		s.threads[id].absent = false
	}
}

func (s *State) end(_ *Spec, ev *trace.Event) { s.thread(ev.Thread).ended = true }

func (s *State) exit(_ *Spec, ev *trace.Event) { s.thread(ev.Thread).cancelled = true }

func (s *State) cancel(_ *Spec, ev *trace.Event) {
	if ev.Value < uint64(len(s.threads)) {
		s.threads[ev.Value].cancelled = true
	}
}

func (s *State) switches(_ *Spec, ev *trace.Event) {
	s.thread(ev.Thread).away = true
	if ev.Value < uint64(len(s.threads)) {
		s.threads[ev.Value].away = false
	}
}
