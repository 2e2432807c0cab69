package static

import "github.com/heddle-dev/heddle/internal/analysis/depend"

// maxRounds bounds BackwardForward. Gains end after a few rounds; each is linear.
const maxRounds = 16

// BackwardForward is bidirectional merging, as of Bo, Jiang, Wang and Yu (BiSim,
// Concurrency and Computation 2020), over the dependence graph: a pass from the end to the
// start moves each node down to the thread's next piece where nothing in between depends
// on it, a pass from the start to the end moves each node up to the thread's last piece
// where it depends on nothing in between. Passes are repeated until they gain nothing.
//
// No pass makes more switches: of a piece that was in one, at most one new piece comes,
// because once a node could not move, those after it stay with it. Each pass is linear in
// nodes and edges.
func BackwardForward(g *depend.Graph) []int32 {
	return NewMerger(g).Improve(Recorded(g))
}

// Merger does the passes; it keeps what they need from one to the next.
type Merger struct {
	g     *depend.Graph
	succs *depend.Succs
	block []int32 // of each node, the piece it is in now
	last  []int32 // of each thread, the piece that can grow
	size  []int32 // of each piece
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

// Backward moves nodes down: it is Forward with time turned round.
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

// place adds a node to its thread's latest piece, unless one of the nodes that it has to
// come after is in a later piece; then it starts a new one at the end.
func (m *Merger) place(n int32, after []int32) {
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
