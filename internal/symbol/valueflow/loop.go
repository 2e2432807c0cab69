package valueflow

import "github.com/heddle-dev/heddle/trace"

// Word is a register or a word of the stack at the start of a period.
type Word struct {
	Value   uint64 // a trace.Object if Pointer
	Pointer bool
	Changes uint8 // the bytes that differ from period to period, as a mask
}

// Or is the word with the bytes in which another one differs.
func (w Word) Or(o Word) Word {
	if w.Pointer || o.Pointer {
		if w.Pointer != o.Pointer || w.Value != o.Value {
			w.Changes = 0xff
		}
		return w
	}
	for i := range 8 {
		if (w.Value^o.Value)>>(8*i)&0xff != 0 {
			w.Changes |= 1 << i
		}
	}
	return w
}

// Frame is a function on the stack: where it goes on when the call that it makes returns, and its stack pointer then.
type Frame struct {
	Site trace.Site
	SP   trace.Object
}

// Step is an access or an operation.
type Step struct {
	Op   trace.Op
	Site trace.Site
}

// Loop is what a thread does again and again: at least the steps of two periods.
type Loop struct {
	Frames    []Frame // at the start, which is before an access; innermost first
	Registers map[int]Word
	Stack     []Word // from the first frame's stack pointer on
	// First is what the access at the start accesses, if it is one.
	First Range
	// Next has for each step those that came next.
	Next map[Step][]Step
	// Touches has for each step that accesses memory what it accesses.
	Touches map[Step][]Range
	// Changing is the memory whose values differ from period to period. It is on no stack of the thread's own.
	Changing []Range
	// Alone says that no other thread runs.
	Alone bool

	fixed func(module int) bool // it is where its file says
}

// Range is memory that a step accesses.
type Range struct {
	Object trace.Object
	Size   uint32
}

// hasStack reports whether the thread's stack at the start is known.
func (l *Loop) hasStack() bool {
	return len(l.Frames) > 0 && l.Frames[0].SP.Region() == trace.RegionStack && l.Frames[0].SP.Offset()%8 == 0
}

// own reports whether an object is on the thread's own stack.
func (l *Loop) own(o trace.Object) bool {
	return o.Region() == trace.RegionStack && o.Index() == l.Frames[0].SP.Index()
}

// calls reports whether a function begins in the loop.
func (l *Loop) calls() bool {
	for s := range l.Next {
		if s.Op == trace.OpFunctionEntry {
			return true
		}
	}
	return false
}
