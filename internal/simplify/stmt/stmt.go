package stmt

import (
	"fmt"
	"strings"
)

// Kind is one of the statements of Figure 2.
type Kind uint8

const (
	Localize  Kind = iota // l := g
	Share                 // g := l
	Require               // take a lock
	Release               // let it go
	Duplicate             // start a thread
	Initiate              // go on after the end of a thread
	Ready                 // the thread has started
	End                   // it ends
	Set1                  // g := 1
	Set0                  // wait for g to be 1, then g := 0
)

var kindNames = [...]string{"localize", "Share", "Require", "Release", "Duplicate", "Initiate", "Ready", "End", "Set1", "Set0"}

func (k Kind) String() string { return kindNames[k] }

// Stmt is one statement of a thread.
type Stmt struct {
	Kind   Kind
	Thread int32 // index into Trace.Threads
	// Local is the variable of localize and Share, otherwise -1.
	Local int32
	// Lo and Hi are the globals of localize and Share, [Lo, Hi); the lock of Require and
	// Release and the flag of Set1 and Set0 is Lo, Hi is Lo+1. Of Duplicate and Initiate
	// Lo is the thread, of Ready and End nothing.
	Lo, Hi int32
}

// Global reports whether the statement is of globals.
func (s *Stmt) Global() bool {
	switch s.Kind {
	case Duplicate, Initiate, Ready, End:
		return false
	}
	return true
}

// Connected is the connectivity relation for two statements of different threads, a before
// b: C2 and C3 of Definition 2. They are connected if swapping them could make a
// difference: they are of one global and not both localize, or one starts or awaits the
// other's thread.
//
// In print C2 has the superscript of one thread on both statements of its first three
// pairs, where two threads are meant, Read for Ready, and no pair the other way round;
// but a Set1 that comes after the Set0 of the same variable cannot be moved before it
// either.
func Connected(a, b *Stmt) bool {
	if a.Global() && b.Global() {
		return a.Lo < b.Hi && b.Lo < a.Hi && !(a.Kind == Localize && b.Kind == Localize)
	}
	return a.Kind == Duplicate && a.Lo == b.Thread || b.Kind == Initiate && b.Lo == a.Thread
}

// Trace is a trace of statements.
type Trace struct {
	Threads []string
	Stmts   []Stmt
	// Start has for each unit its first statement, and at the end the number of
	// statements. A unit is what is never taken apart: a statement of its own where the
	// trace was written by hand, an event where it was recorded. It may be empty.
	Start []int32
	// Of has for each unit its thread.
	Of []int32

	// Globals and Locals are how many variables there are.
	Globals, Locals int

	// GlobalNames, LocalNames and LocalThreads, which says whose a local is, are nil for a
	// trace that was recorded.
	GlobalNames, LocalNames []string
	LocalThreads            []int32
	// InitialGlobal and InitialLocal are values at the start that were given.
	InitialGlobal, InitialLocal map[int32]int64
}

// Len is the number of units.
func (t *Trace) Len() int { return len(t.Of) }

// Unit is the statements of unit u.
func (t *Trace) Unit(u int32) []Stmt { return t.Stmts[t.Start[u]:t.Start[u+1]] }

// Switches is the number of context switches of the units in an order: CS of Definition 1.
func (t *Trace) Switches(order []int32) int {
	n := 0
	for i := 1; i < len(order); i++ {
		if t.Of[order[i]] != t.Of[order[i-1]] {
			n++
		}
	}
	return n
}

// Recorded is the order in which the units stand in the trace.
func (t *Trace) Recorded() []int32 {
	order := make([]int32, t.Len())
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

func (t *Trace) globalName(g int32) string {
	if int(g) < len(t.GlobalNames) {
		return t.GlobalNames[g]
	}
	return fmt.Sprintf("g%d", g)
}

func (t *Trace) localName(l int32) string {
	if int(l) < len(t.LocalNames) {
		return t.LocalNames[l]
	}
	return fmt.Sprintf("l%d", l)
}

// Format is a statement as Parse reads it, its thread left out.
func (t *Trace) Format(s *Stmt) string {
	switch s.Kind {
	case Localize, Share:
		g := t.globalName(s.Lo)
		if s.Hi > s.Lo+1 {
			g += ".." + t.globalName(s.Hi-1)
		}
		return fmt.Sprintf("%s(%s, %s)", s.Kind, t.localName(s.Local), g)
	case Duplicate, Initiate:
		return fmt.Sprintf("%s(%s)", s.Kind, t.Threads[s.Lo])
	case Ready, End:
		return s.Kind.String()
	}
	return fmt.Sprintf("%s(%s)", s.Kind, t.globalName(s.Lo))
}

// FormatUnit is a unit as Parse reads it.
func (t *Trace) FormatUnit(u int32) string {
	var parts []string
	unit := t.Unit(u)
	for i := range unit {
		parts = append(parts, t.Format(&unit[i]))
	}
	if len(parts) == 0 {
		parts = []string{"skip"}
	}
	return t.Threads[t.Of[u]] + ": " + strings.Join(parts, "; ")
}
