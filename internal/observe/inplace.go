package observe

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// InPlace returns what an execution showed that its target watched (schedule.Plan.Watch). o.Watched
// is not nil; the result shares its counts. points are the plan's.
func InPlace(o *schedule.Outcome, points []trace.Site) Observation {
	w := o.Watched
	s := Observation{Shown: w.Accesses, Accesses: w.Counts}
	for i := range w.Races {
		if r := &w.Races[i]; r.Handler {
			s.Handlers = append(s.Handlers, r.Sites[:]...)
		} else {
			s.Races = append(s.Races, raceOf(r))
		}
	}
	slices.SortFunc(s.Races, race.Race.Compare)
	slices.Sort(s.Handlers)
	s.Handlers = slices.Compact(s.Handlers)
	if w.Full {
		s.Incomplete = fmt.Sprintf("an execution touches too much memory: the first %d accesses were looked at, and races after them are not seen", w.Accesses)
	}
	if o.Trace == nil {
		s.Sync = o.Points
		for _, p := range points {
			s.Sync -= w.Counts[p]
		}
		s.Sync = max(s.Sync, 0)
		s.Events, s.Sent = s.Sync, s.Sync
		for _, n := range w.Counts {
			s.Events += n
		}
		return s
	}
	s.Sent = len(o.Trace.Events)
	for i := range o.Trace.Events {
		switch e := &o.Trace.Events[i]; {
		case e.Op.IsAccess(), e.Op == trace.OpMalloc:
		case e.Flags&trace.FlagNoDecision == 0:
			s.Sync++
			fallthrough
		default:
			s.Events++
		}
	}
	for _, n := range w.Counts {
		s.Events += n
	}
	return s
}

// raceOf converts a race that a target found to the form of package race's detector.
func raceOf(r *schedule.Race) race.Race {
	x := race.Race{First: -1, Second: r.Order, Event: r.Event, Object: r.Object, Size: r.Size}
	for i := range r.Sites {
		x.Pair[i] = race.Access{Site: r.Sites[i], Op: r.Ops[i]}
		x.Witness[i] = trace.Access{Thread: r.Threads[i], Op: r.Ops[i], Site: r.Sites[i], Object: r.Object, Size: r.Size}
	}
	x.Witness[1].Stack = r.Stack
	x.Normalize()
	return x
}
