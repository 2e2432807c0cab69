package pattern

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// TornRead are two reads that see one half of what another thread writes together.
const TornRead = "torn read"

var tornRead = &Pattern{
	Name:  TornRead,
	Shows: "a thread reads two places in memory that are always written together, one of them before and the other after another thread writes it",
	find: func(x *Execution) *Match {
		f, s, in := x.meant()
		if in == nil || !isAccess(x.event(f)) || !isAccess(&in.Events[s]) {
			return nil
		}
		first, later := x.event(f), &in.Events[s]
		switch {
		case first.Thread == later.Thread:
		case !ops.Changes(first) && ops.Changes(later):
			for _, step := range []int{-1, 1} {
				if late := x.partner(f, step, func(k int) bool { return x.mixed(f, k) }); late >= 0 {
					return x.torn(f, late, later)
				}
			}
		case ops.Changes(first) && !ops.Changes(later) && in == x.Trace:
			for _, step := range []int{-1, 1} {
				if early := x.partner(s, step, func(k int) bool { return x.mixed(k, s) }); early >= 0 {
					return x.torn(early, s, later)
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

func (x *Execution) torn(early, late int, second *trace.Event) *Match {
	wrote, next := x.writer(late), x.event(x.writer(late)).Thread
	if ops.Changes(second) && Overlaps(second, x.event(early)) {
		next = second.Thread
	}
	fact := func(w Words) string {
		return fmt.Sprintf("T%d reads%s from %s after T%d has written it%s, but%s from %s%s before T%d writes it",
			x.event(early).Thread, valued(w, late), w.Object(late), x.event(wrote).Thread, at(w, wrote), valued(w, early), w.Object(early), at(w, early), next)
	}
	return &Match{Alone: true, More: []int{wrote, early, late}, Fact: fact, Say: func(w Words) string { return fact(w) + ", though the two are always written together." }}
}
