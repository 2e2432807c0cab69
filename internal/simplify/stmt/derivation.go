package stmt

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Rule is one of the rules of Figure 4 that change the order, in the sound form that heddle uses.
// Rules (base0), one TEI, and (base1), two unchanged TEIs, are not recorded: they apply to all TEIs
// that no step mentions.
//
// The rules treat the trace as a sequence of thread execution intervals (TEIs). A step takes
// consecutive units of one TEI and moves them past other TEIs: up, directly after the preceding
// unit of their thread, or down, directly before the following one. A step is valid only if no unit
// that it passes is connected with a unit that it moves. The paper lacks this condition and may
// swap connected units.
type Rule uint8

const (
	// Base2 swaps two adjacent TEIs if the second belongs to the same thread as the TEI before
	// them.
	Base2 Rule = iota
	// Split is (S): a range of more than two TEIs has been reduced in two parts, and units of one
	// part are moved next to units of their thread in the other.
	Split
	// Line moves units after any unit. Only the whole round must not increase the number of
	// switches. It derives an order found by another method.
	Line
)

var ruleNames = [...]string{"base2", "S", "line"}

func (r Rule) String() string { return ruleNames[r] }

// Shape is how a round of a derivation divides the trace in two.
type Shape uint8

const (
	// Binary divides in the middle, as in the paper, with ⌈μ/2⌉ TEIs in the first part.
	Binary Shape = iota
	// Forward has all TEIs but the last in the first part.
	Forward
	// Backward has only the first TEI in the first part.
	Backward
	// Straight has only Line steps.
	Straight
)

var shapeNames = [...]string{"binary", "forward", "backward", "line"}

func (s Shape) String() string { return shapeNames[s] }

// Step is one application of a rule.
type Step struct {
	Rule Rule
	// Lo and Hi are the range of TEIs [Lo, Hi) of the round's trace to which the rule is applied.
	Lo, Hi int32
	// Unit is the first unit moved, and Count the number of units moved.
	Unit, Count int32
	// Down moves them down to the next unit of their thread instead of up to the previous one.
	Down bool
	// After is the unit after which a Line step places them.
	After int32
}

// Round is one application of the whole rule system; the next round starts from its result.
type Round struct {
	Shape Shape
	Steps []Step
}

// Digest identifies a trace or an order.
type Digest [sha256.Size]byte

// Derivation is the reduction of a trace.
type Derivation struct {
	Units, Statements int
	Trace             Digest
	// Segments is the result of the connectivity analysis (Figure 3): the first unit of each
	// segment. Rules (tr1) and (tr2) apply at these units, (tr3) at all others.
	Segments []int32
	Rounds   []Round
	// Before and After count context switches; Result identifies the final order.
	Before, After int
	Result        Digest
	// Seal is the digest of the segments and rounds. It detects accidental damage; the proof does
	// not depend on it.
	Seal Digest
}

// Sealed returns the digest of the current segments and rounds.
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

// Steps returns the number of steps in all rounds.
func (d *Derivation) Steps() int {
	n := 0
	for _, r := range d.Rounds {
		n += len(r.Steps)
	}
	return n
}

// Digest identifies a trace by its statements, independently of variable names.
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

// OrderDigest identifies an order of units.
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
