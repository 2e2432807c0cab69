package live

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// memory says what lies where in a recording with values, at the time of the record that is being read.
type memory struct {
	spans  []span
	heap   []block // by address; a freed block stays until another begins there
	next   uint64  // of the heap's offsets
	maps   []block // what the program maps, by address; the offsets are addresses that no other mapping has had
	fresh  uint64  // of those
	stacks []stack // those that exist, and those of ended threads until something else lies there
	coming []stack // of threads whose creation has begun
	bounds []stack // of each thread, from its own record
	main   mainStack
	begun  int // blocks and stacks that have begun or ended so far

	vectors, strings, stringsEnd uint64
}

// block is a heap block. Its offset is that of the trace's object, which must fit into one region although libc's arenas
// may lie far from each other.
type block struct {
	address, size, offset uint64
	freed                 int // memory.begun when the block was freed; 0 while it exists
}

type stack struct {
	thread int
	lo, hi uint64
	since  int // memory.begun when the stack was created
}

// mainStack is main's: the kernel aligns it at random, so places are counted from where main begins, or from the
// arguments, if main has not begun or the place lies above it.
type mainStack struct{ lo, hi, top uint64 }

// aboveMain begins the offsets of places in main's stack that are counted from the arguments.
const aboveMain = 1 << 30

// allocated adds a block, in place of freed ones that were there.
func (m *memory) allocated(address, size uint64) {
	i, _ := slices.BinarySearchFunc(m.heap, address, func(b block, at uint64) int { return cmp.Compare(b.address, at) })
	covered := i
	for covered < len(m.heap) && m.heap[covered].address < address+max(size, 1) {
		covered++
	}
	m.heap = slices.Replace(m.heap, i, covered, block{address: address, size: size, offset: m.next})
	m.next += size + 32 // a header lies between two blocks
}

// freed ends a block. Its memory goes back to libc or the kernel, and can become a stack or a mapping. Until then, pointers
// that the program has kept still refer to the block.
func (m *memory) freed(address uint64) {
	i, found := slices.BinarySearchFunc(m.heap, address, func(b block, at uint64) int { return cmp.Compare(b.address, at) })
	if found {
		m.begun++
		m.heap[i].freed = m.begun
	}
}

// block returns the heap block that the address is in, or right behind, or nil.
func (m *memory) block(address uint64) *block {
	i, found := slices.BinarySearchFunc(m.heap, address, func(b block, at uint64) int { return cmp.Compare(b.address, at) })
	if !found {
		i--
	}
	if i < 0 || address-m.heap[i].address > m.heap[i].size {
		return nil
	}
	return &m.heap[i]
}

func (b *block) object(address uint64) trace.Object {
	return trace.MakeObject(trace.RegionHeap, 0, b.offset+address-b.address)
}

// mapped adds a mapping of the program's.
func (m *memory) mapped(address, size uint64) {
	m.unmapped(address, size)
	m.clear(address, address+size)
	i, _ := slices.BinarySearchFunc(m.maps, address, func(b block, at uint64) int { return cmp.Compare(b.address, at) })
	if m.fresh == 0 {
		m.fresh = firstMapping
	}
	m.maps = slices.Insert(m.maps, i, block{address: address, size: size, offset: m.fresh})
	m.fresh += (size + 2*pageSize - 1) / pageSize * pageSize
}

// Mappings get addresses that no memory of a process has: from firstMapping on, a page apart.
const (
	firstMapping = 1 << 46
	pageSize     = 4096
)

// unmapped removes what of mappings lies there, or splits them.
func (m *memory) unmapped(address, size uint64) {
	var rest []block
	for _, b := range m.maps {
		lo, hi := max(b.address, address), min(b.address+b.size, address+size)
		if lo >= hi {
			rest = append(rest, b)
			continue
		}
		if b.address < lo {
			rest = append(rest, block{address: b.address, size: lo - b.address, offset: b.offset})
		}
		if end := b.address + b.size; hi < end {
			rest = append(rest, block{address: hi, size: end - hi, offset: b.offset + hi - b.address})
		}
	}
	m.maps = rest
}

// elsewhere returns the address that stands for one in a mapping of the program's, so that another mapping in its place
// is another. Other addresses it returns as they are.
func (m *memory) elsewhere(address uint64) uint64 {
	i, found := slices.BinarySearchFunc(m.maps, address, func(b block, at uint64) int { return cmp.Compare(b.address, at) })
	if !found {
		i--
	}
	if i < 0 || address-m.maps[i].address >= m.maps[i].size {
		return address
	}
	return m.maps[i].offset + address - m.maps[i].address
}

// creating announces the stack of a thread. Until it is created, the ending thread or the mapping that lies there may
// still be in use, and only what has no other name is in the new stack: its creator may name it already.
func (m *memory) creating(thread int) {
	if thread < len(m.bounds) && m.bounds[thread].hi != 0 {
		m.coming = append(m.coming, m.bounds[thread])
	}
}

// created adds the stack of a thread, in place of those that lay there, when it certainly exists.
func (m *memory) created(thread int) {
	i := slices.IndexFunc(m.coming, func(s stack) bool { return s.thread == thread })
	if i < 0 {
		return
	}
	s := m.coming[i]
	m.coming = slices.Delete(m.coming, i, i+1)
	m.clear(s.lo, s.hi)
	m.begun++
	s.since = m.begun
	m.stacks = append(m.stacks, s)
}

// clear forgets the stacks between two addresses.
func (m *memory) clear(lo, hi uint64) {
	m.stacks = slices.DeleteFunc(m.stacks, func(s stack) bool { return s.lo < hi && lo < s.hi })
}

// object names an address. by is false if the name depends on the address.
func (m *memory) object(address uint64) (o trace.Object, by bool) {
	if address == 0 {
		return 0, true
	}
	b := m.block(address)
	if b != nil && b.freed == 0 {
		return b.object(address), true
	}
	for i, s := range m.spans {
		if address-s.lo < s.hi-s.lo && s.hi > s.lo {
			return trace.MakeObject(trace.RegionGlobal, i, address-s.base), true
		}
	}
	if s := inStack(m.stacks, address); s != nil && (b == nil || b.freed < s.since) {
		return s.object(address), true
	}
	switch {
	case address >= m.main.lo && address < m.main.top && m.main.hi != 0 && address < m.main.hi:
		return trace.MakeObject(trace.RegionStack, 0, m.main.hi-address), true
	case address >= m.main.lo && address < m.main.top:
		return trace.MakeObject(trace.RegionStack, 0, aboveMain+m.main.top-address), true
	case m.vectors != 0 && address >= m.vectors && address < m.strings:
		return other(trace.ArgumentVectors + address - m.vectors), true
	case m.strings != 0 && address >= m.strings && address < m.stringsEnd:
		return other(trace.ArgumentStrings + address - m.strings), true
	}
	place := m.elsewhere(address)
	if place == address {
		if s := inStack(m.coming, address); s != nil {
			return s.object(address), true
		}
		if b != nil {
			return b.object(address), true
		}
	}
	return other(place), false
}

// inStack returns the stack that the address is in, or nil.
func inStack(stacks []stack, address uint64) *stack {
	for i := range stacks {
		if s := &stacks[i]; address >= s.lo && address < s.hi {
			return s
		}
	}
	return nil
}

func (s *stack) object(address uint64) trace.Object {
	return trace.MakeObject(trace.RegionStack, s.thread, s.hi-address)
}

// other names a place outside of all regions.
func other(address uint64) trace.Object {
	return trace.MakeObject(trace.RegionOther, int(address>>otherBits), address)
}

// otherBits are the bits of an offset: an address outside of all regions has more.
const otherBits = 46

// pointer names the place that a value points to, as internal/target/cprog does.
func (m *memory) pointer(value uint64) (trace.Object, bool) {
	if value < 1<<16 || value >= 1<<47 {
		return 0, false
	}
	return m.object(value)
}
