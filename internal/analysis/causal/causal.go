// Package causal turns happens-before over a recorded execution into what tools draw: vector clocks that
// count the events of each thread (Fidge, 1988; Mattern, 1989), and the edges of its transitive reduction
// between threads.
package causal

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/trace"
)

// Step is an event with what happened before it. Only the counted events appear in it.
type Step struct {
	Event int // index into the trace's events
	// Clock is, by thread, how many of its events happened before this one; of the event's own thread,
	// that includes the event itself.
	Clock []int32
	// After are the events of other threads that happened immediately before this one, ascending: no
	// other event lies between in happens-before.
	After []int
}

// mark is a time of a chain: the latest counted event of its thread by then, and what that knew.
type mark struct {
	time   uint32
	thread trace.ThreadID
	count  int32   // events of the thread by then
	event  int     // the latest of them; -1: it has had none
	clock  []int32 // of that event, without its own thread; shared
}

// thread is the state of a thread.
type thread struct {
	count int32    // its events so far
	clock []int32  // events of other threads; shared, replaced when it changes; nil for none
	known []uint32 // by chain: the time up to which marks have been joined into clock
	found []mark   // that clock has learnt of since the last counted event
}

// Each calls f for each counted event of a valid trace, in recorded order. The step is valid during the
// call. Events that are not counted order the others, and appear nowhere.
func Each(tr *trace.Trace, counted func(event int) bool, f func(*Step)) {
	engine := hb.New()
	var chains [][]mark
	threads := make([]thread, len(tr.Threads))
	step := Step{Clock: make([]int32, len(tr.Threads))}
	for i := range tr.Events {
		e := &tr.Events[i]
		engine.Event(e)
		t := &threads[e.Thread]
		epoch := engine.Epoch(e.Thread)
		for int(epoch.Chain()) >= len(chains) {
			chains = append(chains, nil)
		}
		t.learn(e.Thread, engine.Clock(e.Thread), chains, len(tr.Threads))
		last := -1
		if counted(i) {
			t.count++
			last = i
			step.Event, step.After = i, t.latest()
			clear(step.Clock)
			copy(step.Clock, t.clock)
			step.Clock[e.Thread] = t.count
			f(&step)
		}
		chain := &chains[epoch.Chain()]
		m := mark{epoch.Time(), e.Thread, t.count, last, t.clock}
		if n := len(*chain); n > 0 && (*chain)[n-1].thread == e.Thread {
			if last < 0 {
				m.event, m.clock = (*chain)[n-1].event, (*chain)[n-1].clock
			}
			if (*chain)[n-1].time == m.time {
				(*chain)[n-1] = m
				continue
			}
		}
		*chain = append(*chain, m)
	}
}

// learn joins what a clock has more than t knows. The events of a chain are ordered by happens-before, so
// the latest counted one that the clock covers knows all the others. Those of different chains are joined
// from the last to the first, since the last ones tend to know the others.
func (t *thread) learn(self trace.ThreadID, clock *hb.Clock, chains [][]mark, n int) {
	for len(t.known) < len(chains) {
		t.known = append(t.known, 0)
	}
	var fresh []mark
	for c, marks := range chains {
		time, known := clock.Time(hb.Chain(c)), t.known[c]
		if time <= known {
			continue
		}
		t.known[c] = time
		after, _ := slices.BinarySearchFunc(marks, time+1, func(m mark, time uint32) int { return cmp.Compare(m.time, time) })
		last := after - 1
		for last >= 0 && marks[last].time > known && marks[last].event < 0 {
			last--
		}
		if last >= 0 && marks[last].time > known && marks[last].thread != self {
			fresh = append(fresh, marks[last])
		}
	}
	if len(fresh) > 1 {
		slices.SortFunc(fresh, func(a, b mark) int { return b.event - a.event })
	}
	learnt := false
	for _, m := range fresh {
		if t.clock != nil && m.count <= t.clock[m.thread] {
			continue
		}
		if !learnt {
			learnt = true
			t.clock = append(make([]int32, 0, n), t.clock...)[:n]
		}
		for u, count := range m.clock {
			t.clock[u] = max(t.clock[u], count)
		}
		t.clock[self] = 0 // its own events are in count
		t.clock[m.thread] = m.count
		t.found = append(t.found, m)
	}
}

// latest returns the events found that happened before no other one found, and forgets all.
func (t *thread) latest() (out []int) {
	slices.SortFunc(t.found, func(a, b mark) int { return b.event - a.event })
	var accepted []mark
	for _, a := range t.found {
		implied := slices.ContainsFunc(accepted, func(b mark) bool {
			return a.thread == b.thread || b.clock != nil && b.clock[a.thread] >= a.count
		})
		if !implied {
			accepted = append(accepted, a)
			out = append(out, a.event)
		}
	}
	t.found = t.found[:0]
	slices.Reverse(out)
	return out
}
