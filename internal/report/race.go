package report

import (
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// racing returns the events of the two racing accesses, -1 for an access that is not recorded. An instruction may be executed many
// times, on other memory or in order; those that race are found by looking for the race again.
func racing(tr *trace.Trace) [2]int {
	out := [2]int{-1, -1}
	if len(tr.Ending.Accesses) != 2 {
		return out
	}
	sides := tr.Ending.Accesses
	d := race.Bounded(0)
	for i := range tr.Events {
		d.Event(&tr.Events[i])
	}
	for _, r := range d.Races() {
		if r.First >= 0 && isSide(&tr.Events[r.First], &sides[0]) && isSide(&tr.Events[r.Second], &sides[1]) {
			return [2]int{r.First, r.Second}
		}
	}
	// Of several races of two instructions, the detector has one, perhaps of other threads.
	for n := range sides {
		for _, stack := range []bool{true, false} {
			for i := max(0, out[0]); i < len(tr.Events) && out[n] < 0; i++ {
				if e := &tr.Events[i]; isSide(e, &sides[n]) && isAt(e, &sides[n]) && (!stack || e.Stack == sides[n].Stack) {
					out[n] = i
				}
			}
		}
	}
	return out
}

func isSide(e *trace.Event, a *trace.Access) bool {
	return e.Thread == a.Thread && e.Op == a.Op && e.Site == a.Site
}

func isAt(e *trace.Event, a *trace.Access) bool {
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
			s.Text = ThreadText(a.Thread) + ": " + race.Text(b.tr, &a) + ", " + b.names.Name(a.Object, symbol.Block, len(b.tr.Events)).Text
		} else if s.Event >= 0 {
			s.Text = ThreadText(a.Thread) + ": " + b.phrase(s.Event).text()
		}
		out = append(out, s)
	}
	return out
}
