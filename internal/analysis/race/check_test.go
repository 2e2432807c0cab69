package race

import "github.com/heddle-dev/heddle/trace"

// New returns a detector without a bound on its memory.
func New() *Detector { return Bounded(0) }

// Check finds the races of a recorded execution, ordered by Pair. It sees the accesses
// that were recorded: all of them if the plan requested them (schedule.Plan.Accesses).
func Check(t *trace.Trace) []Race { return New().check(t) }

func (d *Detector) check(t *trace.Trace) []Race {
	created := make([]bool, len(t.Threads))
	for i := range t.Events {
		if id, ok := t.Events[i].Child(); ok && int(id) < len(created) {
			created[id] = true
		}
	}
	for id := range t.Threads {
		if !created[id] {
			d.engine.Announce(trace.ThreadID(id))
		}
	}
	allocs := t.Allocs
	for i := range t.Events {
		for len(allocs) > 0 && allocs[0].Event <= i {
			d.reset(allocs[0].Object, allocs[0].Size)
			allocs = allocs[1:]
		}
		d.Event(&t.Events[i])
	}
	return d.Races()
}
