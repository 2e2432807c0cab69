package stmt

import (
	"fmt"
	"slices"
)

// State is a trace state, (γ, L, W) of Definition 4: the values of the variables, who
// holds which lock, and which flags are being waited for.
type State struct {
	Globals, Locals []int64
	Counter         int64 // tc, the trace counter
	// Locks are the locks held, each as lock, thread and how often; for Figure 5 as
	// printed, where locks have no names, L: the threads alone.
	Locks []Held
	// Watched is W, in ascending order. It is empty in the meaning that heddle gives the
	// statements: see Run.
	Watched []int32
}

// Held is a lock that is held.
type Held struct{ Lock, Thread, Count int32 }

// Diff says what is different between two states, or nothing.
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

// Values at the start that were not given are different for every variable, so that a
// value read from the wrong place shows. Flags start with 0.
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
