package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// holds keeps threads before instructions, as docs/scheduler.md specifies.
type holds struct {
	x       *execution
	list    []schedule.Hold
	counts  []schedule.HoldCount
	objects map[any]*heldObject
	once    uint64    // the holds whose Until was done on any object
	held    []*Thread // those that a hold keeps at the present decision
}

// heldObject is what is remembered of an object.
type heldObject struct {
	last trace.Site // that changed it last
	done uint64     // the holds whose Until was done on it
}

// holding is a thread's part.
type holding struct {
	pending  uint64 // holds for its pending operation
	felt     uint64 // those that were in force at a decision
	at       int    // points when it reached the operation
	arrivals map[int]int
}

func newHolds(x *execution) holds {
	h := holds{x: x, list: x.plan.Holds, objects: map[any]*heldObject{}}
	if h.list != nil {
		h.counts = make([]schedule.HoldCount, len(h.list))
	}
	return h
}

// instruction reports whether holds may name t's pending operation.
func (t *Thread) instruction() bool {
	return !t.timer && t.next.site != 0 && !t.next.forced && t.next.op != trace.OpThreadStart
}

// passes reports whether u's operation is on an object that counts for a hold of t.
func (h *holds) passes(i int, t, u *Thread) bool {
	return !h.list[i].Same || t.next.object() != nil && t.next.object() == u.next.object()
}

// end ends a hold of t; the count for the reason goes up if it was in force.
func (h *holds) end(t *Thread, i int, reason *int) {
	if t.holding.felt>>i&1 != 0 {
		*reason++
	}
	t.holding.pending &^= 1 << i
}

// inForce reports whether the object that t is about to touch is in the state in which a hold is in
// force.
func (h *holds) inForce(t *Thread, i int) bool {
	last := h.list[i].Last
	if last == 0 {
		return true
	}
	o := h.objects[t.next.object()]
	return (o != nil && o.last == last) != h.list[i].Not
}

// arrive is called when t has reached its pending operation.
func (h *holds) arrive(t *Thread) {
	t.holding.pending, t.holding.felt, t.holding.at = 0, 0, h.x.points
	if !t.instruction() {
		return
	}
	for i, hold := range h.list {
		if hold.Site != t.next.site || hold.Thread != schedule.AnyThread && h.x.script.names[hold.Thread].Name != t.info.Name {
			continue
		}
		if t.holding.arrivals == nil {
			t.holding.arrivals = map[int]int{}
		}
		t.holding.arrivals[i]++
		if hold.Arrival != 0 && hold.Arrival != t.holding.arrivals[i] {
			continue
		}
		h.counts[i].Arrived++
		done := h.once
		if hold.Same {
			done = 0
			if o := h.objects[t.next.object()]; o != nil {
				done = o.done
			}
		}
		stands := func(u *Thread) bool {
			return u != t && !u.ended && u.instruction() && u.next.site == hold.Until && h.passes(i, t, u)
		}
		if hold.When == schedule.Ever && done>>i&1 != 0 || hold.When == schedule.Reached && slices.ContainsFunc(h.x.threads, stands) {
			continue
		}
		t.holding.pending |= 1 << i
	}
	for _, u := range h.x.threads {
		for i, hold := range h.list {
			if u != t && u.holding.pending>>i&1 != 0 && hold.When == schedule.Reached && hold.Until == t.next.site && h.passes(i, u, t) {
				h.end(u, i, &h.counts[i].Done)
			}
		}
	}
}

// look determines, before a decision, which threads are held.
func (h *holds) look() {
	h.held = nil
	for _, t := range h.x.threads {
		held := false
		for i, hold := range h.list {
			switch {
			case t.holding.pending>>i&1 == 0:
			case h.x.late, hold.Steps > 0 && h.x.points-t.holding.at >= hold.Steps:
				h.end(t, i, &h.counts[i].Steps)
			case h.inForce(t, i):
				held = true
				if t.holding.felt>>i&1 == 0 {
					t.holding.felt |= 1 << i
					h.counts[i].Held++
				}
			}
		}
		if held {
			h.held = append(h.held, t)
		}
	}
}

// chosen ends the holds of the chosen thread.
func (h *holds) chosen(t *Thread, script bool) {
	for i := range h.list {
		if t.holding.pending>>i&1 == 0 {
			continue
		}
		c := &h.counts[i]
		reason := &c.Nobody
		switch {
		case !h.inForce(t, i):
			reason = &c.Done
		case script:
			reason = &c.Script
		case h.x.points-t.ran >= abi.Starved:
			reason = &c.Steps
		}
		h.end(t, i, reason)
	}
}

// done is called when t has done its pending operation.
func (h *holds) done(t *Thread, e *trace.Event) {
	if len(h.list) == 0 || !t.instruction() {
		return
	}
	ever, keep := uint64(0), false
	for i, hold := range h.list {
		if hold.Until == e.Site && hold.When == schedule.Ever {
			ever |= 1 << i
		}
		keep = keep || hold.Last == e.Site
	}
	h.once |= ever
	if object := t.next.object(); object != nil {
		change := !t.next.reads() && (e.Op != trace.OpAtomicCas || e.Result != 0)
		o := h.objects[object]
		if o == nil && (ever != 0 || keep && change) && len(h.objects) < abi.HoldObjects {
			o = &heldObject{}
			h.objects[object] = o
		}
		if o != nil {
			o.done |= ever
			if change {
				o.last = e.Site
			}
		}
	}
	for _, u := range h.x.threads {
		for i, hold := range h.list {
			if u != t && u.holding.pending>>i&1 != 0 && hold.Until == e.Site && h.passes(i, u, t) {
				h.end(u, i, &h.counts[i].Done)
			}
		}
	}
}

// waits reports whether t can do no more than wait for a held thread or for one that is not enabled:
// it spins, and has looked since anything changed.
func (h *holds) waits(t *Thread) bool { return t.spinning() && t.ran > h.x.progressAt }

// among returns those of the threads that can run that the policy may choose: the ones that are not
// held, or, if all of these only wait, the held ones that are enabled.
func (h *holds) among(can []*Thread) []*Thread {
	if h.held == nil {
		return can
	}
	free, enabled, blocked := h.split(can)
	if blocked && len(enabled) > 0 {
		return enabled
	}
	return free
}

// wait reports whether time may pass, since of the threads that can run only those that are held could go on.
func (h *holds) wait(can []*Thread) bool {
	time := func(t *Thread) bool {
		for i := range h.list {
			if t.holding.pending>>i&1 != 0 && h.list[i].Time {
				return true
			}
		}
		return false
	}
	_, enabled, blocked := h.split(can)
	return blocked && len(enabled) > 0 && slices.ContainsFunc(h.held, time)
}

// split divides the threads that can run into those that are not held and the held ones that are enabled. blocked says that all of the
// former only wait.
func (h *holds) split(can []*Thread) (free, enabled []*Thread, blocked bool) {
	blocked = true
	for _, t := range can {
		switch {
		case !slices.Contains(h.held, t):
			free = append(free, t)
			blocked = blocked && h.waits(t)
		case h.x.decision.Has(t.id):
			enabled = append(enabled, t)
		}
	}
	return free, enabled, blocked
}
