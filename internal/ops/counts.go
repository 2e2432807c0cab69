package ops

import "github.com/heddle-dev/heddle/trace"

// assume infers the count before an event from the event, if no count is known.
func (o *Object) assume(ev *trace.Event, a Action) {
	if o.counted || ev.Result != 0 {
		return
	}
	o.counted = true
	switch a {
	case Up:
		o.count = max(int64(ev.Value), 1) - 1
	case Down:
		o.count = int64(ev.Value) + 1
	default:
		o.count = int64(ev.Value)
	}
}

func (s *State) up(_ *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		o := s.Object(ev.Object)
		o.assume(ev, Up)
		s.changed(Upped, ev.Thread, o, int32(o.count))
		o.count++
	}
}

func (s *State) down(_ *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		o := s.Object(ev.Object)
		o.assume(ev, Down)
		s.changed(Downed, ev.Thread, o, int32(o.count))
		o.count--
	}
}

func (s *State) inspect(_ *Spec, ev *trace.Event) { s.Object(ev.Object).assume(ev, Inspect) }

func (s *State) arrive(_ *Spec, ev *trace.Event) {
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	first := len(o.arrived) == 0 || ev.Value == 1 || o.left
	if first {
		o.arrived, o.left = o.arrived[:0], false
		o.generation++
	}
	n := int32(1)
	th.granted, th.arrived = false, o.generation
	switch {
	case o.total == 0:
		n, th.granted = 0, true
	case uint64(len(o.arrived))+1 >= o.total:
		n, th.granted = 2, true
	}
	s.changed(Arrived, ev.Thread, o, n).First = first
	if n < 2 {
		o.arrived = append(o.arrived, ev.Thread)
		return
	}
	for _, u := range o.arrived {
		s.thread(u).granted = true
		s.changed(Opened, u, o, 0)
	}
	o.arrived = o.arrived[:0]
}

func (s *State) depart(_ *Spec, ev *trace.Event) {
	o, known := s.Object(ev.Object), int32(1)
	if o.total == 0 {
		// Only this shows where a generation ends.
		o.left, known = o.left || s.thread(ev.Thread).arrived == o.generation, 0
	}
	s.changed(Departed, ev.Thread, o, known)
}
