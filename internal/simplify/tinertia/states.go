package tinertia

import (
	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/trace"
)

// states identifies the states that an execution passes through, so that executions that differ
// only in the order of independent operations are recognised (happens-before caching: Musuvathi and
// Qadeer, PLDI'07, §3). A state is identified by the set of operations that led to it, each with
// the operations that it depends on: a prefix of a Mazurkiewicz trace.
//
// Two prefixes with the same identification have the same operations with the same dependences. So
// they lead to the same state, provided that the recording has every access to memory, and apart
// from values that the program reads from clocks and random numbers.
type states struct {
	before []uint64 // before[i]: the state in which the i-th scheduling decision was made
	// local[i] identifies the local state of decision i's thread after its operation.
	local []uint64
}

// statesOf returns the states of an execution. q is its sequence.
func statesOf(q *sequence) *states {
	t := q.trace
	g := depend.Build(t)
	clocks := g.Clocks()
	names := make([]uint64, g.Threads())
	for u, id := range g.Names {
		names[u] = nameOf(t.Threads, trace.ThreadID(id))
	}
	s := &states{before: make([]uint64, len(q.events)+1), local: make([]uint64, len(q.events))}
	hash := make([]uint64, g.Len())    // of nodes
	of := make([][]int32, g.Threads()) // nodes of each thread
	sum, decision := uint64(0), 0      // of the nodes so far
	for n := range int32(g.Len()) {
		from, to := g.EventsOf(n)
		own := g.Thread[n]
		h := scheduleHash{t.Threads, 0}
		h.mix(names[own])
		for u, count := range clocks.Before(n) {
			if count > 0 { // the thread's first count nodes must come before n
				d := scheduleHash{sum: 1}
				d.mix(hash[of[u][count-1]])
				h.sum += d.sum // the sum does not depend on the order
			}
		}
		s.label(&h, t, t.Events[from:to])
		hash[n] = h.sum
		of[own] = append(of[own], n)
		if t.Events[from].Flags&trace.FlagNoDecision == 0 {
			s.before[decision], s.local[decision] = sum, h.sum
			decision++
		}
		m := scheduleHash{sum: 2}
		m.mix(h.sum)
		sum += m.sum
	}
	s.before[len(q.events)] = sum
	return s
}

// label adds the properties of a node's events that its dependences do not determine.
func (s *states) label(h *scheduleHash, t *trace.Trace, events []trace.Event) {
	for i := range events {
		e := &events[i]
		h.mix(uint64(e.Op)<<32 | uint64(e.Flags))
		h.mix(uint64(e.Site))
		h.mix(uint64(uint32(e.Result)))
		switch e.Op {
		case trace.OpCondSignal:
			if e.Value > 0 {
				h.mix(nameOf(t.Threads, trace.ThreadID(e.Value)-1))
			}
		case trace.OpFutexWake:
			h.mix(e.Value)
			if e.Aux > 0 {
				h.mix(nameOf(t.Threads, trace.ThreadID(e.Aux)-1))
			}
		case trace.OpSelect, trace.OpSelectCase:
			h.mix(e.Aux)
			h.mix(e.Value)
		}
	}
}
