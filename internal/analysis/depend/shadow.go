package depend

import "github.com/tidwall/btree"

// shadow stores the accesses to every byte of memory.
//
// Small accesses are stored by 8-byte word, exact to the byte: a word has one cell for each set of
// its bytes that are always accessed together, which for most words is one. Large accesses (the
// memset of a buffer, the life of a heap block) would touch too many words; they are stored as
// ranges, and reach words with cells of their own by page.
type shadow struct {
	words  Table // word number → the word's first cell
	cells  []cell
	pages  Table // page number → a cell of the page
	ranges btree.Map[uint64, *span]
}

type cell struct {
	access
	mask uint8  // bytes of the word
	next int32  // next cell of the word
	word uint64 // the word's number
	page int32  // next first cell of the page
}

// span is a range of words that were accessed together, [the map's key, end).
type span struct {
	access
	end uint64
}

const (
	wordBits = 3
	pageBits = 12 - wordBits // of word numbers
	// largeWords is the size from which an access is large: visiting each word would cost more.
	largeWords = 64
)

// memory passes the accesses that cover [addr, addr+size) to the builder's read or write.
func (b *Builder) memory(addr, size uint64, k Kind, write bool) {
	end := addr + size
	if end < addr {
		end = ^uint64(0) // a bogus length: up to the top of the address space
	}
	first, last := addr>>wordBits, (end-1)>>wordBits
	if last-first < largeWords {
		for w := first; w <= last; w++ {
			b.word(w, mask(w, addr, end), k, write)
		}
		return
	}
	if m := mask(first, addr, end); m != 0xff {
		b.word(first, m, k, write)
		first++
	}
	if m := mask(last, addr, end); m != 0xff {
		b.word(last, m, k, write)
		last--
	}
	b.large(first, last+1, k, write)
}

// mask returns the set of word w's bytes within [addr, end).
func mask(w, addr, end uint64) uint8 {
	lo, hi := w<<wordBits, w<<wordBits+8
	m := uint8(0xff)
	if addr > lo {
		m &= 0xff << (addr - lo)
	}
	if end < hi {
		m &= 0xff >> (hi - end)
	}
	return m
}

func (b *Builder) word(w uint64, m uint8, k Kind, write bool) {
	s := &b.shadow
	head, ok := s.words.Get(w)
	if !ok {
		head = b.newWord(w, m)
	}
	left := m // bytes not found yet
	for i := int32(head); i != none && left != 0; i = s.cells[i].next {
		c := &s.cells[i]
		both := c.mask & m
		if both == 0 {
			continue
		}
		left &^= both
		if both != c.mask {
			// From here on, the remaining bytes have a cell of their own.
			rest := cell{access: b.reads.share(&c.access), mask: c.mask &^ both, next: c.next, word: w, page: none}
			c.mask, c.next = both, int32(len(s.cells))
			s.cells = append(s.cells, rest)
			c = &s.cells[i]
		}
		b.touch(&c.access, k, write)
	}
	if left != 0 {
		// No cell had these bytes: only large accesses have covered them.
		c := cell{access: b.reads.fresh(), mask: left, next: s.cells[head].next, word: w, page: none}
		if _, r := s.covering(w); r != nil {
			c.access = b.reads.share(&r.access)
		}
		s.cells[head].next = int32(len(s.cells))
		s.cells = append(s.cells, c)
		b.touch(&s.cells[len(s.cells)-1].access, k, write)
	}
}

func (b *Builder) touch(a *access, k Kind, write bool) {
	if write {
		b.write(a, k)
	} else {
		b.read(a, k)
	}
}

// newWord makes the first cell of a word, with the large accesses that cover it.
func (b *Builder) newWord(w uint64, m uint8) uint32 {
	s := &b.shadow
	c := cell{access: b.reads.fresh(), mask: m, next: none, word: w, page: none}
	if _, r := s.covering(w); r != nil {
		c.access, c.mask = b.reads.share(&r.access), 0xff
	}
	i := uint32(len(s.cells))
	page := w >> pageBits
	if p, ok := s.pages.Get(page); ok {
		c.page = int32(p)
	}
	s.pages.Put(page, i)
	s.words.Put(w, i)
	s.cells = append(s.cells, c)
	return i
}

// covering returns the range that contains word w.
func (s *shadow) covering(w uint64) (from uint64, r *span) {
	if s.ranges.Len() == 0 {
		return 0, nil
	}
	s.ranges.Descend(w, func(at uint64, x *span) bool {
		if w < x.end {
			from, r = at, x
		}
		return false
	})
	return from, r
}

// large accesses the words [lo, hi) as a range.
func (b *Builder) large(lo, hi uint64, k Kind, write bool) {
	s := &b.shadow
	b.eachCell(lo, hi, func(c *cell) { b.touch(&c.access, k, write) })
	b.split(lo)
	b.split(hi)
	var gone []uint64
	at := lo
	fill := func(to uint64) {
		if at < to && !write {
			r := &span{b.reads.fresh(), to}
			b.touch(&r.access, k, write)
			s.ranges.Set(at, r)
		}
	}
	// Ranges must not be added while the map is iterated.
	type piece struct {
		at uint64
		r  *span
	}
	var pieces []piece
	s.ranges.Ascend(lo, func(from uint64, r *span) bool {
		if from >= hi {
			return false
		}
		pieces = append(pieces, piece{from, r})
		return true
	})
	for _, p := range pieces {
		fill(p.at)
		b.touch(&p.r.access, k, write)
		b.prune(&p.r.access)
		gone = append(gone, p.at)
		at = p.r.end
	}
	fill(hi)
	if write {
		for _, g := range gone {
			s.ranges.Delete(g)
		}
		r := &span{b.reads.fresh(), hi}
		r.write = b.node()
		s.ranges.Set(lo, r)
	}
}

// split makes a range that contains word w beyond its start end before w.
func (b *Builder) split(w uint64) {
	from, r := b.shadow.covering(w)
	if r == nil || from == w {
		return
	}
	tail := &span{b.reads.share(&r.access), r.end}
	r.end = w
	b.shadow.ranges.Set(w, tail)
}

// prune keeps one read for each thread in the list of a range: every word in the range receives the
// list.
func (b *Builder) prune(a *access) {
	n, h := 0, a.reads
	for ; h != none; h = b.reads.list[h].next {
		n++
	}
	if n <= 2*len(b.threads)+8 {
		return
	}
	kept := a.reads
	a.reads = none
	a.owner = b.reads.fresh().owner
	seen := make([]bool, len(b.threads))
	for h = kept; h != none; h = b.reads.list[h].next {
		// Newest first, so the first one found is the thread's last.
		if t := b.g.Thread[b.reads.list[h].node]; !seen[t] {
			seen[t] = true
			b.reads.list = append(b.reads.list, read{b.reads.list[h].node, a.reads, a.owner})
			a.reads = int32(len(b.reads.list) - 1)
		}
	}
}

// eachCell calls do for the cells of words [lo, hi).
func (b *Builder) eachCell(lo, hi uint64, do func(*cell)) {
	s := &b.shadow
	if (hi-lo)>>pageBits > uint64(len(s.cells)) {
		for i := range s.cells {
			if w := s.cells[i].word; w >= lo && w < hi {
				do(&s.cells[i])
			}
		}
		return
	}
	for page := lo >> pageBits; page <= (hi-1)>>pageBits; page++ {
		p, ok := s.pages.Get(page)
		if !ok {
			continue
		}
		for i := int32(p); i != none; i = s.cells[i].page {
			if w := s.cells[i].word; w < lo || w >= hi {
				continue
			}
			for j := i; j != none; j = s.cells[j].next {
				do(&s.cells[j])
			}
		}
	}
}
