package stmt

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Rule is one of the rules of Figure 4 that change something, as heddle has made them
// sound. Rule (base0), one interval, and (base1), two that stay as they are, are not
// written down: they are what holds of all intervals that no step speaks of.
//
// The trace is seen as its thread execution intervals. A step takes units that follow one
// another in one interval and moves them past other intervals, up to right behind the unit
// before them in their thread, or down to right in front of the one after them. It may do
// so if no unit that it passes is connected with one that it moves, and not otherwise;
// print has no such condition, and swaps what may be connected.
type Rule uint8

const (
	// Base2 swaps two neighbouring intervals, if the second is of the thread that the
	// interval before them is of.
	Base2 Rule = iota
	// Split is (S): a stretch of more than two intervals has been reduced in two parts,
	// and units of one part are moved to those of their thread in the other.
	Split
	// Line moves units to behind any unit. Only the switches of the whole round have to
	// be no more. It is how an order that was found otherwise is derived.
	Line
)

var ruleNames = [...]string{"base2", "S", "line"}

func (r Rule) String() string { return ruleNames[r] }

// Shape is how the rounds of a derivation part the trace in two.
type Shape uint8

const (
	// Binary is as in print: in the middle, ⌈μ/2⌉ intervals first.
	Binary Shape = iota
	// Forward has all but the last interval first.
	Forward
	// Backward has the first interval first.
	Backward
	// Straight has only Line steps.
	Straight
)

var shapeNames = [...]string{"binary", "forward", "backward", "line"}

func (s Shape) String() string { return shapeNames[s] }

// Step is a use of a rule.
type Step struct {
	Rule Rule
	// Lo and Hi are the stretch of intervals [Lo, Hi) of the round's trace that the rule
	// is used on.
	Lo, Hi int32
	// Unit is the first unit moved, Count how many are.
	Unit, Count int32
	// Down: they are moved down to the next unit of their thread, not up to the last.
	Down bool
	// After is the unit that a Line moves them behind.
	After int32
}

// Round is one use of the whole system; the next one starts from what it leads to.
type Round struct {
	Shape Shape
	Steps []Step
}

// Digest names a trace or an order.
type Digest [sha256.Size]byte

// Derivation is the reduction of a trace.
type Derivation struct {
	Units, Statements int
	Trace             Digest
	// Segments is what the connectivity analysis (Figure 3) says: for each segment, its
	// first unit. There (tr1) and (tr2) were used, at the units between (tr3).
	Segments []int32
	Rounds   []Round
	// Before and After are the context switches, Result the order at the end.
	Before, After int
	Result        Digest
	// Seal is the digest of the segments and rounds. It protects against accidents: what
	// a derivation proves does not rest on it.
	Seal Digest
}

// Sealed is the digest of what is there now.
func (d *Derivation) Sealed() Digest {
	h := newHasher()
	h.add(int32(len(d.Segments)))
	h.add(d.Segments...)
	for _, r := range d.Rounds {
		h.add(int32(r.Shape), int32(len(r.Steps)))
		for _, s := range r.Steps {
			down := int32(0)
			if s.Down {
				down = 1
			}
			h.add(int32(s.Rule), s.Lo, s.Hi, s.Unit, s.Count, down, s.After)
		}
	}
	return h.sum()
}

// Steps is the number of steps of all rounds.
func (d *Derivation) Steps() int {
	n := 0
	for _, r := range d.Rounds {
		n += len(r.Steps)
	}
	return n
}

// Digest names a trace by its statements; what variables are called does not count.
func (t *Trace) Digest() Digest {
	h := newHasher()
	for u := range int32(t.Len()) {
		unit := t.Unit(u)
		h.add(t.Of[u], int32(len(unit)))
		for i := range unit {
			s := &unit[i]
			h.add(int32(s.Kind), s.Local, s.Lo, s.Hi)
		}
	}
	return h.sum()
}

// OrderDigest names an order of units.
func OrderDigest(order []int32) Digest {
	h := newHasher()
	for _, u := range order {
		h.add(u)
	}
	return h.sum()
}

type hasher struct {
	h   hash.Hash
	buf []byte
}

func newHasher() *hasher { return &hasher{h: sha256.New()} }

func (h *hasher) add(values ...int32) {
	for _, v := range values {
		h.buf = binary.LittleEndian.AppendUint32(h.buf, uint32(v))
	}
	if len(h.buf) > 1<<15 {
		h.h.Write(h.buf)
		h.buf = h.buf[:0]
	}
}

func (h *hasher) sum() Digest {
	h.h.Write(h.buf)
	return Digest(h.h.Sum(nil))
}
