package reversible

import (
	"encoding/binary"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// This file searches for a deadlock. A graph of locks and semaphores without a cycle excludes one. Otherwise the
// search branches at the acquisitions from which a cycle can be reached, takes every other step at once, and ends at
// a cut from which no thread can go on.

// Deadlock is a way in which threads may wait for each other, in a schedule that reverses no pair.
type Deadlock struct {
	// Waits are the acquisitions in which threads wait, and what is held meanwhile.
	Waits []Wait
	// Order is a feasible reordering after which no thread can go on, as indices of events; nil if
	// the search has not found one, but cannot exclude it either.
	Order []int
}

// Wait is an event that cannot happen as long as others hold what they hold.
type Wait struct {
	Event int
	// Holds is the event that acquired what is held meanwhile, -1 for nothing. It is of the thread of
	// Event, or of one that waits for that thread.
	Holds int
}

const (
	deadlockSteps  = 20_000_000
	deadlockStates = 300_000
	// mostDeadlocks is how many deadlocks of the model are executed.
	mostDeadlocks = 4
)

// deadlock returns a deadlock that a feasible reordering may end in, or nil. The condition must hold, so that
// feasible reorderings keep all dependences. confirm is called with those that the search finds until it returns true.
func (m *model) deadlock(confirm func(*Deadlock) (bool, error)) (*Deadlock, bool, error) {
	extra := m.waitsForUps()
	r := m.resourcesOf(extra)
	nodes, certain := r.cyclic(), true
	if m.waitsForReceives(extra) {
		with := m.resourcesOf(extra)
		all := with.cyclic()
		for k := range with.edges {
			if _, ok := r.edges[k]; !ok && all[k[0]] && all[k[1]] {
				certain = false // the search does not know that a send may have to wait
			}
		}
		r, nodes = with, all
	}
	if nodes == nil {
		return nil, false, nil
	}
	s := newStuck(m, nodes)
	var first *Deadlock
	confirmed, tried := false, 0
	var failed error
	complete := s.from(func() bool {
		d := &Deadlock{Waits: s.waiting(), Order: s.sequence()}
		if first == nil {
			first = d
		}
		tried++
		if confirmed, failed = confirm(d); confirmed {
			first = d
		}
		return confirmed || failed != nil || tried >= mostDeadlocks
	})
	switch {
	case failed != nil || confirmed || first != nil:
		return first, confirmed, failed
	case complete && certain:
		return nil, false, nil
	}
	return &Deadlock{Waits: r.cycle(nodes)}, false, nil
}

// stuck searches for a cut from which no thread can go on. Threads wait only at acquisitions of nodes
// from which a cycle can be reached, so everything else is done at once, and only these acquisitions are branched over.
type stuck struct {
	*search
	nodes map[int32]bool
	// last and lastAlone are the numbers of each thread's last acquisitions of a node, and of those that are not shared.
	last, lastAlone map[int32][]int32
	arrived         []bool  // writers that wait and keep readers out
	arrivals        []int32 // of each lock
	trail           []step
	states          int
	visited         map[string]bool
}

type step struct {
	event           int32
	arrives, waited bool
}

func newStuck(m *model, nodes map[int32]bool) *stuck {
	budget := deadlockSteps
	s := &stuck{search: newSearch(m, &budget), nodes: nodes, last: map[int32][]int32{}, lastAlone: map[int32][]int32{}, arrived: make([]bool, len(m.of)), arrivals: make([]int32, m.locks), states: deadlockStates, visited: map[string]bool{}}
	for n := range nodes {
		s.last[n], s.lastAlone[n] = slices.Repeat([]int32{-1}, len(m.of)), slices.Repeat([]int32{-1}, len(m.of))
	}
	for e := range int32(m.g.Len()) {
		if n := s.acquires(e); n >= 0 {
			u := m.g.Thread[e]
			s.last[n][u] = m.nth[e]
			if !s.shares(e) {
				s.lastAlone[n][u] = m.nth[e]
			}
		}
	}
	return s
}

// acquires returns the node for which an event may have to wait, or -1.
func (s *stuck) acquires(e int32) int32 {
	if n := s.m.node(e); n >= 0 && s.nodes[n] {
		return n
	}
	return -1
}

func (s *stuck) shares(e int32) bool {
	k := s.m.moves[e].kind
	return k == lockShared || k == noMove
}

// alone reports whether no other thread will do what conflicts with the acquisition.
func (s *stuck) alone(t int, e, n int32) bool {
	last := s.last[n]
	if s.shares(e) {
		last = s.lastAlone[n]
	}
	for v, at := range last {
		if v != t && at >= s.cut[v] {
			return false
		}
	}
	return true
}

func (s *stuck) enabled(e int32) bool {
	if n := s.acquires(e); n >= 0 && int(n) < s.m.locks && s.shares(e) && s.arrivals[n] > 0 {
		return false
	}
	return s.can(e)
}

// arrives reports whether a writer can begin to wait, so that it keeps readers out.
func (s *stuck) arrives(t int, e, n int32) bool {
	if int(n) >= s.m.locks || !s.m.writersFirst[n] || s.shares(e) || s.arrived[t] || s.readers[n] == 0 {
		return false
	}
	return !slices.ContainsFunc(s.m.g.Preds(e), func(p int32) bool { return s.cut[s.m.g.Thread[p]] <= s.m.nth[p] })
}

func (s *stuck) take(e int32) {
	t := s.m.g.Thread[e]
	s.trail = append(s.trail, step{e, false, s.arrived[t]})
	s.arrive(e, false)
	s.do(e)
}

func (s *stuck) arrive(e int32, waits bool) {
	t := s.m.g.Thread[e]
	if s.arrived[t] == waits {
		return
	}
	s.arrived[t] = waits
	if n := s.m.moves[e].object; waits {
		s.arrivals[n]++
	} else {
		s.arrivals[n]--
	}
}

func (s *stuck) undo(mark int) {
	for len(s.trail) > mark {
		x := s.trail[len(s.trail)-1]
		s.trail = s.trail[:len(s.trail)-1]
		if x.arrives {
			s.arrive(x.event, false)
			continue
		}
		s.back(len(s.order) - 1)
		s.arrive(x.event, x.waited)
	}
}

// from searches from the current state, and calls found in each deadlock until it returns true. It reports whether the
// search was complete.
func (s *stuck) from(found func() bool) bool {
	complete := true
	var visit func() bool
	visit = func() bool { // reports whether to stop
		mark := len(s.trail)
		defer s.undo(mark)
		for moved := true; moved; {
			moved = false
			for t := range s.cut {
				for {
					e := s.next(t)
					if e < 0 {
						break
					}
					if n := s.acquires(e); n >= 0 && !s.alone(t, e, n) || !s.enabled(e) {
						break
					}
					s.take(e)
					moved = true
				}
			}
		}
		key := s.key()
		for t, on := range s.arrived {
			if on {
				key += string(binary.AppendUvarint([]byte{0}, uint64(t)))
			}
		}
		if s.visited[key] {
			return false
		}
		if s.states--; s.states < 0 || *s.budget < 0 {
			complete = false
			return true
		}
		s.visited[key] = true
		blocked, left := true, false
		for t := range s.cut {
			e := s.next(t)
			if e < 0 {
				continue
			}
			left = true
			n := s.acquires(e)
			if n < 0 {
				continue
			}
			at := len(s.trail)
			if s.enabled(e) {
				blocked = false
				s.take(e)
				if visit() {
					return true
				}
				s.undo(at)
			} else if s.arrives(t, e, n) {
				blocked = false
				s.trail = append(s.trail, step{e, true, false})
				s.arrive(e, true)
				if visit() {
					return true
				}
				s.undo(at)
			}
		}
		return left && blocked && found()
	}
	visit()
	return complete
}

// sequence returns the events up to the current state. A goroutine's event at its arrival comes where it begins to wait.
func (s *stuck) sequence() []int {
	var out []int
	early := map[int32]bool{}
	for _, x := range s.trail {
		switch {
		case x.arrives && s.m.t.Events[x.event].Op == trace.OpRwLock:
			early[x.event] = true
		case x.arrives || early[x.event]:
			continue
		}
		out = append(out, int(x.event))
	}
	return out
}

// waiting returns what the threads wait for in the current state, that hold something or wait for a lock or semaphore.
func (s *stuck) waiting() []Wait {
	var out []Wait
	for t := range s.cut {
		e := s.next(t)
		if e < 0 {
			continue
		}
		var holds []int32
		for _, a := range s.m.of[t][:s.cut[t]] {
			switch v := s.m.moves[a]; v.kind {
			case lock, lockShared, down:
				holds = append(holds, a)
			case unlock, unlockShared, up:
				if i := slices.IndexFunc(holds, func(h int32) bool {
					w := s.m.moves[h]
					return w.object == v.object && (w.kind == down) == (v.kind == up)
				}); i >= 0 {
					holds = slices.Delete(holds, i, i+1)
				}
			}
		}
		w := Wait{int(e), -1}
		if len(holds) > 0 {
			w.Holds = int(holds[len(holds)-1])
		}
		if w.Holds >= 0 || s.acquires(e) >= 0 {
			out = append(out, w)
		}
	}
	return out
}
