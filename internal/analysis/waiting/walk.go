package waiting

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Bounds of Walk.
const (
	firstWindow = 1 << 10 // accesses
	lastWindow  = 1 << 22
	leastTurns  = 16
	mostPassed  = 1 << 12 // how often an instruction may be passed before
)

// Walk watches an execution with a thread that accesses memory again and again and reaches no scheduling point any more, as one that
// walks round a list. It looks for an instruction by which the thread comes in each turn: where that is a scheduling point, the thread
// can be seen to repeat itself.
type Walk struct {
	within func(trace.Site) bool
	found  func()

	decisions int
	thread    trace.ThreadID
	passed    map[trace.Site][]Pass

	// Of the accesses since the last decision, in windows twice as long as the one before: the first half of each is to be what
	// occurs in the second.
	window, accesses int
	places           map[place]bool
	strange          int // accesses of the second half that did not occur in the first
	inside           bool
	reads            map[trace.Site]*reading

	site trace.Site
	over bool
}

// Pass is one time that a thread has passed an instruction, after so many scheduling decisions.
type Pass struct {
	Decisions int
	Thread    trace.ThreadID
}

// reading is what an instruction reads.
type reading struct {
	turns  int
	values map[trace.Object]uint64
	varies bool
}

// NewWalk returns a watcher that calls found when it has found the instruction, or found none. A turn leads through code that within
// accepts.
func NewWalk(within func(trace.Site) bool, found func()) *Walk {
	w := &Walk{within: within, found: found}
	w.Begin(0)
	return w
}

// Begin implements schedule.Watcher.
func (w *Walk) Begin(int64) {
	*w = Walk{within: w.within, found: w.found, passed: map[trace.Site][]Pass{}}
	w.open(firstWindow)
}

// Unseen implements schedule.Watcher.
func (w *Walk) Unseen() { w.end() }

func (w *Walk) open(window int) {
	w.window, w.accesses, w.strange, w.inside = window, 0, 0, false
	w.places, w.reads = map[place]bool{}, map[trace.Site]*reading{}
}

func (w *Walk) end() {
	if !w.over {
		w.over = true
		w.found()
	}
}

// Event implements schedule.Watcher.
func (w *Walk) Event(e *trace.Event) {
	if w.over {
		return
	}
	if e.Flags&trace.FlagNoDecision == 0 {
		w.decisions++
		if w.accesses > 0 || w.window > firstWindow {
			w.open(firstWindow)
		}
		return
	}
	does := ops.Of(e.Op).Does
	if does != ops.Read && does != ops.Write {
		return
	}
	if e.Thread != w.thread {
		w.thread = e.Thread
		w.open(firstWindow)
	}
	if p := w.passed[e.Site]; len(p) < mostPassed && e.Op == trace.OpRead {
		w.passed[e.Site] = append(p, Pass{w.decisions, e.Thread})
	}
	if w.accesses++; w.accesses <= w.window/2 {
		w.places[actOf(e).place] = true
		return
	}
	if !w.places[actOf(e).place] {
		w.strange++
	}
	if e.Op == trace.OpRead {
		w.read(e)
	}
	w.inside = w.inside || w.within(e.Site)
	if w.accesses < w.window {
		return
	}
	if w.strange == 0 && w.inside {
		if w.site = w.choose(); w.site != 0 {
			w.end()
			return
		}
	}
	if w.window == lastWindow {
		w.end()
		return
	}
	w.open(w.window * 2)
}

func (w *Walk) read(e *trace.Event) {
	r := w.reads[e.Site]
	if r == nil {
		r = &reading{values: map[trace.Object]uint64{}}
		w.reads[e.Site] = r
	}
	r.turns++
	if v, ok := r.values[e.Object]; ok && v != e.Value {
		r.varies = true
	}
	r.values[e.Object] = e.Value
}

// choose returns the instruction that is passed least often, of those that read the same in each turn; 0 for none.
func (w *Walk) choose() (site trace.Site) {
	for s, r := range w.reads {
		if r.turns < leastTurns || r.varies {
			continue
		}
		if p := w.passed[s]; len(p) == mostPassed && p[mostPassed-1].Decisions < w.decisions {
			continue
		}
		if site == 0 || cmp.Or(cmp.Compare(r.turns, w.reads[site].turns), cmp.Compare(s, site)) < 0 {
			site = s
		}
	}
	return site
}

// Site returns the instruction, and when threads passed it before the last scheduling decision; 0 for none.
func (w *Walk) Site() (site trace.Site, before []Pass) {
	if w.site != 0 {
		before = slices.DeleteFunc(slices.Clone(w.passed[w.site]), func(p Pass) bool { return p.Decisions >= w.decisions })
	}
	return w.site, before
}
