package race

import (
	"cmp"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/trace"
)

// The shadow keeps, for every byte of memory, the accesses that later ones can race with. It is a
// tree over addresses with a fixed fan-out: a node spans 64 times what its children span, and a
// leaf spans 64 granules of 8 bytes. An access to a few bytes is a record in a granule, with a mask
// of the bytes. An access to many bytes is a record in each granule at its edges and in the largest
// nodes in between, so that freeing a block costs no more than what was accessed within it.
const (
	granuleBits = 3
	fanBits     = 6
	fan         = 1 << fanBits
	topLevel    = 3 // spans 128 MiB; kept in a map

	// compactAt is the number of accesses that a granule or node remembers in full.
	compactAt = 64

	// maxRecords is the number of accesses at which a granule or node drops the older half.
	// Otherwise each access to an object that tens of thousands of threads have read would be
	// compared with all of theirs.
	maxRecords = 256
)

// record is an access that later ones can race with.
type record struct {
	at     hb.Epoch
	event  uint32
	access uint32 // number of the instruction
	stack  uint32 // trace.Event.Stack
	thread trace.ThreadID
	mask   uint8 // bytes of the granule; of a whole node: all
	kind   kind
}

// node spans 1 << shift() bytes.
type node struct {
	whole  []record // accesses to all its bytes
	parent *node
	level  uint8
	slot   uint8          // in parent
	used   uint64         // which children or granules exist
	nodes  *[fan]*node    // level > 0
	cells  *[fan][]record // level 0: granules
}

const (
	recordBytes = int64(unsafe.Sizeof(record{}))
	nodeBytes   = int64(unsafe.Sizeof(node{}))
	cellsBytes  = int64(unsafe.Sizeof([fan][]record{}))
)

func (n *node) childShift() uint { return granuleBits + uint(n.level)*fanBits }
func (n *node) shift() uint      { return n.childShift() + fanBits }

type shadow struct {
	roots     map[uint64]*node
	compactAt int
	slab      []record // room for first records, to save allocations
	nodes     int      // allocated, for tests
	bytes     int64    // upper bound of the bytes in use

	// recent is a cache of leaves, by address.
	recent [1 << 8]struct {
		page uint64 // + 1
		leaf *node
	}
}

const (
	leafBits = granuleBits + fanBits              // a leaf spans 512 bytes
	rootBits = granuleBits + fanBits*(topLevel+1) // a root 128 MiB
)

// access checks r against the accesses to bytes [lo, hi) and adds it there.
func (s *shadow) access(d *Detector, lo, hi uint64, r record) {
	if page := lo >> leafBits; page == (hi-1)>>leafBits {
		leaf := s.leaf(page)
		allocated := false
		for n := leaf.parent; n != nil; n = n.parent {
			allocated = allocated || n.allocated()
		}
		if !allocated || !r.renews() {
			for n := leaf.parent; n != nil; n = n.parent {
				if len(n.whole) > 0 {
					d.checkWhole(n.whole, &r, lo, hi)
				}
			}
			s.inNode(d, leaf, lo, hi, r)
			return
		}
	}
	for lo < hi {
		top := lo >> rootBits
		end := min(hi, (top+1)<<rootBits)
		s.inNode(d, s.root(top), lo, end, r)
		lo = end
	}
}

// root returns the top node for addresses whose high bits are top.
func (s *shadow) root(top uint64) *node {
	n := s.roots[top]
	if n == nil {
		n = &node{level: topLevel, nodes: new([fan]*node)}
		s.nodes++
		s.bytes += nodeBytes + fan*8
		s.roots[top] = n
	}
	return n
}

// child returns n's child in a slot, creating it if needed.
func (s *shadow) child(n *node, slot uint64) *node {
	c := n.nodes[slot]
	if c == nil {
		c = &node{parent: n, level: n.level - 1, slot: uint8(slot)}
		if c.level > 0 {
			c.nodes = new([fan]*node)
			s.bytes += fan * 8
		}
		s.nodes++
		s.bytes += nodeBytes
		n.nodes[slot] = c
		n.used |= 1 << slot
	}
	return c
}

// leaf returns the leaf that spans a page.
func (s *shadow) leaf(page uint64) *node {
	recent := &s.recent[(page^page>>8)%uint64(len(s.recent))]
	if recent.page == page+1 {
		return recent.leaf
	}
	n := s.root(page >> (fanBits * topLevel))
	for n.level > 0 {
		n = s.child(n, page>>(fanBits*uint(n.level-1))%fan)
	}
	recent.page, recent.leaf = page+1, n
	return n
}

// inNode records an access to bytes [lo, hi), which n spans.
func (s *shadow) inNode(d *Detector, n *node, lo, hi uint64, r record) {
	if hi-lo == 1<<n.shift() {
		r.mask = 0xff
		s.overlap(d, n, lo, hi, &r)
		s.remember(d, &n.whole, r)
		return
	}
	if len(n.whole) > 0 {
		d.checkWhole(n.whole, &r, lo, hi)
		if r.renews() && n.allocated() {
			s.pushDown(d, n)
		}
	}
	if n.level == 0 {
		s.inLeaf(d, n, lo, hi, r)
		return
	}
	for shift := n.childShift(); lo < hi; {
		slot := lo >> shift
		end := min(hi, (slot+1)<<shift)
		s.inNode(d, s.child(n, slot%fan), lo, end, r)
		lo = end
	}
}

// inLeaf records an access to some granules of a leaf, or parts of them.
func (s *shadow) inLeaf(d *Detector, n *node, lo, hi uint64, r record) {
	if n.cells == nil {
		n.cells = new([fan][]record)
		s.bytes += cellsBytes
	}
	for lo < hi {
		granule := lo >> granuleBits
		end := min(hi, (granule+1)<<granuleBits)
		r.mask = maskOf(lo, end)
		cell := &n.cells[granule%fan]
		if !d.checkCell(*cell, &r, granule<<granuleBits) {
			s.remember(d, cell, r)
			n.used |= 1 << (granule % fan)
		}
		lo = end
	}
}

// maskOf returns a mask with a bit for each of the bytes [lo, hi) of one granule.
func maskOf(lo, hi uint64) uint8 { return uint8(0xff) >> (8 - (hi - lo)) << (lo & 7) }

// overlap checks an access to all of n's bytes against all accesses to them.
func (s *shadow) overlap(d *Detector, n *node, lo, hi uint64, r *record) {
	d.checkWhole(n.whole, r, lo, hi)
	if r.renews() {
		n.whole = slices.DeleteFunc(n.whole, record.allocates)
	}
	for used := n.used; used != 0; used &= used - 1 {
		slot := uint64(bits.TrailingZeros64(used))
		at := lo + slot<<n.childShift()
		if n.level > 0 {
			s.overlap(d, n.nodes[slot], at, at+1<<n.childShift(), r)
			continue
		}
		d.checkCell(n.cells[slot], r, at)
		if r.renews() {
			n.cells[slot] = slices.DeleteFunc(n.cells[slot], record.allocates)
		}
	}
}

// allocated reports whether all of n's bytes are remembered as allocated together.
func (n *node) allocated() bool { return slices.ContainsFunc(n.whole, record.allocates) }

// checkWhole reports the races of r, on bytes [lo, hi), with accesses to all of these.
func (d *Detector) checkWhole(records []record, r *record, lo, hi uint64) {
	for i := range records {
		if o := &records[i]; d.races(o, r) {
			d.report(o, r, lo, hi)
		}
	}
}

// checkCell reports the races of r with accesses to a granule. It returns true if r is there
// already: the same access in the same epoch. Its races have been reported; any access since that
// is ordered after it would have ended the epoch.
func (d *Detector) checkCell(cell []record, r *record, granule uint64) bool {
	for i := range cell {
		o := &cell[i]
		if o.access == r.access && o.at == r.at && o.mask == r.mask && o.kind == r.kind {
			return true
		}
		if m := o.mask & r.mask; m != 0 && d.races(o, r) {
			first := bits.TrailingZeros8(m)
			n := bits.TrailingZeros8(^(m >> first)) // a mask may have gaps
			d.report(o, r, granule+uint64(first), granule+uint64(first+n))
		}
	}
	return false
}

// renews reports whether no record of an allocation is needed after r: what races with it races with r, or r did.
func (r *record) renews() bool { return r.kind == plainWrite || r.kind == lifetime }

func (r record) allocates() bool { return r.kind == allocation }

// sameSource reports whether two records are of one instruction, executed by one thread, or by two
// threads one after the other. The later record replaces both: it races with whatever the earlier
// one would race with from then on.
func (r *record) sameSource(o *record) bool {
	return r.access == o.access && r.kind == o.kind && r.at.Chain() == o.at.Chain()
}

// remember adds r to the records of a granule or node. The masks of records from the same source
// stay disjoint.
func (s *shadow) remember(d *Detector, records *[]record, r record) {
	own := *records
	for i := 0; i < len(own); i++ {
		o := &own[i]
		renewed := o.kind == allocation && r.renews()
		switch {
		case o.mask&r.mask == 0 || !renewed && !o.sameSource(&r):
		case !renewed && o.event > r.event: // while pushing down
			if r.mask &^= o.mask; r.mask == 0 {
				return
			}
		case !renewed && o.mask == r.mask:
			*o = r
			return
		default:
			if o.mask &^= r.mask; o.mask == 0 {
				last := len(own) - 1
				own[i] = own[last]
				own = own[:last]
				i--
			}
		}
	}
	if n := len(own); n == cap(own) {
		if n == 0 {
			own = s.room()
		} else if n >= 8 {
			own = s.shrink(d, own)
			if len(own) > n*3/4 {
				own = append(make([]record, 0, 2*n), own...)
				s.bytes += int64(2*n) * recordBytes
			}
		}
	}
	*records = append(own, r)
}

// room returns space for the first records of a granule.
func (s *shadow) room() []record {
	const n = 2
	if len(s.slab) < n {
		s.slab = make([]record, 512*n)
		s.bytes += 512 * n * recordBytes
	}
	own := s.slab[:0:n]
	s.slab = s.slab[n:]
	return own
}

// shrink drops records that no later access can race with, and if there are too many, those that
// the package comment names.
func (s *shadow) shrink(d *Detector, records []record) []record {
	known := d.everKnown()
	kept := records[:0]
	for _, r := range records {
		if !known.Covers(r.at) {
			kept = append(kept, r)
		}
	}
	if len(kept) < s.compactAt {
		return kept
	}
	records, kept = kept, make([]record, 0, len(kept))
	for i := range records {
		if !superseded(records, &records[i]) {
			kept = append(kept, records[i])
		}
	}
	if len(kept) >= maxRecords {
		slices.SortFunc(kept, func(a, b record) int { return cmp.Compare(a.event, b.event) })
		kept = kept[len(kept)-maxRecords/2:]
	}
	return kept
}

// size returns the number of bytes in use.
func (s *shadow) size() (bytes int64) {
	for _, n := range s.roots {
		bytes += n.size()
	}
	return bytes
}

func (n *node) size() int64 {
	bytes := nodeBytes + int64(cap(n.whole))*recordBytes
	if n.nodes != nil {
		bytes += fan * 8
		for used := n.used; used != 0; used &= used - 1 {
			bytes += n.nodes[bits.TrailingZeros64(used)].size()
		}
	}
	if n.cells != nil {
		bytes += cellsBytes
		for _, cell := range n.cells {
			bytes += int64(cap(cell)) * recordBytes
		}
	}
	return bytes
}

// superseded reports whether a later record of r's chain races with everything that r races with.
func superseded(records []record, r *record) bool {
	for i := range records {
		o := &records[i]
		if o.event > r.event && o.at.Chain() == r.at.Chain() && o.kind.covers(r.kind) && r.mask&^o.mask == 0 {
			return true
		}
	}
	return false
}
