package race

import (
	"math/bits"

	"github.com/heddle-dev/heddle/trace"
)

// reset forgets the accesses to some bytes: a new block has been allocated there, and accesses to
// the old one cannot race with it. (How the allocator passes memory between threads is not in the
// trace.)
func (d *Detector) reset(o trace.Object, size uint64) {
	lo, n := o.Bytes(size)
	s := &d.shadow
	for hi := lo + n; lo < hi; {
		top := lo >> rootBits
		end := min(hi, (top+1)<<rootBits)
		if n := s.roots[top]; n != nil && s.resetIn(d, n, lo, end) {
			delete(s.roots, top)
		}
		lo = end
	}
}

// resetIn forgets bytes [lo, hi), which n spans, and reports whether nothing of n remains, so that
// it is to be dropped.
func (s *shadow) resetIn(d *Detector, n *node, lo, hi uint64) (drop bool) {
	if hi-lo == 1<<n.shift() {
		clear(s.recent[:])
		return true
	}
	if len(n.whole) > 0 {
		s.pushDown(d, n)
	}
	shift := n.childShift()
	base := lo &^ (1<<n.shift() - 1)
	for used := n.used; used != 0; used &= used - 1 {
		slot := uint64(bits.TrailingZeros64(used))
		from, to := base+slot<<shift, base+(slot+1)<<shift
		if from, to = max(from, lo), min(to, hi); from >= to {
			continue
		}
		if n.level == 0 {
			if n.cells[slot] = cleared(n.cells[slot], maskOf(from, to)); len(n.cells[slot]) > 0 {
				continue
			}
			n.cells[slot] = nil
		} else if !s.resetIn(d, n.nodes[slot], from, to) {
			continue
		} else {
			n.nodes[slot] = nil
		}
		n.used &^= 1 << slot
	}
	return false
}

// cleared removes the masked bytes from records.
func cleared(records []record, mask uint8) []record {
	kept := records[:0]
	for _, r := range records {
		if r.mask &^= mask; r.mask != 0 {
			kept = append(kept, r)
		}
	}
	return kept
}

// pushDown replaces accesses to all of n's bytes by accesses to each of its parts.
func (s *shadow) pushDown(d *Detector, n *node) {
	records := s.shrink(d, n.whole)
	if n.whole = nil; len(records) == 0 {
		return
	}
	if n.level == 0 && n.cells == nil {
		n.cells = new([fan][]record)
		s.bytes += cellsBytes
	}
	for slot := range uint64(fan) {
		part := (*[]record)(nil)
		if n.level == 0 {
			part = &n.cells[slot]
			n.used |= 1 << slot
		} else {
			part = &s.child(n, slot).whole
		}
		for _, r := range records {
			s.remember(d, part, r)
		}
	}
}
