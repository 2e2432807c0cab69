package engine

import (
	"context"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// apartMost bounds the occurrences that apart removes.
	apartMost = 64
	// apartRounds is how many executions makeApart makes, each from the one before it.
	apartRounds = 4
	// apartBack is how many occurrences are put back, each alone.
	apartBack = 8
	// apartWords is how much of an access is looked at, in words.
	apartWords = 64
)

// apart makes the script in which nothing comes between p and c of some interleavings: what a thread does from p to c comes as soon as p, or
// as late as c.
func apart(t *trace.Trace, list []atomicity.Interleaving, late bool) []schedule.Step {
	events := t.Events
	for range apartMost {
		o := firstOf(events, list)
		if o == nil {
			break
		}
		thread, from := events[o.p].Thread, o.p
		if late {
			now := *t
			now.Events = events
			from, _ = enclosing(&now, o.p)
		}
		var own, rest []trace.Event
		for _, ev := range events[from : o.c+1] {
			if ev.Thread == thread {
				own = append(own, ev)
			} else {
				rest = append(rest, ev)
			}
		}
		if late {
			own, rest = rest, own
		}
		events = slices.Concat(events[:from], own, rest, events[o.c+1:])
	}
	return experiment.Steps(events)
}

// firstOf returns the first occurrence of some interleavings, by its c; nil for none.
func firstOf(events []trace.Event, list []atomicity.Interleaving) *occurrence {
	type begun struct {
		p, r int
		of   *atomicity.Interleaving
	}
	type word struct {
		last  map[trace.ThreadID]int
		begun map[trace.ThreadID][]begun
	}
	words := map[trace.Object]*word{}
	for i := range events {
		ev := &events[i]
		if !atomicity.Accesses(ev) || ev.Object == 0 {
			continue
		}
		object, size := race.Place(ev)
		for n, at := 0, object&^7; n < apartWords && at < object+trace.Object(size); n, at = n+1, at+8 {
			w := words[at]
			if w == nil {
				w = &word{map[trace.ThreadID]int{}, map[trace.ThreadID][]begun{}}
				words[at] = w
			}
			for _, b := range w.begun[ev.Thread] {
				if is(ev, b.of.C) && race.Overlap(ev, &events[b.r]) {
					return &occurrence{p: b.p, r: b.r, c: i}
				}
			}
			delete(w.begun, ev.Thread)
			for thread, p := range w.last {
				if thread == ev.Thread {
					continue
				}
				for k := range list {
					if is(&events[p], list[k].P) && is(ev, list[k].R) && race.Overlap(&events[p], ev) {
						w.begun[thread] = append(w.begun[thread], begun{p, i, &list[k]})
					}
				}
			}
			w.last[ev.Thread] = i
		}
	}
	return nil
}

// makeApart executes schedules near that of an execution until one passes or has none of the interleavings; nil if none does.
func (x *counter) makeApart(ctx context.Context, t *trace.Trace, list []atomicity.Interleaving, late bool) (*experiment.Result, error) {
	for range apartRounds {
		on := x.On(decisive(t, list), x.Plan)
		r, err := on.Run(ctx, on.Follow(apart(on.Base, list, late)))
		switch {
		case err != nil || r.Trace == nil:
			return nil, err
		case r.Verdict == experiment.Passes, !slices.Contains(atomicity.Exercised(r.Trace, list...), true):
			return r, nil
		}
		t = r.Trace
	}
	return nil, nil
}

// isolated looks for an occurrence of the interleaving that alone makes an execution fail which passes without it, where a failing execution has
// several: it removes all of the interleaving, or of those that are related to it, too, and then puts one back.
func (x *counter) isolated(ctx context.Context, failing *trace.Trace) (*occurrence, error) {
	list := aroundRemote(failing, x.related[0].Triple, 0)
	list = list[:min(len(list), apartBack)]
	sets := [][]atomicity.Interleaving{x.related[:1], x.related}
	if len(x.related) == 1 {
		sets = sets[:1]
	}
	for _, set := range sets {
		for _, late := range []bool{true, false} {
			if len(list) == 0 {
				return nil, nil
			}
			r, err := x.makeApart(ctx, failing, set, late)
			if err != nil {
				return nil, err
			}
			if r == nil || r.Verdict != experiment.Passes {
				continue
			}
			if o, err := x.putBack(ctx, r.Trace, list); o != nil || err != nil {
				return o, err
			}
		}
	}
	return nil, nil
}

// putBack puts one of some occurrences back into an execution that passes, until it fails as the recorded one does. It returns the occurrence
// there, nil if it never fails.
func (x *counter) putBack(ctx context.Context, passing *trace.Trace, list []*occurrence) (*occurrence, error) {
	on := x.On(decisive(passing, x.related), x.Plan)
	for _, o := range list {
		at := o.at(on.Base)
		first, second := at.c, at.r // r comes after c
		if at.r < at.p {
			first, second = at.r, at.p
		}
		if at.p < 0 || at.r < 0 || first < 0 || second < first {
			continue
		}
		first, second = sections(on.Base, first, second)
		for _, turn := range on.Turns(first, second) {
			r, err := on.Run(ctx, on.Follow(turn.Turned()))
			if err != nil {
				return nil, err
			}
			if r.Trace == nil || r.Verdict != experiment.Same {
				continue
			}
			if back := at.in(r.Trace); back != nil {
				return back, nil
			}
		}
	}
	return nil, nil
}
