package atomicity

import (
	"encoding/json"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Profile collects the interleavings of recorded executions of one program. It is not safe for
// concurrent use.
type Profile struct {
	runs       int
	threads    int // of the recording with the most
	numbers    map[Statement]int32
	statements []Statement
	triples    map[triple]*entry
	seen       int            // triples that are not serializable
	accesses   map[int32]bool // statements that access shared memory
	conflicts  map[[2]int32]bool
	unordered  [][2]Statement // those of conflicts, as they were seen
}

// triple is a Triple by the numbers of its statements.
type triple struct{ p, c, r int32 }

// entry is an interleaving of a profile.
type entry struct {
	Interleaving
	run int // the last recording that exercised it
}

// EndedEarly says why interleavings may be missing in a profile of fewer executions than it needs.
const EndedEarly = "profiling ended early: fewer executions were recorded than it needs"

// NewProfile returns an empty profile.
func NewProfile() *Profile {
	return &Profile{numbers: map[Statement]int32{}, triples: map[triple]*entry{}, accesses: map[int32]bool{}, conflicts: map[[2]int32]bool{}}
}

// Runs returns the number of recordings added.
func (p *Profile) Runs() int { return p.runs }

// Threads returns the number of threads of the recording with the most.
func (p *Profile) Threads() int { return p.threads }

// Shared returns the number of instructions that accessed memory that several threads used.
func (p *Profile) Shared() int { return len(p.accesses) }

// Add adds a recorded execution with all accesses. times, if not nil, has the time of each event, in
// any unit; otherwise time is counted in events of the thread. Add returns the number of
// interleavings exercised that no earlier recording had exercised.
func (p *Profile) Add(t *trace.Trace, times []uint64) (fresh int) {
	p.runs++
	p.threads = max(p.threads, len(t.Threads))
	r := newRun(p, t, times)
	r.walk()
	return r.fresh
}

// All returns the potential interleavings, ordered by Triple.
func (p *Profile) All() []Interleaving {
	var out []Interleaving
	for _, e := range p.triples {
		if e == nil {
			continue // serializable
		}
		x := e.Interleaving
		if x.Feasible {
			x.Pruned = 0
		} else {
			x.Distance = 0
		}
		out = append(out, x)
	}
	slices.SortFunc(out, func(a, b Interleaving) int { return a.Triple.Compare(b.Triple) })
	return out
}

// Unordered returns the pairs of statements that accessed common bytes in different threads, at least one
// to write and at least one plainly, where nothing necessary orders them and no lock excludes them: the
// races that the program may have, as far as the recordings show. Those among them that are ordered
// otherwise, by a condition variable for instance, are none. A profile that was saved has lost them.
func (p *Profile) Unordered() [][2]Statement { return p.unordered }

// Targets returns the interleavings to force: feasible and never exercised, by Rank.
func (p *Profile) Targets() []Interleaving {
	list := slices.DeleteFunc(p.All(), func(i Interleaving) bool { return !i.Feasible || i.Exercised > 0 })
	Rank(list)
	return list
}

// Exercised returns the interleavings that occurred in a recording, by Rank.
func (p *Profile) Exercised() []Interleaving {
	list := slices.DeleteFunc(p.All(), func(i Interleaving) bool { return i.Exercised == 0 })
	Rank(list)
	return list
}

// Currents returns how many instructions c have a potential interleaving, and how many a feasible
// one (interleaving-C, §4.1 and Table 7).
func (p *Profile) Currents() (potential, feasible int) {
	cs := map[Statement]bool{}
	for _, e := range p.triples {
		if e != nil {
			cs[e.C] = cs[e.C] || e.Feasible
		}
	}
	for _, f := range cs {
		if f {
			feasible++
		}
	}
	return len(cs), feasible
}

func (p *Profile) number(s Statement) int32 {
	n, ok := p.numbers[s]
	if !ok {
		n = int32(len(p.statements))
		p.numbers[s] = n
		p.statements = append(p.statements, s)
	}
	return n
}

// potential returns the entry of a triple, nil if it is serializable.
func (p *Profile) potential(t triple) *entry {
	e, ok := p.triples[t]
	if !ok {
		x := Triple{p.statements[t.p], p.statements[t.c], p.statements[t.r]}
		if pattern := patternOf(x.P.Effect, x.C.Effect, x.R.Effect); pattern != 0 {
			e = &entry{Interleaving: Interleaving{Triple: x, Pattern: pattern, First: p.seen, Distance: ^uint64(0)}}
			p.seen++
		}
		p.triples[t] = e // nil, too: most are serializable
	}
	return e
}

// Exercised reports which of the interleavings occur in a recorded execution, among the accesses that were
// recorded. If the execution failed while a thread stood before c, or before the critical section that holds
// c (Interleaving.Outer), that thread counts as having done c: r has changed what c was about to touch, or has
// ended the execution by what it read. A compare-and-swap c that fails counts as well.
func Exercised(t *trace.Trace, want ...Interleaving) []bool {
	occurred := make([]bool, len(want))
	mark := func(all *trace.Trace, counts func(*Interleaving) bool) {
		p := NewProfile()
		p.Add(all, nil)
		for i := range want {
			w := &want[i]
			for _, c := range w.attempts() {
				if e := p.triples[triple{p.number(w.P), p.number(c), p.number(w.R)}]; e != nil && e.Exercised > 0 && counts(w) {
					occurred[i] = true
				}
			}
		}
	}
	mark(t, func(*Interleaving) bool { return true })
	for i := range t.Ending.Waiters {
		w := &t.Ending.Waiters[i]
		for _, next := range pending(t, w, want) {
			all := *t
			all.Events = append(slices.Clip(all.Events), next.access)
			mark(&all, func(x *Interleaving) bool { return slices.Contains(next.of, x) })
		}
	}
	return occurred
}

// next is an access that a thread was about to make, and the interleavings of which it is c.
type next struct {
	access trace.Event
	of     []*Interleaving
}

// pending returns the accesses c before which a thread stands at the end of an execution.
func pending(t *trace.Trace, w *trace.Waiter, want []Interleaving) (list []next) {
	add := func(x *Interleaving, o trace.Object) {
		for i := range list {
			if a := &list[i].access; a.Site == x.C.Site && a.Op == x.C.Op && a.Object == o {
				list[i].of = append(list[i].of, x)
				return
			}
		}
		// A compare-and-swap counts as one that succeeds; attempts has the other.
		list = append(list, next{trace.Event{Thread: w.Thread, Op: x.C.Op, Site: x.C.Site, Object: o, Size: 1, Result: 1}, []*Interleaving{x}})
	}
	for i := range want {
		x := &want[i]
		switch {
		case w.Ready && w.Site == x.C.Site && w.Op == x.C.Op:
			add(x, w.Object)
		case w.Site != 0 && w.Site == x.Outer[0]:
			for k := len(t.Events) - 1; k >= 0; k-- {
				if e := &t.Events[k]; e.Thread == w.Thread && e.Site == x.P.Site && e.Op == x.P.Op {
					add(x, e.Object)
					break
				}
			}
		}
	}
	return list
}

// StaleRead reports whether in a recorded execution a thread read some of the bytes [first, first+size), another thread
// wrote them, and the first then accessed them again: what it does follows from a value that is no more.
func StaleRead(t *trace.Trace, thread trace.ThreadID, first, size uint64) bool {
	read, stale := false, false
	for i := range t.Events {
		e := &t.Events[i]
		effect := effectOf(e)
		if effect == 0 || e.Object == 0 {
			continue
		}
		if at, n := e.Object.Bytes(uint64(max(e.Size, 1))); at+n <= first || first+size <= at {
			continue
		}
		switch {
		case e.Thread != thread && effect&Writes != 0:
			stale = read
		case e.Thread == thread && stale:
			return true
		case e.Thread == thread:
			read = effect&Reads != 0
		}
	}
	return false
}

// attempts returns what c may be if r comes in between: a compare-and-swap then fails, and only reads.
func (t *Triple) attempts() []Statement {
	list := []Statement{t.C}
	if t.C.Op == trace.OpAtomicCas && t.C.Effect&Writes != 0 {
		failed := t.C
		failed.Effect = Reads
		list = append(list, failed)
	}
	return list
}

// savedProfile is a Profile as JSON.
type savedProfile struct {
	Runs          int            `json:"runs"`
	Threads       int            `json:"threads,omitempty"`
	Shared        []Statement    `json:"shared"`
	Interleavings []Interleaving `json:"interleavings"`
}

// MarshalJSON implements json.Marshaler.
func (p *Profile) MarshalJSON() ([]byte, error) {
	s := savedProfile{Runs: p.runs, Threads: p.threads}
	for n := range p.accesses {
		s.Shared = append(s.Shared, p.statements[n])
	}
	slices.SortFunc(s.Shared, Statement.compare)
	for _, e := range p.triples {
		if e != nil {
			s.Interleavings = append(s.Interleavings, e.Interleaving)
		}
	}
	slices.SortFunc(s.Interleavings, func(a, b Interleaving) int { return a.First - b.First })
	return json.Marshal(s)
}

// UnmarshalJSON implements json.Unmarshaler.
func (p *Profile) UnmarshalJSON(data []byte) error {
	var s savedProfile
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	*p = *NewProfile()
	p.runs, p.threads = s.Runs, s.Threads
	for _, a := range s.Shared {
		p.accesses[p.number(a)] = true
	}
	for i := range s.Interleavings {
		x := &s.Interleavings[i]
		p.triples[triple{p.number(x.P), p.number(x.C), p.number(x.R)}] = &entry{Interleaving: *x}
		p.seen = max(p.seen, x.First+1)
	}
	return nil
}
