package depend

// Graph is the dependence graph of a trace. Its nodes are the events, numbered in the order in
// which they happened. An event that was not a scheduling point and follows one of its own thread
// belongs to that event's node, because nothing can come between them.
//
// There is an edge from an earlier to a later node of another thread if the later depends on the
// earlier, except where other edges and program order imply that. Program order has no edges:
// Thread defines it. So any order of the nodes that keeps the order of every thread's nodes and of
// every edge keeps every dependence.
type Graph struct {
	Thread []int32 // of each node: 0..Threads-1
	Names  []int32 // thread number → thread id in the trace

	first []int32 // first event of each node; nil if every event is a node
	count int     // events
	start []uint32
	preds []int32
	kinds []Kind
}

// Len returns the number of nodes.
func (g *Graph) Len() int { return len(g.Thread) }

// Threads returns the number of threads.
func (g *Graph) Threads() int { return len(g.Names) }

// Edges returns the number of edges, excluding program order.
func (g *Graph) Edges() int { return len(g.preds) }

// Preds returns the nodes that node n depends on directly, all of other threads.
func (g *Graph) Preds(n int32) []int32 { return g.preds[g.start[n]:g.start[n+1]] }

// Kinds returns the reason for each of Preds.
func (g *Graph) Kinds(n int32) []Kind { return g.kinds[g.start[n]:g.start[n+1]] }

// EventsOf returns the range of events that belong to node n.
func (g *Graph) EventsOf(n int32) (from, to int) {
	if g.first == nil {
		return int(n), int(n) + 1
	}
	if int(n)+1 < len(g.first) {
		return int(g.first[n]), int(g.first[n+1])
	}
	return int(g.first[n]), g.count
}

// After returns the graph of the nodes from node n on and of their threads, both numbered from 0, without
// the edges from nodes before. Its EventsOf has no meaning. An order of its nodes that keeps its edges keeps, after the nodes
// before n, every edge of g: an implied edge between two nodes is implied by nodes between them.
func (g *Graph) After(n int32) *Graph {
	out := &Graph{start: make([]uint32, 1, g.Len()-int(n)+1)}
	numbers := make([]int32, g.Threads()) // plus one
	for i := n; int(i) < g.Len(); i++ {
		th := g.Thread[i]
		if numbers[th] == 0 {
			out.Names = append(out.Names, g.Names[th])
			numbers[th] = int32(len(out.Names))
		}
		out.Thread = append(out.Thread, numbers[th]-1)
		for k, p := range g.Preds(i) {
			if p >= n {
				out.preds, out.kinds = append(out.preds, p-n), append(out.kinds, g.Kinds(i)[k])
			}
		}
		out.start = append(out.start, uint32(len(out.preds)))
	}
	return out
}

// Succs holds the reversed edges of a graph.
type Succs struct {
	start []uint32
	succs []int32
}

// Of returns the nodes that depend directly on node n.
func (s *Succs) Of(n int32) []int32 { return s.succs[s.start[n]:s.start[n+1]] }

// Succs reverses the edges.
func (g *Graph) Succs() *Succs {
	s := &Succs{make([]uint32, g.Len()+2), make([]int32, len(g.preds))}
	for _, p := range g.preds {
		s.start[p+2]++
	}
	for i := 2; i < len(s.start); i++ {
		s.start[i] += s.start[i-1]
	}
	for n := range int32(g.Len()) {
		for _, p := range g.Preds(n) {
			s.succs[s.start[p+1]] = n
			s.start[p+1]++
		}
	}
	s.start = s.start[:g.Len()+1]
	return s
}
