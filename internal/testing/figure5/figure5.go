// Package figure5 executes traces of package stmt by the rules of Figure 5 as they are printed.
// Only tests use it: they compare the meaning that heddle gives the statements with it.
package figure5

import (
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// Run executes the units of a trace in an order by the rules of Figure 5 to the
// letter, except (fs): the statements of the new thread are those in the trace. No
// statement ever waits, so every order can be executed. L is kept as the sorted list of
// threads, because the paper calls it a set before it makes it a list, and as a list it
// distinguishes the order of two unrelated Requires.
func Run(t *stmt.Trace, order []int32) *stmt.State {
	s := t.Initial()
	watched := map[int32]bool{}
	var held []int32 // L
	for _, u := range order {
		unit := t.Unit(u)
		for i := range unit {
			st := &unit[i]
			switch st.Kind {
			case stmt.Localize: // (rs)
				s.Locals[st.Local] = s.Load(st)
			case stmt.Share: // (ws)
				for g := st.Lo; g < st.Hi; g++ {
					s.Globals[g] = s.Locals[st.Local]
				}
			case stmt.Require: // (ls)
				held = append(held, st.Thread)
			case stmt.Release: // (us)
				if i := slices.Index(held, st.Thread); i >= 0 {
					held = slices.Delete(held, i, i+1)
				}
			case stmt.Set1: // (sgs): the counter stays
				if !watched[st.Lo] {
					s.Globals[st.Lo] = 1
				}
				continue
			case stmt.Set0: // (wts)
				watched[st.Lo] = true
				continue
			}
			s.Counter++
		}
	}
	slices.Sort(held)
	for _, th := range held {
		s.Locks = append(s.Locks, stmt.Held{Lock: -1, Thread: th, Count: 1})
	}
	s.Watched = slices.Sorted(maps.Keys(watched))
	return s
}
