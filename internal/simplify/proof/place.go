package proof

// places keeps units in a list in which any two can be compared and runs of units can be moved:
// order maintenance with labels (Bender, Cole, Demaine, Farach-Colton and Zito, ESA 2002, §3). A
// move costs time linear in the number of units moved, plus an amortised logarithm.
type places struct {
	next, prev []int32 // unit+1 after and before unit; place 0 is the list's head
	label      []uint64
}

// spaced is the initial distance between labels.
const spaced = 1 << 32

func newPlaces(order []int32) *places {
	n := len(order) + 1
	p := &places{make([]int32, n), make([]int32, n), make([]uint64, n)}
	at := int32(0)
	for i, u := range order {
		p.next[at], p.prev[u+1] = u+1, at
		at = u + 1
		p.label[at] = uint64(i+1) * spaced
	}
	p.next[at], p.prev[0] = 0, at
	return p
}

// after returns the unit after u, or -1 at the end; after(-1) is the first unit.
func (p *places) after(u int32) int32 { return p.next[u+1] - 1 }

// before returns the unit before u, or -1 at the start; before(-1) is the last unit.
func (p *places) before(u int32) int32 { return p.prev[u+1] - 1 }

// less reports whether unit a is before unit b.
func (p *places) less(a, b int32) bool { return p.label[a+1] < p.label[b+1] }

// move moves the consecutive units from first to last after unit to, or to the start if to is -1.
func (p *places) move(first, last, to int32, count int) {
	f, l, t := first+1, last+1, to+1
	p.next[p.prev[f]], p.prev[p.next[l]] = p.next[l], p.prev[f]
	end := p.next[t]
	p.next[t], p.prev[f] = f, t
	p.next[l], p.prev[end] = end, l
	p.relabel(f, count)
}

// relabel assigns labels to count units from f on and, if there is not enough room, to more units
// around them.
func (p *places) relabel(f int32, count int) {
	lo, hi := p.prev[f], f
	for range count {
		hi = p.next[hi]
	}
	// [lo, hi) in the list; hi is 0 at the end. The more units the range includes, the sparser
	// their labels must be.
	for n := count; ; {
		from, to := p.label[lo], p.label[hi]
		if hi == 0 {
			to = ^uint64(0)
			if room := uint64(n+1) * spaced; to-from > room {
				to = from + room
			}
		}
		if step := (to - from) / uint64(n+1); step > uint64(n)/8 || lo == 0 && hi == 0 {
			at := p.next[lo]
			for i := range n {
				p.label[at] = from + uint64(i+1)*step
				at = p.next[at]
			}
			return
		}
		for range n {
			if lo != 0 {
				lo = p.prev[lo]
				n++
			}
			if hi != 0 {
				hi = p.next[hi]
				n++
			}
		}
	}
}
