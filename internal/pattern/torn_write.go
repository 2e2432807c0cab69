package pattern

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
)

// TornWrite are writes of two threads that leave one half of each.
const TornWrite = "torn write"

var tornWrite = &Pattern{
	Name:  TornWrite,
	Shows: "two threads write two places in memory that are always written together, and both writes of one come between those of the other",
	find: func(x *Execution) *Match {
		first, second, ok := x.pair()
		if !ok || !isAccess(first) || !isAccess(second) || !ops.Changes(first) || !ops.Changes(second) || !Overlaps(first, second) {
			return nil
		}
		f, s := x.Order.First, x.Order.Second
		writes := func(k int) bool { return ops.Changes(x.event(k)) }
		for _, step := range []int{-1, 1} {
			k := x.partner(s, step, writes)
			if k < 0 || !x.together(second, x.event(k)) {
				continue
			}
			mine, theirs := x.mate(s, x.event(k)), x.mate(f, x.event(k))
			if mine < 0 || mine >= theirs {
				continue
			}
			fact := func(w Words) string {
				return fmt.Sprintf("%s keeps%s from T%d's write%s, but %s%s from T%d's%s", w.Object(s), valued(w, s), second.Thread, at(w, s), w.Object(theirs), valued(w, theirs), first.Thread, at(w, theirs))
			}
			return &Match{Alone: true, More: []int{f, s, mine, theirs}, Fact: fact, Say: func(w Words) string { return fact(w) + ", though the two are always written together." }}
		}
		return nil
	},
}
