package static

import "github.com/heddle-dev/heddle/internal/analysis/depend"

// SimTrace merges nodes of one thread as long as no path through other threads leads from
// one to the other, then lines the merged nodes up (Huang and Zhang, SAS'11, §4). It
// returns an order with no more switches than the recorded one. Time and memory are linear
// in the nodes and edges.
//
// A local test decides whether such a path exists; it errs only on the safe side: a node joins the one before it in its thread if nothing of another thread
// has to come before the former, or nothing after the latter. In a merged node, all incoming
// edges end no later than the first outgoing one begins. So a path between merged nodes, read
// within each from its incoming to its outgoing edge, is a path of the original graph; that has no
// cycle, so neither has the merged one.
//
// The order of the merged nodes stays with a thread while its next node is ready, and otherwise
// takes the thread that became ready first.
func SimTrace(g *depend.Graph) []int32 {
	c := collapse(g)
	order := c.line(g)
	if recorded := Recorded(g); Switches(g, order) > Switches(g, recorded) {
		return recorded
	}
	return order
}

// collapsed is a graph whose nodes have been merged.
type collapsed struct {
	piece  []int32 // of each node, the merged node it is in
	first  []int32 // of each merged node, its first node
	follow []int32 // of each node, the next of its thread, -1 for none
	heads  []int32 // of each thread, its first node
}

func collapse(g *depend.Graph) *collapsed {
	n := int32(g.Len())
	out := make([]bool, n)
	for i := range n {
		for _, p := range g.Preds(i) {
			out[p] = true
		}
	}
	c := &collapsed{piece: make([]int32, n), follow: make([]int32, n), heads: make([]int32, g.Threads())}
	type tail struct {
		node, piece int32
		out         bool
	}
	tails := make([]tail, g.Threads())
	for i := range tails {
		tails[i].node = -1
	}
	for i := range n {
		c.follow[i] = -1
		t := &tails[g.Thread[i]]
		if t.node >= 0 {
			c.follow[t.node] = i
		} else {
			c.heads[g.Thread[i]] = i
		}
		if t.node < 0 || t.out && len(g.Preds(i)) > 0 {
			t.piece, t.out = int32(len(c.first)), false
			c.first = append(c.first, i)
		}
		c.piece[i] = t.piece
		t.node, t.out = i, t.out || out[i]
	}
	return c
}

// line puts the merged nodes in an order that keeps the edges.
func (c *collapsed) line(g *depend.Graph) []int32 {
	succs := g.Succs()
	missing := make([]int32, len(c.first)) // predecessors that are not in the order yet
	for i := range int32(g.Len()) {
		missing[c.piece[i]] += int32(len(g.Preds(i)))
	}
	at := make([]int32, g.Threads()) // the first node of each thread's next merged node
	queued := make([]bool, g.Threads())
	var queue []int32 // threads whose next merged node is ready
	offer := func(t int32) {
		if at[t] >= 0 && missing[c.piece[at[t]]] == 0 && !queued[t] {
			queued[t] = true
			queue = append(queue, t)
		}
	}
	for t := range at {
		at[t] = c.heads[t]
		offer(int32(t))
	}
	order := make([]int32, 0, g.Len())
	for len(queue) > 0 {
		t := queue[0]
		queue = queue[1:]
		for at[t] >= 0 && missing[c.piece[at[t]]] == 0 {
			piece := c.piece[at[t]]
			i := at[t]
			for ; i >= 0 && c.piece[i] == piece; i = c.follow[i] {
				order = append(order, i)
				for _, s := range succs.Of(i) {
					if missing[c.piece[s]]--; missing[c.piece[s]] == 0 && g.Thread[s] != t {
						if u := g.Thread[s]; at[u] >= 0 && c.piece[at[u]] == c.piece[s] {
							offer(u)
						}
					}
				}
			}
			at[t] = i
		}
		queued[t] = false
		offer(t)
	}
	return order
}
