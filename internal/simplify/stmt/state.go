package stmt

import (
	"fmt"
	"slices"
)

// State is a trace state, (γ, L, W) of Definition 4: the values of variables, the lock holders, and
// the flags that threads wait for.
type State struct {
	Globals, Locals []int64
	Counter         int64 // tc, the trace counter
	// Locks are the locks held, each with its thread and count. For Figure 5 as printed, where
	// locks have no names, it is L: the threads alone.
	Locks []Held
	// Watched is W, in ascending order. It is empty under heddle's semantics of the statements; see
	// Run.
	Watched []int32
}

// Held is a lock, its holder and how many times it is held.
type Held struct{ Lock, Thread, Count int32 }

// Diff describes the first difference between two states, or returns "".
func (t *Trace) Diff(a, b *State) string {
	for g := range a.Globals {
		if a.Globals[g] != b.Globals[g] {
			return fmt.Sprintf("global %s is %d in one and %d in the other", t.globalName(int32(g)), a.Globals[g], b.Globals[g])
		}
	}
	for l := range a.Locals {
		if a.Locals[l] != b.Locals[l] {
			return fmt.Sprintf("local %s is %d in one and %d in the other", t.localName(int32(l)), a.Locals[l], b.Locals[l])
		}
	}
	switch {
	case a.Counter != b.Counter:
		return fmt.Sprintf("the trace counter is %d in one and %d in the other", a.Counter, b.Counter)
	case !slices.Equal(a.Locks, b.Locks):
		return fmt.Sprintf("the locks held are %v in one and %v in the other", a.Locks, b.Locks)
	case !slices.Equal(a.Watched, b.Watched):
		return fmt.Sprintf("the flags waited for are %v in one and %v in the other", a.Watched, b.Watched)
	}
	return ""
}

// Initial values that were not given differ between variables, so that a read from the wrong place
// shows. Flags start at 0.
func (t *Trace) initialGlobal(g int32) int64 {
	if v, ok := t.InitialGlobal[g]; ok {
		return v
	}
	return int64(mix(uint64(g)*2 + 1))
}

func (t *Trace) initialLocal(l int32) int64 {
	if v, ok := t.InitialLocal[l]; ok {
		return v
	}
	return int64(mix(uint64(l) * 2))
}

// mix is the finalizer of splitmix64 (Steele, Lea and Flood, OOPSLA'14).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// Initial returns the state before the first statement.
func (t *Trace) Initial() *State {
	s := &State{Globals: make([]int64, t.Globals), Locals: make([]int64, t.Locals)}
	for g := range s.Globals {
		s.Globals[g] = t.initialGlobal(int32(g))
	}
	for l := range s.Locals {
		s.Locals[l] = t.initialLocal(int32(l))
	}
	for i := range t.Stmts {
		if st := &t.Stmts[i]; st.Kind == Set1 || st.Kind == Set0 {
			if _, given := t.InitialGlobal[st.Lo]; !given {
				s.Globals[st.Lo] = 0
			}
		}
	}
	return s
}
