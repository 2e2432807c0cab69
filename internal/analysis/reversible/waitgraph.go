package reversible

import (
	"maps"
	"slices"
)

// This file builds the graph of locks and semaphores, and finds its cycles. An edge leads from what a thread holds to what
// an event before its release acquires. Strongly connected components of one thread, or within a gate
// lock (Havelund, SPIN 2000), lose their edges.

// hold is a lock or semaphore between its acquisition and its release.
type hold struct {
	node  int32
	event int32
	row   []int32 // of each thread, how many events are known to be ordered before, or have been seen
}

// resources is a graph of locks and semaphores. An edge L → M means that a thread that holds L
// may have to wait for one that acquires M.
type resources struct {
	m         *model
	extra     map[int32][]int32 // of each event, those that it may wait for, besides its predecessors
	star      []int32           // clocks with these; nil without any
	contended []bool
	acquired  []acquisitions // by each thread
	matched   map[int32]int32
	edges     map[[2]int32]*edge
}

// edge is an edge of the graph, with one of the waits that it stands for.
type edge struct {
	Wait
	thread int32   // that holds and acquires, -1 for several
	gates  []int32 // locks that it always holds alone meanwhile
	other  bool    // another thread acquires, or a semaphore is involved
}

type acquisitions struct {
	nth, node, event []int32
	of               map[int32][]int32 // positions of each node
}

// node returns what an event may block on: a lock, or a semaphore from which several threads take; -1 for nothing.
// Locks come first.
func (m *model) node(e int32) int32 {
	if l, ok := m.nested[e]; ok {
		if m.writersFirst[l] {
			return l
		}
		return -1
	}
	switch v := m.moves[e]; {
	case v.shows:
	case v.kind == lock || v.kind == lockShared:
		return v.object
	case v.kind == down && !m.sems[v.object].oneDown:
		return int32(m.locks) + v.object
	}
	return -1
}

// waitsForUps returns for each event that takes from a semaphore of one taker the ups that it may wait for.
func (m *model) waitsForUps() map[int32][]int32 {
	out := map[int32][]int32{}
	for i := range m.sems {
		s := &m.sems[i]
		if !s.oneDown {
			continue
		}
		last, n := map[int32]int32{}, 0
		for _, d := range s.downs {
			for ; n < len(s.ups) && s.ups[n] < d; n++ {
				last[m.g.Thread[s.ups[n]]] = s.ups[n]
			}
			out[d] = slices.Sorted(maps.Values(last))
		}
	}
	return out
}

// waitsForReceives adds the receives that sends may wait for, with the smallest capacities of channels that the trace
// allows, and reports whether there are any.
func (m *model) waitsForReceives(extra map[int32][]int32) bool {
	any := false
	for _, ch := range m.chans {
		if ch.odd {
			continue
		}
		capacity, n := 0, 0
		for _, at := range slices.Sorted(slices.Values(ch.completed)) {
			if at < 0 {
				continue
			}
			for n < len(ch.received) && ch.received[n] < at {
				n++
			}
			capacity = max(capacity, slices.Index(ch.completed, at)+1-n)
		}
		for k, at := range ch.completed {
			if k >= capacity && at >= 0 {
				extra[at] = append(extra[at], ch.received[k-capacity])
				any = true
			}
		}
	}
	return any
}

// resourcesOf builds the graph.
func (m *model) resourcesOf(extra map[int32][]int32) *resources {
	r := &resources{m: m, extra: extra, contended: make([]bool, m.locks+len(m.sems)), acquired: make([]acquisitions, len(m.of)), matched: map[int32]int32{}, edges: map[[2]int32]*edge{}}
	if !r.scan() {
		return r
	}
	r.clocks()
	held := make([][]*hold, len(m.of))
	for e := range int32(m.g.Len()) {
		u := m.g.Thread[e]
		if len(held[u]) > 0 {
			if n := m.node(e); n >= 0 && r.contended[n] {
				r.nests(held[u], n, e)
			}
			for _, preds := range [][]int32{m.g.Preds(e), extra[e]} {
				for _, p := range preds {
					for _, h := range held[u] {
						if h.row == nil {
							h.row = slices.Clone(m.clocks.Before(h.event))
						}
						r.merge(h, p)
					}
				}
			}
		}
		v := m.moves[e]
		node := v.object
		switch v.kind {
		case noMove:
			continue
		case up, down:
			node += int32(m.locks)
		}
		if !r.contended[node] {
			continue
		}
		drop := func(acquired int32) {
			held[u] = slices.DeleteFunc(held[u], func(h *hold) bool { return h.node == node && (acquired < 0 || h.event == acquired) })
		}
		switch v.kind {
		case lock, lockShared:
			held[u] = append(held[u], &hold{node: node, event: e})
		case unlock, unlockShared:
			drop(-1)
		case down:
			if _, ok := r.matched[e]; ok {
				held[u] = append(held[u], &hold{node: node, event: e})
			}
		case up:
			if d, ok := r.matched[e]; ok {
				drop(d)
			}
		}
	}
	for u := range held {
		for _, h := range held[u] {
			r.kept(int32(u), h)
		}
	}
	r.counts()
	return r
}

// scan collects the acquisitions and reports whether several threads compete for anything.
func (r *resources) scan() bool {
	m := r.m
	by := make([]int32, len(r.contended)) // the thread that acquires it, plus 1, or -1
	exclusive := make([]bool, len(r.contended))
	for e := range int32(m.g.Len()) {
		v := m.moves[e]
		node := v.object
		switch v.kind {
		case lock, lockShared:
		case down:
			node += int32(m.locks)
		default:
			continue
		}
		exclusive[node] = exclusive[node] || v.kind != lockShared
		if u := m.g.Thread[e] + 1; by[node] == 0 {
			by[node] = u
		} else if by[node] != u {
			by[node] = -1
		}
	}
	any := false
	for n := range by {
		r.contended[n] = by[n] < 0 && exclusive[n]
		any = any || r.contended[n]
	}
	for u := range r.acquired {
		a := &r.acquired[u]
		a.of = map[int32][]int32{}
		for i, e := range m.of[u] {
			if n := m.node(e); n >= 0 && r.contended[n] {
				a.nth, a.node, a.event = append(a.nth, int32(i)), append(a.node, n), append(a.event, e)
				a.of[n] = append(a.of[n], int32(len(a.nth)-1))
			}
		}
	}
	for i := range m.sems {
		if m.sems[i].oneDown {
			continue
		}
		open := map[int32][]int32{}
		all := slices.Sorted(slices.Values(slices.Concat(m.sems[i].ups, m.sems[i].downs)))
		for _, e := range all {
			u := m.g.Thread[e]
			if m.moves[e].kind == down {
				open[u] = append(open[u], e)
			} else if n := len(open[u]); n > 0 {
				d := open[u][n-1]
				open[u] = open[u][:n-1]
				r.matched[d], r.matched[e] = e, d
			}
		}
	}
	return any
}

// clocks computes what may have to come before each event.
func (r *resources) clocks() {
	if len(r.extra) == 0 {
		return
	}
	m, w := r.m, len(r.m.of)
	r.star = make([]int32, m.g.Len()*w)
	for e := range int32(m.g.Len()) {
		own := r.before(e)
		u := m.g.Thread[e]
		if n := m.nth[e]; n > 0 {
			copy(own, r.before(m.of[u][n-1]))
		}
		for _, preds := range [][]int32{m.g.Preds(e), r.extra[e]} {
			for _, p := range preds {
				for v, n := range r.before(p) {
					own[v] = max(own[v], n)
				}
				own[m.g.Thread[p]] = max(own[m.g.Thread[p]], m.nth[p]+1)
			}
		}
		own[u] = m.nth[e]
	}
}

func (r *resources) before(e int32) []int32 {
	if r.star == nil {
		return r.m.clocks.Before(e)
	}
	w := len(r.m.of)
	return r.star[int(e)*w : (int(e)+1)*w]
}

// edge adds an edge for an acquisition by another thread than the holder.
func (r *resources) edge(from, to, held, e int32) {
	k := [2]int32{from, to}
	if x := r.edges[k]; x != nil {
		x.other = true
		return
	}
	r.edges[k] = &edge{Wait: Wait{int(e), int(held)}, thread: -1, other: true}
}

// nests adds the edges for an acquisition by a thread that holds others.
func (r *resources) nests(held []*hold, n, e int32) {
	u := r.m.g.Thread[e]
	alone := func(node int32) bool {
		return slices.ContainsFunc(held, func(h *hold) bool { return h.node == node && r.m.moves[h.event].kind == lock })
	}
	for _, h := range held {
		k := [2]int32{h.node, n}
		x := r.edges[k]
		if x == nil {
			x = &edge{Wait: Wait{int(e), int(h.event)}, thread: u}
			for _, g := range held {
				if g.node != h.node && g.node != n && alone(g.node) {
					x.gates = append(x.gates, g.node)
				}
			}
			r.edges[k] = x
		}
		if x.thread != u {
			x.thread = -1
		}
		x.gates = slices.DeleteFunc(x.gates, func(g int32) bool { return !alone(g) })
		x.other = x.other || h.node == n || int(max(h.node, n)) >= r.m.locks
	}
}

// merge adds edges for what other threads acquire before event p, for which the holder may wait.
func (r *resources) merge(h *hold, p int32) {
	own := r.m.g.Thread[h.event]
	add := func(v, to int32) {
		from := h.row[v]
		if to <= from || v == own {
			return
		}
		h.row[v] = to
		a := &r.acquired[v]
		lo, _ := slices.BinarySearch(a.nth, from)
		hi, _ := slices.BinarySearch(a.nth, to)
		if hi-lo <= len(a.of) {
			for i := lo; i < hi; i++ {
				r.edge(h.node, a.node[i], h.event, a.event[i])
			}
			return
		}
		for n, at := range a.of {
			if i, _ := slices.BinarySearch(at, int32(lo)); i < len(at) && int(at[i]) < hi {
				r.edge(h.node, n, h.event, a.event[at[i]])
			}
		}
	}
	for v, n := range r.before(p) {
		add(int32(v), n)
	}
	add(r.m.g.Thread[p], r.m.nth[p]+1)
}

// kept adds an edge for a lock that its holder never releases.
func (r *resources) kept(u int32, h *hold) {
	for v := range r.acquired {
		a := &r.acquired[v]
		if at := a.of[h.node]; int32(v) != u && len(at) > 0 && a.nth[at[len(at)-1]] >= r.m.clocks.Before(h.event)[v] {
			r.edge(h.node, h.node, h.event, a.event[at[len(at)-1]])
		}
	}
}

// counts adds edges for semaphores that threads do not only use like locks: a down may wait for any up whose thread
// has not taken before.
func (r *resources) counts() {
	for i := range r.m.sems {
		s := &r.m.sems[i]
		node := int32(r.m.locks + i)
		if s.oneDown || !r.contended[node] {
			continue
		}
		take, pair := int32(-1), int32(-1)
		for _, d := range s.downs {
			if _, ok := r.matched[d]; ok {
				pair = d
			} else {
				take = d
			}
		}
		if take >= 0 && pair >= 0 && s.initial+len(s.ups) == len(s.downs) {
			r.edge(node, node, take, pair) // nothing may be left for the pair
		}
		h := &hold{node: node, event: s.downs[0], row: make([]int32, len(r.m.of))}
		for _, p := range s.ups {
			if _, ok := r.matched[p]; ok {
				continue
			}
			h.event = p
			for v, n := range r.before(p) {
				r.range_(h, int32(v), n)
			}
		}
	}
}

// range_ adds the edges for the first n events of thread v.
func (r *resources) range_(h *hold, v, n int32) {
	a := &r.acquired[v]
	lo, _ := slices.BinarySearch(a.nth, h.row[v])
	for ; lo < len(a.nth) && a.nth[lo] < n; lo++ {
		r.edge(h.node, a.node[lo], h.event, a.event[lo])
	}
	h.row[v] = max(h.row[v], n)
}

// cyclic returns the nodes from which a cycle can be reached; nil if no cycle exists. Not counted are cycles of one thread, and
// those that two threads cannot enter because a lock surrounds all of it (Havelund, "Using runtime analysis to guide model
// checking of Java programs", SPIN 2000).
func (r *resources) cyclic() map[int32]bool {
	r.prune()
	in, degree := map[int32][]int32{}, map[int32]int{}
	for k := range r.edges {
		in[k[1]] = append(in[k[1]], k[0])
		degree[k[0]]++
		degree[k[1]] += 0
	}
	var free []int32
	for n, d := range degree {
		if d == 0 {
			free = append(free, n)
		}
	}
	for len(free) > 0 {
		n := free[len(free)-1]
		free = free[:len(free)-1]
		delete(degree, n)
		for _, p := range in[n] {
			if degree[p]--; degree[p] == 0 {
				free = append(free, p)
			}
		}
	}
	if len(degree) == 0 {
		return nil
	}
	out := map[int32]bool{}
	for n := range degree {
		out[n] = true
	}
	return out
}

// prune removes the edges of strongly connected components in which no threads can wait for each other.
func (r *resources) prune() {
	of := r.components()
	type component struct {
		thread int32
		gates  []int32
		many   bool // has edges of several threads
		other  bool
	}
	all := map[int32]*component{}
	for k, x := range r.edges {
		if of[k[0]] != of[k[1]] {
			continue
		}
		c := all[of[k[0]]]
		if c == nil {
			c = &component{thread: x.thread, gates: slices.Clone(x.gates)}
			all[of[k[0]]] = c
		}
		c.many = c.many || x.thread < 0 || x.thread != c.thread
		c.other = c.other || x.other
		c.gates = slices.DeleteFunc(c.gates, func(g int32) bool { return !slices.Contains(x.gates, g) })
	}
	for k := range r.edges {
		if c := all[of[k[0]]]; c != nil && of[k[0]] == of[k[1]] && !c.other && (!c.many || len(c.gates) > 0) {
			delete(r.edges, k)
		}
	}
}

// components returns a number for each node's strongly connected component (Tarjan, SIAM J. Comput. 1972).
func (r *resources) components() map[int32]int32 {
	next := map[int32][]int32{}
	for k := range r.edges {
		next[k[0]] = append(next[k[0]], k[1])
	}
	index, low, of := map[int32]int32{}, map[int32]int32{}, map[int32]int32{}
	var stack []int32
	var visit func(n int32)
	visit = func(n int32) {
		index[n] = int32(len(index) + 1)
		low[n] = index[n]
		stack = append(stack, n)
		for _, p := range next[n] {
			if index[p] == 0 {
				visit(p)
				low[n] = min(low[n], low[p])
			} else if _, done := of[p]; !done {
				low[n] = min(low[n], index[p])
			}
		}
		for low[n] == index[n] {
			p := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			of[p] = n
			if p == n {
				break
			}
		}
	}
	for n := range next {
		if index[n] == 0 {
			visit(n)
		}
	}
	return of
}

// cycle returns the waits of a cycle.
func (r *resources) cycle(nodes map[int32]bool) []Wait {
	next := map[int32]int32{}
	for k := range r.edges {
		if n, ok := next[k[0]]; nodes[k[0]] && nodes[k[1]] && (!ok || k[1] < n) {
			next[k[0]] = k[1]
		}
	}
	at := slices.Min(slices.Collect(maps.Keys(nodes)))
	for range nodes {
		at = next[at]
	}
	var out []Wait
	for from := at; ; from = next[from] {
		out = append(out, r.edges[[2]int32{from, next[from]}].Wait)
		if next[from] == at {
			return out
		}
	}
}
