package pattern

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// partner returns the access by the thread of event i that is the nearest to it, on the side of step, accepted by fits and of other memory. Between the
// two, the thread does nothing but read and write, and acquire and release locks. It returns -1 for none, and looks at partnerMost accesses.
func (x *Execution) partner(i, step int, fits func(k int) bool) int {
	ev := x.event(i)
	left := partnerMost
	for k := i + step; k >= 0 && k < len(x.Trace.Events) && left > 0; k += step {
		other := x.event(k)
		if other.Thread != ev.Thread {
			continue
		}
		s := ops.Of(other.Op)
		switch {
		case s.Of == ops.Memory:
			left--
			if other.Object.Region() != trace.RegionStack && !Overlaps(ev, other) && fits(k) {
				return k
			}
		case !isStep(other):
			return -1
		}
	}
	return -1
}

const partnerMost = 256

// mate returns the write of the place that an event accesses which a thread does together with another write, that of event wrote; -1 if it
// has not done it.
func (x *Execution) mate(wrote int, of *trace.Event) int {
	th, place := x.event(wrote).Thread, x.event(wrote)
	from, n := 0, 0 // what the thread wrote before it created the others set the places up
	for i := range wrote + 1 {
		ev := x.event(i)
		switch {
		case ev.Thread != th:
		case ops.Does(ev.Op) == ops.Create:
			from, n = i, 0
		case isAccess(ev) && ops.Changes(ev) && Overlaps(ev, place):
			n++
		}
	}
	for i := from; i < len(x.Trace.Events); i++ {
		if ev := x.event(i); ev.Thread == th && isAccess(ev) && ops.Changes(ev) && Overlaps(ev, of) {
			if n--; n == 0 {
				return i
			}
		}
	}
	return -1
}

// together reports whether threads that have begun write two places in memory one after the other each time, and do so twice or more. The first
// writes of a thread that goes on to create others set them up.
func (x *Execution) together(a, b *trace.Event) bool {
	k := [2]place{{a.Object, a.Size}, {b.Object, b.Size}}
	known, ok := x.places[k]
	if !ok {
		if x.places == nil {
			x.places = map[[2]place]bool{}
		}
		known = x.areTogether(a, b)
		x.places[k] = known
	}
	return known
}

type place struct {
	object trace.Object
	size   uint32
}

func (x *Execution) areTogether(a, b *trace.Event) bool {
	for _, t := range []*trace.Trace{x.Trace, x.Passing} {
		if t == nil {
			continue
		}
		pairs, always := writtenTogether(t, a, b)
		if !always {
			return false
		}
		if pairs >= 2 {
			return true
		}
	}
	return false
}

// writtenTogether counts how often threads write two places one after the other, with nothing but steps in between and not in two critical
// sections of one lock. always is false if one is written without the other, unless the execution ends in between.
func writtenTogether(t *trace.Trace, a, b *trace.Event) (pairs int, always bool) {
	type written struct {
		a, b     int
		released map[trace.Object]bool // locks, since the thread wrote only one of them
		apart    bool                  // it has acquired one of these again, or done something else
	}
	by := map[trace.ThreadID]*written{}
	for i := range t.Events {
		ev := &t.Events[i]
		of := by[ev.Thread]
		if !isAccess(ev) || !ops.Changes(ev) {
			switch {
			case ops.Does(ev.Op) == ops.Create:
				delete(by, ev.Thread)
			case of == nil || of.a == of.b:
			case !isStep(ev) || of.released[ops.AcquiresAt(t, i)]:
				of.apart = true
			case ops.ReleasesAt(t, i) != 0:
				if of.released == nil {
					of.released = map[trace.Object]bool{}
				}
				of.released[ops.ReleasesAt(t, i)] = true
			}
			continue
		}
		if of == nil {
			of = &written{}
			by[ev.Thread] = of
		}
		wrote := false
		if Overlaps(ev, a) {
			of.a++
			wrote = true
		}
		if Overlaps(ev, b) {
			of.b++
			wrote = true
		}
		if of.a-of.b > 1 || of.b-of.a > 1 || of.apart && wrote {
			return 0, false
		}
		if of.a == of.b {
			of.released = nil
		}
	}
	for _, w := range by {
		pairs += min(w.a, w.b)
	}
	return pairs, true
}
