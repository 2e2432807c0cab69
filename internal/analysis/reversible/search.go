package reversible

import (
	"encoding/binary"
	"slices"
)

// Verdict is what a search or solver says of a pair.
type Verdict uint8

const (
	// Unknown: the budget was used up.
	Unknown Verdict = iota
	Impossible
	Possible
)

// search looks for a feasible reordering that ends with one event and does not contain another. Its
// state is a cut: how many events of each thread have happened. Holders and counts follow from it.
type search struct {
	m      *model
	budget *int // steps that may still be tried
	first  int32
	second int32
	goal   []int32 // events of each thread that second needs
	limit  int32   // events from this one on must not happen, if not 0

	cut     []int32
	order   []int32 // events that have happened
	writer  []int32 // of each lock, the thread that holds it alone, or -1
	readers []int32 // of each lock, how many threads share it
	holding []int32 // of each thread, how many locks it holds
	count   []int   // of each semaphore
	seen    map[string]bool
}

func newSearch(m *model, budget *int) *search {
	s := &search{
		m: m, budget: budget, first: -1, second: -1,
		cut: make([]int32, len(m.of)), writer: make([]int32, m.locks), readers: make([]int32, m.locks),
		holding: make([]int32, len(m.of)), count: make([]int, len(m.sems)),
	}
	for i := range s.writer {
		s.writer[i] = -1
	}
	for i := range m.sems {
		s.count[i] = m.sems[i].initial
	}
	return s
}

// prepare takes the steps before event first of the trace that no reordering without that event can be worse
// for. Searches for pairs in the order of their first events then need not repeat them.
func (s *search) prepare(first int32) {
	s.first, s.second = -1, -1
	s.limit = first
	s.advance(false)
	s.limit = 0
}

// reverse decides whether second can happen without first, and leaves the state as it is. The
// result's order ends with second.
func (s *search) reverse(first, second int32) (Verdict, []int32) {
	s.first, s.second, s.goal = first, second, s.m.needs(second)
	s.seen = map[string]bool{}
	mark := len(s.order)
	v := s.from()
	var order []int32
	if v == Possible {
		order = append(slices.Clone(s.order), second)
	}
	s.back(mark)
	return v, order
}

// from searches from the current state. It restores the state if the answer is Impossible.
func (s *search) from() Verdict {
	mark := len(s.order)
	s.advance(true)
	if s.done() {
		return Possible
	}
	s.advance(false)
	switch {
	case s.done():
		return Possible
	case *s.budget <= 0:
		return Unknown
	}
	key := s.key()
	if s.seen[key] {
		s.back(mark)
		return Impossible
	}
	s.seen[key] = true
	for t := range s.cut {
		e := s.next(t)
		if e < 0 || !s.can(e) {
			continue
		}
		at := len(s.order)
		s.do(e)
		if v := s.from(); v != Impossible {
			return v
		}
		s.back(at)
	}
	s.back(mark)
	return Impossible
}

func (s *search) key() string {
	b := make([]byte, 0, 4*len(s.cut))
	for _, n := range s.cut {
		b = binary.AppendUvarint(b, uint64(n))
	}
	return string(b)
}

// next returns a thread's next event, -1 if it has none or must not do it: first, second, and what
// comes after them.
func (s *search) next(t int) int32 {
	if int(s.cut[t]) >= len(s.m.of[t]) {
		return -1
	}
	e := s.m.of[t][s.cut[t]]
	if e == s.first || e == s.second || s.limit > 0 && e >= s.limit {
		return -1
	}
	return e
}

// can reports whether an event can happen now.
func (s *search) can(e int32) bool {
	*s.budget--
	for _, p := range s.m.g.Preds(e) {
		if s.cut[s.m.g.Thread[p]] <= s.m.nth[p] {
			return false
		}
	}
	return s.open(e)
}

// open reports whether the event's lock or semaphore lets it happen.
func (s *search) open(e int32) bool {
	switch v := s.m.moves[e]; v.kind {
	case lock:
		return s.writer[v.object] < 0 && s.readers[v.object] == 0
	case lockShared:
		return s.writer[v.object] < 0
	case down:
		return s.count[v.object] > 0
	}
	return true
}

// done reports whether second can happen now.
func (s *search) done() bool {
	for t, n := range s.goal {
		if s.cut[t] < n {
			return false
		}
	}
	// What shows the state of its object does not block.
	return s.m.moves[s.second].shows || s.open(s.second)
}

func (s *search) do(e int32) {
	t := s.m.g.Thread[e]
	s.cut[t]++
	s.order = append(s.order, e)
	s.moved(t, s.m.moves[e], 1)
}

// back undoes all but the first n events.
func (s *search) back(n int) {
	for len(s.order) > n {
		e := s.order[len(s.order)-1]
		s.order = s.order[:len(s.order)-1]
		t := s.m.g.Thread[e]
		s.cut[t]--
		s.moved(t, s.m.moves[e], -1)
	}
}

// moved applies a move, or with -1 undoes it.
func (s *search) moved(t int32, v move, way int32) {
	switch v.kind {
	case unlock, unlockShared:
		way = -way
		v.kind -= unlock - lock
	case down:
		way = -way
		v.kind = up
	}
	switch v.kind {
	case lock:
		s.holding[t] += way
		if s.writer[v.object] = -1; way > 0 {
			s.writer[v.object] = t
		}
	case lockShared:
		s.holding[t] += way
		s.readers[v.object] += way
	case up:
		s.count[v.object] += int(way)
	}
}

// advance takes the steps that cannot disable a step of another thread, as long as one is possible. needed
// restricts it to the events that second needs.
func (s *search) advance(needed bool) {
	for moved := true; moved && *s.budget > 0; {
		moved = false
		for t := range s.cut {
			for *s.budget > 0 {
				if needed && s.cut[t] >= s.goal[t] || !s.step(t) {
					break
				}
				moved = true
			}
		}
	}
}

// step takes a thread's next event, or a critical section as a whole. A section can be taken whole if
// the thread can complete it now, and keeps all that it holds until then: in any continuation without
// it, it could have come first.
func (s *search) step(t int) bool {
	e := s.next(t)
	if e < 0 || !s.can(e) {
		return false
	}
	switch s.m.moves[e].kind {
	case down:
		if !s.m.sems[s.m.moves[e].object].oneDown {
			return false
		}
	case lock, lockShared:
		mark, before := len(s.order), s.holding[t]
		had := s.cut[t]
		for {
			s.do(e)
			if s.holding[t] == before {
				return true
			}
			if e = s.next(t); e < 0 || !s.can(e) || !s.within(t, had, e) {
				s.back(mark)
				return false
			}
		}
	}
	s.do(e)
	return true
}

// within reports whether an event may be part of a critical section that began with the thread's event
// number had: it takes from no semaphore for which others compete, and releases no lock acquired before.
func (s *search) within(t int, had, e int32) bool {
	v := s.m.moves[e]
	switch v.kind {
	case down:
		return s.m.sems[v.object].oneDown
	case unlock, unlockShared:
		return slices.ContainsFunc(s.m.of[t][had:s.cut[t]], func(a int32) bool {
			w := s.m.moves[a]
			return w.object == v.object && (w.kind == lock || w.kind == lockShared)
		})
	}
	return true
}
