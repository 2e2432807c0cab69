package ipc

import (
	"math"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// watchShare is the runtime's share of Loop.Memory for remembered accesses and vector clocks: a
// fourth, as for a plan's watcher.
const watchShare = watcherShare

// maxWatch is the budget where Loop.Memory sets no bound: runtimes reserve that much address space.
const maxWatch = 16 << 30

// watchBudget returns the bytes that a runtime may use to watch an execution.
func watchBudget(memory int64) uint64 {
	if memory <= 0 {
		return maxWatch
	}
	return uint64(memory / watchShare)
}

// watching gathers what the runtime reports of the accesses of one execution.
type watching struct {
	races   []abi.Race
	events  []int // of each race whose place is known: number of the trace's events before it
	profile []abi.Profile
}

// placed notes that the trace has n events, and the runtime has sent as many as sent.
func (w *watching) placed(sent uint64, n int) {
	for i := len(w.events); i < len(w.races) && w.races[i].Event <= sent; i++ {
		w.events = append(w.events, n)
	}
}

// watched returns what was reported, in the controller's form.
func (w *watching) watched(prog Program, rec *recording, r *abi.Result) *schedule.Watched {
	out := &schedule.Watched{Accesses: int(min(r.Watched, math.MaxInt64)), Full: r.Notes&abi.NoteUnwatched != 0}
	stacks := &Stacks{}
	if rec != nil {
		stacks = &rec.who
		w.placed(math.MaxUint64, len(rec.events))
	}
	for i := range w.races {
		a := &w.races[i]
		race := schedule.Race{
			Object: prog.Object(a.Object, stacks, trace.ThreadID(a.Thread[1])), Size: a.Size,
			Order: int(min(a.Order, math.MaxInt64)), Handler: a.Flags&abi.RaceHandler != 0,
		}
		for k := range race.Sites {
			race.Sites[k], race.Ops[k], race.Threads[k] = prog.Site(a.Pc[k]), trace.Op(a.Op[k]), trace.ThreadID(a.Thread[k])
		}
		if rec != nil {
			race.Event = w.events[i]
			if int(a.Stack) < len(rec.stacks) {
				race.Stack = a.Stack
			}
		}
		out.Races = append(out.Races, race)
	}
	if len(w.profile) > 0 {
		out.Counts = make(map[trace.Site]int, len(w.profile))
	}
	for _, p := range w.profile {
		out.Counts[prog.Site(p.Pc)] += int(min(p.Count, math.MaxInt32))
	}
	return out
}
