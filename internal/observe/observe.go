// Package observe summarises an execution. Observation is all that an exploration learns from a
// watched execution besides its trace. It means the same for both kinds of watcher:
//
//   - the target itself, while the program ran (schedule.Plan.Watch): see InPlace;
//   - an Observer, to which a target that cannot do that sends every access (schedule.Plan.Watcher).
//     The Observer keeps no events, so that an execution may have any length in bounded memory. It is
//     the reference that targets are tested against.
package observe

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/trace"
)

// Observation is what one execution showed.
type Observation struct {
	// Races, ordered by Pair. Indices of an Observer's count all events that it was shown.
	Races []race.Race
	// Handlers are the memory instructions, in ascending order, between which the delivery of a
	// signal may matter, and those of race.Detector.Beside; they are not races (race.Handlers). An Observer leaves the former to its
	// caller, which has the trace.
	Handlers []trace.Site
	// Incomplete says why races may be missing; empty if the whole execution was examined.
	Incomplete string
	// Shown counts the accesses examined; More says that others followed.
	Shown int
	More  bool
	// Accesses counts, by instruction, the accesses examined that can become scheduling points.
	// Sync counts the scheduling points that do not depend on the plan.
	Accesses map[trace.Site]int
	Sync     int
	// Events counts the threads' operations, accesses included. Sent counts those sent from the
	// program to heddle, or that would be if the execution was recorded.
	Events, Sent int
}

// Observer builds an Observation from the events of an execution. It implements schedule.Watcher.
type Observer struct {
	races  *race.Detector
	seen   Observation
	counts map[trace.Site]*int
	recent [256]struct {
		site  trace.Site
		count *int
	}
}

// Begin implements schedule.Watcher.
func (o *Observer) Begin(memory int64) {
	*o = Observer{races: race.Bounded(memory), counts: map[trace.Site]*int{}}
}

// Event implements schedule.Watcher.
func (o *Observer) Event(e *trace.Event) {
	o.seen.Events++
	switch {
	case e.Op.IsAccess():
		o.seen.Shown++
		*o.count(e.Site)++
	case e.Flags&trace.FlagNoDecision == 0:
		o.seen.Sync++
	}
	o.races.Event(e)
}

// count returns the counter of an instruction.
func (o *Observer) count(s trace.Site) *int {
	r := &o.recent[uint64(s)*0x9e3779b97f4a7c15>>56]
	if r.count == nil || r.site != s {
		n := o.counts[s]
		if n == nil {
			n = new(int)
			o.counts[s] = n
		}
		r.site, r.count = s, n
	}
	return r.count
}

// Unseen implements schedule.Watcher.
func (o *Observer) Unseen() {
	if o.seen.Events == 0 {
		o.seen.Incomplete = "accesses were not looked at from the beginning of an execution"
		return
	}
	o.seen.More = true
	o.seen.Incomplete = fmt.Sprintf("an execution has too many accesses to memory: they were analysed up to event %d (%d accesses), and races after it are not seen", o.seen.Events, o.seen.Shown)
}

// Seen returns the Observation of the last execution shown, or an empty one.
func (o *Observer) Seen() Observation {
	s := o.seen
	s.Sent = s.Events
	if o.races == nil {
		return s
	}
	s.Races, s.Handlers = o.races.Races(), o.races.Beside()
	s.Accesses = make(map[trace.Site]int, len(o.counts))
	for site, n := range o.counts {
		s.Accesses[site] = *n
	}
	if full := o.races.Full(); full > 0 {
		s.Incomplete = fmt.Sprintf("an execution touches too much memory: accesses were analysed up to event %d, and races after it are not seen", full)
	}
	return s
}
