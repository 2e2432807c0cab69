package stmt

import "fmt"

// StuckError reports a statement that cannot run at its place in the order.
type StuckError struct {
	Place int   // index of the unit in the order
	Unit  int32 // the unit
	Text  string
	Msg   string
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("place %d, unit %d (%s): %s", e.Place, e.Unit, e.Text, e.Msg)
}

// Run executes the units of a trace in an order and returns the final state. It implements Figure 5
// with the additional conditions that make a trace an execution:
//
//   - localize and Share are (rs) and (ws). On a range, localize reads a hash of all values and
//     Share writes all of them.
//   - Require needs a lock that no other thread holds, and Release one that is held; a thread may
//     acquire its own lock again. A lock is also a global whose value is a hash of all operations
//     on it. So the state contains the order of acquisitions, and a localize of the lock (such as a
//     failed trylock) shows its position in that order.
//   - Set1(g) sets g. Set0(g), which stands where the wait ends, needs g to be set and resets it.
//     In the paper Set0 adds g to W, which never shrinks, so that Set1 has no further effect, and
//     neither increments the trace counter.
//   - A thread named by a Duplicate has no statement before it, and an Initiate comes after the
//     last statement of the thread it names. In the paper Duplicate adds the thread's own
//     statements again.
//   - The trace counter counts every statement.
//
// The error is a *StuckError.
func Run(t *Trace, order []int32) (*State, error) {
	s := t.Initial()
	type lock struct{ holder, count int32 }
	locks := map[int32]*lock{}
	waits := make([]bool, len(t.Threads)) // waits for a Duplicate
	left := make([]int32, len(t.Threads)) // units
	for i := range t.Stmts {
		if t.Stmts[i].Kind == Duplicate {
			waits[t.Stmts[i].Lo] = true
		}
	}
	for _, th := range t.Of {
		left[th]++
	}
	for place, u := range order {
		th := t.Of[u]
		unit := t.Unit(u)
		stuck := func(st *Stmt, format string, args ...any) error {
			return &StuckError{place, u, t.Threads[th] + ": " + t.Format(st), fmt.Sprintf(format, args...)}
		}
		if waits[th] {
			return nil, &StuckError{place, u, t.FormatUnit(u), "its thread has not been started by Duplicate"}
		}
		left[th]--
		for i := range unit {
			st := &unit[i]
			s.Counter++
			switch st.Kind {
			case Localize:
				s.Locals[st.Local] = s.Load(st)
			case Share:
				v := s.Locals[st.Local]
				for g := st.Lo; g < st.Hi; g++ {
					s.Globals[g] = v
				}
			case Require:
				l := locks[st.Lo]
				if l == nil {
					l = &lock{}
					locks[st.Lo] = l
				}
				if l.count > 0 && l.holder != th {
					return nil, stuck(st, "the lock is held by %s", t.Threads[l.holder])
				}
				l.holder, l.count = th, l.count+1
				s.Globals[st.Lo] = int64(mix(uint64(s.Globals[st.Lo]) ^ uint64(th)*2))
			case Release:
				l := locks[st.Lo]
				if l == nil || l.count == 0 {
					return nil, stuck(st, "no thread holds the lock")
				}
				l.count--
				s.Globals[st.Lo] = int64(mix(uint64(s.Globals[st.Lo]) ^ (uint64(th)*2 + 1)))
			case Set1:
				s.Globals[st.Lo] = 1
			case Set0:
				if s.Globals[st.Lo] != 1 {
					return nil, stuck(st, "the flag is %d: Set0 stands where its wait is over", s.Globals[st.Lo])
				}
				s.Globals[st.Lo] = 0
			case Duplicate:
				if !waits[st.Lo] {
					return nil, stuck(st, "the thread was started before")
				}
				waits[st.Lo] = false
			case Initiate:
				if left[st.Lo] > 0 {
					return nil, stuck(st, "the thread has statements left")
				}
			}
		}
	}
	for g := range int32(t.Globals) {
		if l := locks[g]; l != nil && l.count > 0 {
			s.Locks = append(s.Locks, Held{g, l.holder, l.count})
		}
	}
	return s, nil
}

// load is the value of the globals of a localize.
func (s *State) Load(st *Stmt) int64 {
	if st.Hi == st.Lo+1 {
		return s.Globals[st.Lo]
	}
	h := uint64(st.Hi - st.Lo)
	for g := st.Lo; g < st.Hi; g++ {
		h = mix(h ^ uint64(s.Globals[g]))
	}
	return int64(h)
}
