package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Watching is a Target that watches for races in place. It finds those that the reference detector
// finds in all its events.
type Watching struct{ *Target }

// NewWatching returns a target that runs a program and watches it.
func NewWatching(p Program) Watching { return Watching{New(p)} }

// WatchesRaces implements target.RaceWatcher.
func (Watching) WatchesRaces() bool { return true }

// watched returns what a target that watches finds in an execution. t has all accesses.
func watched(t *trace.Trace) *schedule.Watched {
	w := &schedule.Watched{Counts: map[trace.Site]int{}}
	d := race.Bounded(0)
	type place struct{ event, accesses int } // how many precede what the detector was shown
	var places []place
	show := func(event int, e *trace.Event) {
		places = append(places, place{event, w.Accesses})
		d.Event(e)
	}
	allocs := t.Allocs
	for i := range t.Events {
		for len(allocs) > 0 && allocs[0].Event <= i {
			show(i, allocation(&allocs[0]))
			allocs = allocs[1:]
		}
		e := &t.Events[i]
		show(i, e)
		switch e.Op.Class() {
		case trace.ClassRead, trace.ClassWrite:
			w.Counts[e.Site]++
			fallthrough
		case trace.ClassALoad, trace.ClassAStore, trace.ClassARMW:
			w.Accesses++
		}
	}
	found := d.Races()
	slices.SortFunc(found, race.Race.Before)
	for i := range found {
		r := &found[i]
		x := schedule.Race{Object: r.Object, Size: r.Size, Order: places[r.Second].accesses, Event: places[r.Second].event, Stack: r.Witness[1].Stack}
		for k, a := range r.Witness {
			x.Sites[k], x.Ops[k], x.Threads[k] = a.Site, a.Op, a.Thread
		}
		w.Races = append(w.Races, x)
	}
	return w
}
