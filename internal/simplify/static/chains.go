package static

import "github.com/heddle-dev/heddle/internal/analysis/depend"

// chains is the problem of the fewest switches, reduced as far as possible without changing the
// answer: for each thread a chain of segments that need not be cut, and for each segment what has
// to come before it.
type chains struct {
	stop  *Stop
	g     *depend.Graph // its nodes are the segments
	nodes [][]int32     // of the original graph, in each segment
	of    [][]int32     // of each thread, its segments
	need  *depend.Clocks
}

// maxClocks bounds the memory for clocks: segments × threads.
const maxClocks = 1 << 26

// shrink alternates between merging nodes and dropping edges that follow from others, until neither
// has an effect. Merging as collapse does preserves the best order: where no node of another thread
// has to come before a node, it can be moved up to the one before it in its thread without adding
// an interval; likewise down. Redundant edges only hide that. shrink returns nil if the clocks
// would take too much memory.
func shrink(stop *Stop, g *depend.Graph) *chains {
	c := &chains{g: g, stop: stop}
	for i := range int32(g.Len()) {
		c.nodes = append(c.nodes, []int32{i})
	}
	for {
		before := c.g.Len()
		parts := collapse(c.g)
		order := parts.line(c.g)
		nodes := make([][]int32, 0, len(parts.first))
		prev := int32(-1)
		for _, n := range order {
			stop.Check()
			if parts.piece[n] != prev {
				prev = parts.piece[n]
				nodes = append(nodes, nil)
			}
			nodes[len(nodes)-1] = append(nodes[len(nodes)-1], c.nodes[n]...)
		}
		c.g, c.nodes = c.g.Quotient(order, parts.piece), nodes
		if c.g.Len()*c.g.Threads() > maxClocks {
			return nil
		}
		if edges := c.g.Edges(); edges > 0 {
			c.g = c.g.Reduce()
			if c.g.Edges() < edges {
				continue
			}
		}
		if c.g.Len() == before {
			break
		}
	}
	c.need = c.g.Clocks()
	c.of = make([][]int32, c.g.Threads())
	for i, t := range c.g.Thread {
		c.of[t] = append(c.of[t], int32(i))
	}
	return c
}

// ready reports whether thread t's segment k can run when cut[u] segments of each thread u have
// run.
func (c *chains) ready(t, k int, cut []int32) bool {
	for u, n := range c.need.Before(c.of[t][k]) {
		if u != t && n > cut[u] {
			return false
		}
	}
	return true
}

// readyAmong is ready for the next segment of threads[i], where cut is that of threads and all
// others are done. It ignores other threads, because tables are built for each pair of
// thousands.
func (c *chains) readyAmong(threads []int, i int, cut []int) bool {
	t := threads[i]
	before := c.need.Before(c.of[t][cut[i]])
	for j, u := range threads {
		if j != i && int(before[u]) > cut[j] {
			return false
		}
	}
	return true
}

// order expands an order of threads, one for each segment, into nodes of the original graph.
func (c *chains) order(threads []int32) []int32 {
	at := make([]int, len(c.of))
	var out []int32
	for _, t := range threads {
		out = append(out, c.nodes[c.of[t][at[t]]]...)
		at[t]++
	}
	return out
}

// alone returns, for each thread and each of its segments, the fewest intervals that the thread
// needs from there on, regardless of the other threads: two of its segments cannot share an interval
// if a path through another thread leads from one to the other, and cutting greedily gives the
// fewest intervals.
func (c *chains) alone() [][]int32 {
	out := make([][]int32, len(c.of))
	for t, segs := range c.of {
		// cutAt[k] is the first segment that cannot be in an interval that starts with k.
		out[t] = make([]int32, len(segs)+1)
		// returns[k] is how many of the thread's own segments have to come before
		// segment k by way of other threads.
		returns := make([]int32, len(segs))
		for k, s := range segs {
			for _, p := range c.g.Preds(s) {
				returns[k] = max(returns[k], c.need.Before(p)[t])
			}
		}
		end := len(segs)
		// From the back: an interval that starts with k ends before the first j > k with returns[j]
		// > k.
		first := make([]int, len(segs)+1) // first j with returns[j] > k
		for k := range first {
			first[k] = end
		}
		for j := len(segs) - 1; j >= 0; j-- {
			if r := int(returns[j]) - 1; r >= 0 {
				first[r] = min(first[r], j)
			}
		}
		for k := end - 1; k >= 0; k-- {
			first[k] = min(first[k], first[k+1])
		}
		for k := end - 1; k >= 0; k-- {
			out[t][k] = 1 + out[t][first[k]]
		}
	}
	return out
}
