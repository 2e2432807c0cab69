package depend

// Clocks holds, for every node, the nodes that must come before it, as one number for each thread:
// Before(n)[t] is how many of the nodes of thread t must come before node n. Those are always the
// thread's first nodes. For n's own thread it is n's number within it.
type Clocks struct {
	threads int
	flat    []int32
}

// Clocks computes vector clocks over the dependences. They take 4 bytes for each node and
// thread.
func (g *Graph) Clocks() *Clocks {
	w := g.Threads()
	c := &Clocks{w, make([]int32, g.Len()*w)}
	last := make([]int32, w)
	index := make([]int32, g.Len())
	count := make([]int32, w)
	for i := range last {
		last[i] = none
	}
	for n := range int32(g.Len()) {
		t := g.Thread[n]
		own := c.Before(n)
		if last[t] != none {
			copy(own, c.Before(last[t]))
		}
		for _, p := range g.Preds(n) {
			for u, v := range c.Before(p) {
				own[u] = max(own[u], v)
			}
			own[g.Thread[p]] = max(own[g.Thread[p]], index[p]+1)
		}
		index[n] = count[t]
		own[t] = count[t]
		count[t]++
		last[t] = n
	}
	return c
}

// Before returns what must come before node n, as Clocks describes. The caller must not change it.
func (c *Clocks) Before(n int32) []int32 {
	return c.flat[int(n)*c.threads : (int(n)+1)*c.threads]
}

// Reduce returns the graph without the edges that other edges and program order imply.
func (g *Graph) Reduce() *Graph {
	c := g.Clocks()
	out := &Graph{Thread: g.Thread, Names: g.Names, first: g.first, count: g.count, start: make([]uint32, 1, g.Len()+1)}
	last := make([]int32, g.Threads())
	index := make([]int32, g.Len())
	count := make([]int32, g.Threads())
	for i := range last {
		last[i] = none
	}
	for n := range int32(g.Len()) {
		t := g.Thread[n]
		preds, kinds := g.Preds(n), g.Kinds(n)
	next:
		for i, p := range preds {
			u := g.Thread[p]
			if last[t] != none && c.Before(last[t])[u] > index[p] {
				continue
			}
			for j, q := range preds {
				// Only the latest edge from a thread matters.
				if g.Thread[q] == u && (q > p || q == p && j < i) || g.Thread[q] != u && c.Before(q)[u] > index[p] {
					continue next
				}
			}
			out.preds = append(out.preds, p)
			out.kinds = append(out.kinds, kinds[i])
		}
		out.start = append(out.start, uint32(len(out.preds)))
		index[n] = count[t]
		count[t]++
		last[t] = n
	}
	return out
}

// Quotient merges nodes into TEIs: order is an order of the nodes that keeps the dependences and in
// which the nodes of each TEI are consecutive; piece maps each node to its TEI. The nodes of the
// result are the TEIs in that order; it does not keep their events.
func (g *Graph) Quotient(order, piece []int32) *Graph {
	out := &Graph{Names: g.Names}
	number := make([]int32, len(order)) // of TEIs
	for i := range number {
		number[i] = none
	}
	from := make([]int32, g.Threads()) // latest node that the TEI depends on
	kind := make([]Kind, g.Threads())
	var touched []int32
	flush := func() {
		for _, u := range touched {
			out.preds = append(out.preds, from[u])
			out.kinds = append(out.kinds, kind[u])
			from[u] = none
		}
		touched = touched[:0]
	}
	for i := range from {
		from[i] = none
	}
	for _, n := range order {
		if number[piece[n]] == none {
			flush()
			number[piece[n]] = int32(len(out.Thread))
			out.Thread = append(out.Thread, g.Thread[n])
			out.start = append(out.start, uint32(len(out.preds)))
		}
		for i, p := range g.Preds(n) {
			u := g.Thread[p]
			if from[u] == none {
				touched = append(touched, u)
			}
			if q := number[piece[p]]; q > from[u] {
				from[u], kind[u] = q, g.Kinds(n)[i]
			}
		}
	}
	flush()
	out.start = append(out.start, uint32(len(out.preds)))
	out.count = len(out.Thread)
	return out
}
