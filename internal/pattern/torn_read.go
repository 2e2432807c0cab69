package pattern

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
)

// TornRead are two reads that see one half of what another thread writes together.
const TornRead = "torn read"

var tornRead = &Pattern{
	Name:  TornRead,
	Shows: "a thread reads two places in memory that are always written together, one of them before and the other after another thread writes it",
	find: func(x *Execution) *Match {
		first, later, ok := x.later()
		if !ok || !isAccess(first) || !isAccess(later) {
			return nil
		}
		o := x.Order
		switch {
		case first.Thread == later.Thread:
		case !ops.Changes(first) && ops.Changes(later):
			for _, step := range []int{-1, 1} {
				if late := x.partner(o.First, step, func(k int) bool { return x.mixed(o.First, k) }); late >= 0 {
					return x.torn(o.First, late)
				}
			}
		case ops.Changes(first) && !ops.Changes(later) && o.Second >= 0:
			for _, step := range []int{-1, 1} {
				if early := x.partner(o.Second, step, func(k int) bool { return x.mixed(k, o.Second) }); early >= 0 {
					return x.torn(early, o.Second)
				}
			}
		}
		return nil
	},
}

// mixed reports whether what the one event reads is older than what the other event reads: the thread that wrote the latter writes the
// former together with it, and has not done so when it is read.
func (x *Execution) mixed(early, late int) bool {
	if !x.Reads(early) || !x.Reads(late) || !x.together(x.event(early), x.event(late)) {
		return false
	}
	wrote := x.writer(late)
	if wrote < 0 || x.event(wrote).Thread == x.event(late).Thread {
		return false
	}
	mate := x.mate(wrote, x.event(early))
	return mate < 0 || mate > early
}

// writer returns the last event before a read that wrote what it reads, -1 for none.
func (x *Execution) writer(read int) int {
	for i := read - 1; i >= 0; i-- {
		if ev := x.event(i); isAccess(ev) && ops.Changes(ev) && Overlaps(ev, x.event(read)) {
			return i
		}
	}
	return -1
}

func (x *Execution) torn(early, late int) *Match {
	wrote, next := x.writer(late), x.event(x.writer(late)).Thread
	if _, second, ok := x.later(); ok && ops.Changes(second) && Overlaps(second, x.event(early)) {
		next = second.Thread
	}
	fact := func(w Words) string {
		return fmt.Sprintf("T%d reads%s from %s after T%d has written it%s, but%s from %s%s before T%d writes it",
			x.event(early).Thread, valued(w, late), w.Object(late), x.event(wrote).Thread, at(w, wrote), valued(w, early), w.Object(early), at(w, early), next)
	}
	return &Match{Alone: true, More: []int{wrote, early, late}, Fact: fact, Say: func(w Words) string { return fact(w) + ", though the two are always written together." }}
}
