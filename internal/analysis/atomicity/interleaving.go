package atomicity

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Effect is what an instruction does to the bytes it accesses: some of its bits.
type Effect uint8

const (
	Reads Effect = 1 << iota
	Writes
)

// effectOf returns what an event does to memory, 0 if it does not access memory.
func effectOf(e *trace.Event) Effect {
	switch e.Op.Class() {
	case trace.ClassRead, trace.ClassALoad:
		return Reads
	case trace.ClassWrite, trace.ClassAStore:
		return Writes
	case trace.ClassARMW:
		if e.Op == trace.OpAtomicCas && e.Result == 0 {
			return Reads
		}
		return Reads | Writes
	}
	return 0
}

// Accesses reports whether an event accesses memory in a way that an interleaving may consist of: atomics and frees do, too.
func Accesses(e *trace.Event) bool { return effectOf(e) != 0 }

// Statement is an instruction that accesses memory.
type Statement struct {
	Site   trace.Site `json:"site"`
	Op     trace.Op   `json:"op"`
	Effect Effect     `json:"effect"`
}

// plain reports whether the access is not atomic.
func (s Statement) plain() bool {
	c := s.Op.Class()
	return c == trace.ClassRead || c == trace.ClassWrite
}

func (s Statement) compare(o Statement) int {
	return cmp.Or(cmp.Compare(s.Site, o.Site), cmp.Compare(s.Op, o.Op), cmp.Compare(s.Effect, o.Effect))
}

// Triple is the preceding, the current and the remote access of an interleaving.
type Triple struct {
	P Statement `json:"p"`
	C Statement `json:"c"`
	R Statement `json:"r"`
}

// Compare orders triples by c, p and r.
func (t Triple) Compare(o Triple) int {
	return cmp.Or(t.C.compare(o.C), t.P.compare(o.P), t.R.compare(o.R))
}

// Pattern is one of the four unserializable interleavings (ASPLOS'09, Figure 3), in the order p, r, c.
type Pattern uint8

const (
	ReadWriteRead  Pattern = iota + 1 // the two reads see different values
	WriteWriteRead                    // the thread does not read what it wrote
	ReadWriteWrite                    // the thread overwrites a value that it has not seen
	WriteReadWrite                    // the other thread sees a value between two writes
)

var patternNames = [...]string{ReadWriteRead: "read-write-read", WriteWriteRead: "write-write-read", ReadWriteWrite: "read-write-write", WriteReadWrite: "write-read-write"}

// String returns p's name: the accesses in the order p, r, c.
func (p Pattern) String() string {
	if p == 0 || int(p) >= len(patternNames) {
		return "serializable"
	}
	return patternNames[p]
}

// patternOf returns the pattern of three accesses, 0 if they are serializable; for read-modify-writes,
// which may have several, one of them.
func patternOf(p, c, r Effect) Pattern {
	switch {
	case r&Writes != 0 && p&Writes != 0 && c&Reads != 0:
		return WriteWriteRead
	case r&Writes != 0 && p&Reads != 0 && c&Reads != 0:
		return ReadWriteRead
	case r&Writes != 0 && p&Reads != 0 && c&Writes != 0:
		return ReadWriteWrite
	case r&Reads != 0 && p&Writes != 0 && c&Writes != 0:
		return WriteReadWrite
	}
	return 0
}

// Pruned is why an interleaving is infeasible, in the recordings seen: some of its bits.
type Pruned uint8

const (
	ByOrder     Pruned = 1 << iota // creation, join, barrier or once
	ByExclusion                    // a lock
	ByLifetime                     // never in one block at a time
)

// Interleaving is what a Profile knows of a triple.
type Interleaving struct {
	Triple
	Pattern Pattern `json:"pattern"`
	// Feasible: in some recording, nothing known keeps r out from between p and c. Otherwise Pruned
	// has the reasons.
	Feasible bool   `json:"feasible"`
	Pruned   Pruned `json:"pruned,omitempty"`
	// Exercised is the number of recordings in which it occurred.
	Exercised int `json:"exercised"`
	// Gap is the sum of its local gaps over all Instances of p and c at which r could occur, in all
	// recordings: from the end of p's critical section to the beginning of c's where one lock guards
	// all three in turn.
	Gap       uint64 `json:"gap"`
	Instances int    `json:"instances"`
	// Distance is the least number of events, of all threads, between r and p or c. It is 0 if r
	// occurred in between.
	Distance uint64 `json:"distance"`
	// First numbers interleavings in the order in which they were seen.
	First int `json:"first"`
	// Witness are p, c and r as some recording showed them.
	Witness [3]trace.Access `json:"witness"`
	// Outer are the acquisitions that begin the outermost critical sections of c and r; c's began
	// after p. 0 without such a section.
	Outer [2]trace.Site `json:"outer"`
}

// Rank orders interleavings by ascending likelihood (§4.3): by their gap; of those with similar gaps,
// within a factor of two, by descending distance; then as they were seen.
func Rank(list []Interleaving) {
	slices.SortStableFunc(list, func(a, b Interleaving) int {
		return cmp.Or(cmp.Compare(magnitude(a.Gap), magnitude(b.Gap)), cmp.Compare(b.Distance, a.Distance), cmp.Compare(a.Gap, b.Gap), cmp.Compare(a.First, b.First))
	})
}

// FirstCome orders interleavings as they were seen, which ranking is compared with (§6.6).
func FirstCome(list []Interleaving) {
	slices.SortFunc(list, func(a, b Interleaving) int { return cmp.Compare(a.First, b.First) })
}

// magnitude returns the number of bits of n.
func magnitude(n uint64) int {
	bits := 0
	for ; n > 0; n >>= 1 {
		bits++
	}
	return bits
}
