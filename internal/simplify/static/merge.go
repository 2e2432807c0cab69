package static

import "github.com/heddle-dev/heddle/internal/analysis/depend"

// maxRounds bounds BackwardForward. Gains end after a few rounds; each is linear.
const maxRounds = 16

// BackwardForward is bidirectional merging, after Bo, Jiang, Wang and Yu (BiSim, Concurrency and
// Computation 2020), on the dependence graph: a pass from the end to the start moves each node down
// to the thread's next interval if nothing in between depends on it, a pass from the start to the
// end moves each node up to the thread's last interval if it depends on nothing in between. Passes
// are repeated until they gain nothing.
//
// No pass adds switches: an interval gives rise to at most one new interval, because once a node
// cannot move, those after it stay with it. Each pass is linear in nodes and edges.
func BackwardForward(g *depend.Graph) []int32 {
	return NewMerger(g).Improve(Recorded(g))
}

// Merger performs the passes and keeps their buffers from one to the next.
type Merger struct {
	stop  *Stop
	g     *depend.Graph
	succs *depend.Succs
	block []int32 // of each node, its current interval
	last  []int32 // of each thread, the interval that can grow
	size  []int32 // of each interval
}

// NewMerger prepares passes over a graph.
func NewMerger(g *depend.Graph) *Merger {
	return &Merger{g: g, succs: g.Succs(), block: make([]int32, g.Len()), last: make([]int32, g.Threads())}
}

// Improve repeats passes from an order that keeps the dependences until they gain nothing.
func (m *Merger) Improve(order []int32) []int32 {
	best := Switches(m.g, order)
	for range maxRounds {
		next := m.Forward(m.Backward(order))
		n := Switches(m.g, next)
		if n >= best {
			break
		}
		best, order = n, next
	}
	return order
}

// Forward moves nodes up.
func (m *Merger) Forward(order []int32) []int32 {
	m.start()
	for _, n := range order {
		m.place(n, m.g.Preds(n))
	}
	at := int32(0)
	for b, size := range m.size {
		m.size[b] = at
		at += size
	}
	out := make([]int32, len(order))
	for _, n := range order {
		b := m.block[n]
		out[m.size[b]] = n
		m.size[b]++
	}
	return out
}

// Backward moves nodes down: it is Forward in reverse.
func (m *Merger) Backward(order []int32) []int32 {
	m.start()
	for i := len(order) - 1; i >= 0; i-- {
		m.place(order[i], m.succs.Of(order[i]))
	}
	at := int32(len(order))
	for b, size := range m.size {
		m.size[b] = at
		at -= size
	}
	out := make([]int32, len(order))
	for i := len(order) - 1; i >= 0; i-- {
		b := m.block[order[i]]
		m.size[b]--
		out[m.size[b]] = order[i]
	}
	return out
}

func (m *Merger) start() {
	m.size = m.size[:0]
	for t := range m.last {
		m.last[t] = -1
	}
}

// place adds a node to its thread's latest interval, unless a node that it has to follow is in a
// later one; then it starts a new interval at the end.
func (m *Merger) place(n int32, after []int32) {
	m.stop.Check()
	t := m.g.Thread[n]
	b := m.last[t]
	for _, p := range after {
		if m.block[p] > b {
			b = -1
			break
		}
	}
	if b < 0 {
		b = int32(len(m.size))
		m.size = append(m.size, 0)
		m.last[t] = b
	}
	m.block[n] = b
	m.size[b]++
}
