package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// ABA is a compare-and-swap that succeeds although the memory has had another value since it was read.
const ABA = "ABA"

var aba = &Pattern{
	Name: ABA,
	Shows: "a compare-and-swap succeeds, although between its thread's read and itself other threads changed the memory and changed it back; " +
		"meanwhile they changed what that thread had read in between, too, or the value is an address",
	find: func(x *Execution) *Match {
		if x.Order == nil {
			return nil
		}
		for swap := len(x.Trace.Events) - 1; swap >= 0; swap-- {
			if m := x.aba(swap); m != nil {
				return m
			}
		}
		return nil
	},
}

// aba returns the match of a compare-and-swap, nil for none. A lock that others have acquired and released meanwhile is free all the
// same. What makes the difference is that the thread goes by something which holds no longer: what it read after it had read the memory,
// or what lies behind an address.
func (x *Execution) aba(swap int) *Match {
	s := x.event(swap)
	if ops.Does(s.Op) != ops.Compare || s.Result == 0 {
		return nil
	}
	read := -1
	for i := swap - 1; i >= 0 && read < 0; i-- {
		if ev := x.event(i); ev.Thread == s.Thread && ev.Object == s.Object && isAccess(ev) {
			read = i
		}
	}
	if read < 0 || x.event(read).Size != s.Size || ops.Does(x.event(read).Op) == ops.Exchange || ops.Changes(x.event(read)) {
		return nil
	}
	before, known := x.value(read)
	if found, ok := x.value(swap); !known || !ok || found != before {
		return nil
	}
	var changes, behind []int // of the memory, and of what the thread has read in between
	differed := false
	for i := read + 1; i < swap; i++ {
		ev := x.event(i)
		switch {
		case !isAccess(ev):
		case ev.Object == s.Object:
			v, ok := x.value(i)
			differed = differed || ok && v != before || ops.Does(ev.Op) == ops.Compare && ops.Changes(ev) // its value is what it found
			if ev.Thread != s.Thread && ops.Changes(ev) {
				changes = append(changes, i)
			}
		case ev.Thread == s.Thread && !ops.Changes(ev) && !Overlaps(ev, s):
			for k := i + 1; k < swap; k++ {
				if other := x.event(k); other.Thread != s.Thread && isAccess(other) && ops.Changes(other) && Overlaps(ev, other) {
					behind = append(behind, i, k)
				}
			}
		}
	}
	address := s.Flags&trace.FlagPointer != 0 && before != 0
	if len(changes) < 2 || !differed || len(behind) == 0 && !address {
		return nil
	}
	shown := slices.Concat([]int{read, swap}, changes, behind)
	if !slices.Contains(shown, x.Order.First) && !slices.Contains(shown, x.Order.Second) {
		return nil // the failure depends on something else
	}
	first, last := changes[0], changes[len(changes)-1]
	return &Match{
		Triple: []int{read, last, swap}, More: []int{first},
		Say: func(w Words) string {
			return fmt.Sprintf("The compare-and-swap succeeds, as it finds the value%s again, but the memory has changed twice since: by %s and by %s.", valued(w, read), w.Event(first), w.Event(last))
		},
	}
}
