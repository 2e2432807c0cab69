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
	Require               // acquire a lock
	Release               // release it
	Duplicate             // start a thread
	Initiate              // continue after the end of a thread
	Ready                 // the thread has started
	End                   // the thread has ended
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

// Global reports whether the statement accesses globals.
func (s *Stmt) Global() bool {
	switch s.Kind {
	case Duplicate, Initiate, Ready, End:
		return false
	}
	return true
}

// Connected is the connectivity relation for two statements of different threads, a before b: C2
// and C3 of Definition 2. They are connected if swapping them could matter: they access the same
// global and are not both localize, or one starts or joins the other's thread.
//
// In the paper, C2 has the superscript of one thread on both statements of its first three pairs,
// where two threads are meant, has Read for Ready, and lacks the reverse pairs. But a Set1 that
// comes after the Set0 of the same variable cannot move before it either.
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
	// Start has the index of each unit's first statement, followed by the number of statements. A
	// unit is never divided: it is a statement, or several on one line, of a trace written by hand,
	// and an event of a recorded one. It may be empty.
	Start []int32
	// Of has the thread of each unit.
	Of []int32

	// Globals and Locals are the numbers of variables.
	Globals, Locals int

	// GlobalNames, LocalNames and LocalThreads (the thread of each local) are nil for a recorded
	// trace.
	GlobalNames, LocalNames []string
	LocalThreads            []int32
	// InitialGlobal and InitialLocal are the initial values given.
	InitialGlobal, InitialLocal map[int32]int64
}

// Len returns the number of units.
func (t *Trace) Len() int { return len(t.Of) }

// Unit returns the statements of unit u.
func (t *Trace) Unit(u int32) []Stmt { return t.Stmts[t.Start[u]:t.Start[u+1]] }

// Switches returns the number of context switches of the units in an order: CS of Definition 1.
func (t *Trace) Switches(order []int32) int {
	n := 0
	for i := 1; i < len(order); i++ {
		if t.Of[order[i]] != t.Of[order[i-1]] {
			n++
		}
	}
	return n
}

// Recorded returns the order of the units in the trace.
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

// Format returns a statement as Parse reads it, without its thread.
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

// FormatUnit returns a unit as Parse reads it.
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
