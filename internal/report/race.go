package report

import (
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/trace"
)

// racing returns the events of the two racing accesses, -1 for an access that is not recorded.
func racing(tr *trace.Trace) [2]int {
	out := [2]int{-1, -1}
	for side, a := range tr.Ending.Accesses {
		if side > 1 {
			break
		}
		for i := max(0, out[0]); i < len(tr.Events); i++ {
			if isAccess(&tr.Events[i], a) {
				out[side] = i
				break
			}
		}
	}
	return out
}

func isAccess(e *trace.Event, a trace.Access) bool {
	if e.Thread != a.Thread || e.Op != a.Op || e.Site != a.Site {
		return false
	}
	// Objects on a stack are counted from its top.
	o, size := race.Place(e)
	return a.Object.Region() == trace.RegionStack || o <= a.Object && uint64(a.Object-o) < uint64(size)
}

// sides describes both accesses of a race.
func (b *builder) sides() []Side {
	var out []Side
	for n, a := range b.tr.Ending.Accesses {
		if n > 1 {
			break
		}
		s := Side{Thread: a.Thread, Event: b.raced[n]}
		at := b.places.locate(a.Site, a.Stack)
		s.Place, s.Stack = at.place, b.places.stacks[at.stack]
		name := b.names.Name(a.Object, a.Size, len(b.tr.Events)).Text
		s.Text = ThreadText(a.Thread) + ": " + race.Text(b.tr, &a) + " " + name
		if a.Op == trace.OpMalloc {
			s.Text = ThreadText(a.Thread) + ": " + race.Text(b.tr, &a) + ", " + b.names.Name(a.Object, 0, len(b.tr.Events)).Text
		} else if s.Event >= 0 {
			s.Text = ThreadText(a.Thread) + ": " + b.phrase(s.Event).text()
		}
		out = append(out, s)
	}
	return out
}
