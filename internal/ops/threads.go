package ops

import "github.com/heddle-dev/heddle/trace"

func (s *State) create(spec *Spec, ev *trace.Event) {
	if id, ok := ev.Child(); ok && int(id) < len(s.threads) {
		s.threads[id].absent = false
	}
}

func (s *State) end(spec *Spec, ev *trace.Event) { s.thread(ev.Thread).ended = true }

func (s *State) exit(spec *Spec, ev *trace.Event) { s.thread(ev.Thread).cancelled = true }

func (s *State) cancel(spec *Spec, ev *trace.Event) {
	if ev.Value < uint64(len(s.threads)) {
		s.threads[ev.Value].cancelled = true
	}
}

func (s *State) switches(spec *Spec, ev *trace.Event) {
	s.thread(ev.Thread).away = true
	if ev.Value < uint64(len(s.threads)) {
		s.threads[ev.Value].away = false
	}
}
