package bintrcred

import "github.com/heddle-dev/heddle/internal/simplify/stmt"

// bisection is a round that halves the trace.
type bisection struct {
	*reducer
	ivs    []int32
	blocks []block
	in     []int32 // the TEI that each unit was in; see find
	up     []int32 // the TEI that each TEI was merged into, or itself
	head   int32   // block before the first
	steps  []stmt.Step

	// For the range being joined:
	place   []int32 // each block's place in the range
	stretch []int32 // the number of the range that each place refers to
	number  int32
	lastOf  []int32 // each thread's last block in the first part, or -1
	threads []int32 // threads that have one
}

// block is the current state of a TEI: the units from first to last of one thread.
type block struct {
	first, last int32
	prev, next  int32
}

// binary divides the trace in the middle.
func (r *reducer) binary() ([]int32, []stmt.Step) {
	ivs := r.intervals(r.order)
	n := int32(len(ivs) - 1)
	b := &bisection{reducer: r, ivs: ivs, blocks: make([]block, n+1), in: make([]int32, len(r.order)), up: make([]int32, n), head: n,
		place: make([]int32, n), stretch: make([]int32, n), lastOf: make([]int32, len(r.t.Threads))}
	for k := range n {
		units := r.order[ivs[k]:ivs[k+1]]
		b.blocks[k] = block{first: units[0], last: units[len(units)-1], prev: k - 1, next: k + 1}
		b.up[k] = k
		for _, u := range units {
			b.in[u] = k
		}
	}
	if n > 0 {
		b.blocks[0].prev = n
		b.blocks[n] = block{prev: n - 1, next: 0}
	}
	for th := range b.lastOf {
		b.lastOf[th] = -1
	}
	b.reduce(0, n)
	out := make([]int32, 0, len(r.order))
	for k := b.blocks[b.head].next; n > 0 && k != b.head; k = b.blocks[k].next {
		for u := b.blocks[k].first; ; u = r.follow[u] {
			out = append(out, u)
			if u == b.blocks[k].last {
				break
			}
		}
	}
	return out, b.steps
}

// find returns the block that contains unit u.
func (b *bisection) find(u int32) int32 {
	k := b.in[u]
	for b.up[k] != k {
		b.up[k] = b.up[b.up[k]]
		k = b.up[k]
	}
	return k
}

func (b *bisection) thread(k int32) int32 { return b.t.Of[b.blocks[k].first] }

// reduce reduces the range [lo, hi) of TEIs and returns its first and last block.
func (b *bisection) reduce(lo, hi int32) (int32, int32) {
	switch hi - lo {
	case 0:
		return b.head, b.head
	case 1: // (base0)
		return lo, lo
	case 2:
		return b.base(lo)
	}
	// (S)
	mid := lo + (hi-lo+1)/2
	h1, t1 := b.reduce(lo, mid)
	h2, t2 := b.reduce(mid, hi)
	return b.join(lo, hi, h1, t1, h2, t2)
}

// base implements (base1) and (base2).
func (b *bisection) base(k int32) (int32, int32) {
	x := b.blocks[k].prev
	if x == b.head || b.thread(x) != b.thread(k+1) { // (base1)
		return k, k + 1
	}
	first, last := b.blocks[k+1].first, b.blocks[k+1].last
	// In the recorded order, the annotation already shows that the second is connected with the
	// first.
	if q := b.quads[first+1]; first > 0 && first-1 == b.blocks[k].last && q.S1 != q.S2 {
		return k, k + 1
	}
	for u := first; ; u = b.follow[u] {
		for _, p := range b.g.Preds(u) {
			if b.find(p) == k {
				return k, k + 1
			}
		}
		if u == last {
			break
		}
	}
	// (base2)
	b.steps = append(b.steps, stmt.Step{Rule: stmt.Base2, Lo: k, Hi: k + 2, Unit: first, Count: b.count(k + 1)})
	b.blocks[x].last = last
	b.remove(k+1, x)
	return k, k
}

func (b *bisection) count(k int32) int32 {
	n := int32(1)
	for u := b.blocks[k].first; u != b.blocks[k].last; u = b.follow[u] {
		n++
		b.stop.Check()
	}
	return n
}

// remove removes block k, whose units now belong to block into.
func (b *bisection) remove(k, into int32) {
	x := &b.blocks[k]
	b.blocks[x.prev].next, b.blocks[x.next].prev = x.next, x.prev
	b.up[k] = into
}

// join joins the parts of a range: blocks h1 to t1 and h2 to t2.
func (b *bisection) join(lo, hi, h1, t1, h2, t2 int32) (int32, int32) {
	b.number++
	n := int32(0)
	for k := h1; ; k = b.blocks[k].next {
		b.place[k], b.stretch[k] = n, b.number
		n++
		b.stop.Check()
		th := b.thread(k)
		if b.lastOf[th] < 0 {
			b.threads = append(b.threads, th)
		}
		b.lastOf[th] = k
		if k == t1 {
			break
		}
	}
	// The first block of each thread in the second part, in order, with the last one in
	// the first.
	var pairs [][2]int32
	for k := h2; ; k = b.blocks[k].next {
		b.place[k], b.stretch[k] = n, b.number
		n++
		b.stop.Check()
		if th := b.thread(k); b.lastOf[th] >= 0 {
			pairs = append(pairs, [2]int32{b.lastOf[th], k})
			b.lastOf[th] = -1
		}
		if k == t2 {
			break
		}
	}
	for _, th := range b.threads {
		b.lastOf[th] = -1
	}
	b.threads = b.threads[:0]
	head, tail := h1, t2
	// A join can make another one possible.
	for again := true; again; {
		again = false
		for i := range pairs {
			b.stop.Check()
			x, y := pairs[i][0], pairs[i][1]
			if x < 0 {
				continue
			}
			up := b.canRise(x, y)
			if !up && !b.canSink(x, y) {
				continue
			}
			pairs[i][0], again = -1, true
			if b.blocks[x].next != y { // else they have become neighbours
				s := stmt.Step{Rule: stmt.Split, Lo: lo, Hi: hi, Unit: b.blocks[y].first, Count: b.count(y)}
				if !up {
					s.Unit, s.Count, s.Down = b.blocks[x].first, b.count(x), true
				}
				b.steps = append(b.steps, s)
			}
			if up {
				if y == tail {
					tail = b.blocks[y].prev
				}
				b.blocks[x].last = b.blocks[y].last
				b.remove(y, x)
			} else {
				if x == head {
					head = b.blocks[x].next
				}
				b.blocks[y].first = b.blocks[x].first
				b.remove(x, y)
			}
		}
	}
	return head, tail
}

// canRise reports whether block y can move up to block x: none of its units depends on a unit in
// between.
func (b *bisection) canRise(x, y int32) bool {
	for u := b.blocks[y].first; ; u = b.follow[u] {
		for _, p := range b.g.Preds(u) {
			if k := b.find(p); b.stretch[k] == b.number && b.place[k] > b.place[x] {
				return false
			}
		}
		if u == b.blocks[y].last {
			return true
		}
	}
}

// canSink reports whether block x can move down to block y.
func (b *bisection) canSink(x, y int32) bool {
	for u := b.blocks[x].first; ; u = b.follow[u] {
		for _, q := range b.succs.Of(u) {
			if k := b.find(q); b.stretch[k] == b.number && b.place[k] < b.place[y] {
				return false
			}
		}
		if u == b.blocks[x].last {
			return true
		}
	}
}
