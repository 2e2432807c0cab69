package ipc

import (
	"math"
	"sort"

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
	profile []abi.Profile
	runs    []run // of a recorded execution, from its first event on
}

// run is a run of sent events that all became events of the trace, or all did not. Runs make a
// race's place known whenever it arrives: the runtimes may send it long after the events around it.
type run struct {
	sent    uint64 // events that the runtime had sent before
	n       int    // of these, those in the trace
	dropped bool
}

// index returns how many of the first sent events are in the trace, if they all belong to r.
func (r run) index(sent uint64) int {
	if r.dropped {
		return r.n
	}
	return r.n + int(sent-r.sent)
}

// placed notes that n of the first sent events are in the trace. It is called with each number of
// sent events in turn.
func (w *watching) placed(sent uint64, n int) {
	switch k := len(w.runs); {
	case k == 0:
		w.runs = append(w.runs, run{sent: sent, n: n})
	case w.runs[k-1].index(sent) != n:
		before := w.runs[k-1].index(sent - 1)
		w.runs = append(w.runs, run{sent: sent - 1, n: before, dropped: n == before})
	}
}

// event returns the index of rec's event that follows the first sent events.
func (w *watching) event(sent uint64, rec *recording) int {
	if sent >= rec.sent {
		return len(rec.events)
	}
	after := sort.Search(len(w.runs), func(i int) bool { return w.runs[i].sent > sent })
	return w.runs[after-1].index(sent)
}

// watched returns what was reported, in the controller's form.
func (w *watching) watched(prog Program, rec *recording, r *abi.Result) *schedule.Watched {
	out := &schedule.Watched{Accesses: int(min(r.Watched, math.MaxInt64)), Full: r.Notes&abi.NoteUnwatched != 0}
	stacks := &Stacks{}
	if rec != nil {
		stacks = &rec.who
		w.placed(rec.sent, len(rec.events))
	}
	for i := range w.races {
		a := &w.races[i]
		race := schedule.Race{
			Object: prog.Object(a.Object, stacks, trace.ThreadID(a.Thread[1])), Size: a.Size,
			Order: int(min(a.Order, math.MaxInt64)), Handler: a.Flags != 0,
		}
		for k := range race.Sites {
			race.Sites[k], race.Ops[k], race.Threads[k] = prog.Site(a.Pc[k]), trace.Op(a.Op[k]), trace.ThreadID(a.Thread[k])
		}
		if rec != nil {
			race.Event = w.event(a.Event, rec)
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
