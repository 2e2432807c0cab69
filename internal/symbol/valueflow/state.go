package valueflow

import (
	"maps"

	"github.com/heddle-dev/heddle/trace"
)

// value is what is known of a word: a base, which stands for a number that is not known, plus off. Two words with equal base and off are
// equal. private says that it may depend on a word that does not recur.
type value struct {
	base    uint64
	off     int64
	private bool
	// low is how many of the low bytes of a private word depend on nothing private.
	low int
}

// public returns how many of the low bytes depend on nothing private.
func (v value) public() int {
	if v.private {
		return v.low
	}
	return 8
}

// Bases.
const (
	number uint64 = iota // none: off is all
	stack                // the stack pointer at the start
	within               // somewhere in the stack
	named                // first of those that stand for a number
)

func (v value) inStack() bool { return v.base == stack || v.base == within }

// Registers, as instructions encode them.
const (
	rax, rcx, rdx, rbx, rsp, rbp, rsi, rdi = 0, 1, 2, 3, 4, 5, 6, 7
	registers                              = 16
)

// slot is a word of the stack that is named as a whole.
type slot struct {
	size int
	value
}

// state is what is known before an instruction. It is not changed once a node has it.
type state struct {
	regs [registers]value
	xmm  [registers]bool // private
	// carry says that the carry flag may be private, and flags that another flag may be.
	carry, flags bool
	slots        map[int64]slot // by offset from the start's stack pointer
	bytes        map[int64]bool // of the stack that were stored to since the start: private
	// hooked is where the program has said that it stores next, in so many bytes, in the step by.
	hooked value
	size   int
	by     Step
	// known are addresses, not in the stack, that the steps have accessed since the last jump backward.
	known map[address]access
}

type address struct {
	base uint64
	off  int64
}

type access struct {
	step Step
	size int
}

func (s *state) clone() *state {
	c := *s
	c.slots, c.bytes, c.known = maps.Clone(s.slots), maps.Clone(s.bytes), maps.Clone(s.known)
	return &c
}

func (s *state) equal(t *state) bool {
	return s.regs == t.regs && s.xmm == t.xmm && s.flags == t.flags && s.carry == t.carry && s.hooked == t.hooked && s.size == t.size && s.by == t.by &&
		maps.Equal(s.slots, t.slots) && maps.Equal(s.bytes, t.bytes) && maps.Equal(s.known, t.known)
}

// mix returns a base that stands for what a list of numbers determines.
func mix(numbers ...uint64) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, n := range numbers {
		h = (h ^ n) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return max(h, named)
}

// offset returns where an address in the thread's own stack is, from the start's stack pointer.
func (l *Loop) offset(w Word) (int64, bool) {
	o := trace.Object(w.Value)
	if !w.Pointer || o.Region() != trace.RegionStack || o.Index() != l.Frames[0].SP.Index() {
		return 0, false
	}
	return l.named(o).off, true
}

// initial returns what a word of the start is called.
func (l *Loop) initial(w Word, place ...uint64) value {
	if w.Changes == 0 && w.Pointer {
		return l.named(trace.Object(w.Value))
	}
	return value{base: mix(place...), private: w.Changes != 0}
}

// named is the address of an object.
func (l *Loop) named(o trace.Object) value {
	switch off := int64(o.Offset()); {
	case l.own(o):
		return value{base: stack, off: int64(l.Frames[0].SP.Offset()) - off}
	case o.Region() == trace.RegionStack:
		return value{base: mix(15, uint64(o.Index())), off: -off} // a stack's offsets count down
	case o.Region() == trace.RegionGlobal:
		return l.global(o.Index(), off)
	default:
		return value{base: mix(16, uint64(o.Region()), uint64(o.Index())), off: off}
	}
}

// global is the address of a place in a module.
func (l *Loop) global(module int, off int64) value {
	if l.fixed(module) {
		return value{off: off}
	}
	return value{base: mix(9, uint64(module)), off: off}
}

// privateAt reports whether a byte of the stack is private.
func (s *state) privateAt(l *Loop, off int64) bool {
	if p, ok := s.bytes[off]; ok {
		return p
	}
	switch word := off >> 3; {
	case off < 0:
		return true // nothing of it is known
	case word < int64(len(l.Stack)):
		return l.Stack[word].Changes>>(off&7)&1 != 0
	}
	return false
}

// load returns what a word of the stack has.
func (s *state) load(l *Loop, off int64, size int, fresh uint64) value {
	private, touched := false, false
	for i := off; i < off+int64(size); i++ {
		private = private || s.privateAt(l, i)
		_, t := s.bytes[i]
		touched = touched || t
	}
	if v, ok := s.slots[off]; ok && v.size == size {
		v.private, v.low = private, 0
		return v.value
	}
	if touched || off < 0 {
		return value{base: fresh, private: private}
	}
	v := value{base: mix(1, uint64(off), uint64(size))}
	if word := off >> 3; off&7 == 0 && size == 8 && word < int64(len(l.Stack)) && !private {
		v = l.initial(l.Stack[word], 1, uint64(off), uint64(size))
	}
	v.private = private
	return v
}

// store changes a word of the stack.
func (s *state) store(off int64, size int, v value) {
	s.unname(off, size)
	for i := off; i < off+int64(size); i++ {
		s.bytes[i] = v.private
	}
	s.slots[off] = slot{size, v}
}

// storeMaybe says that a word of the stack may have been stored to.
func (s *state) storeMaybe(l *Loop, off int64, size int, private bool) {
	s.unname(off, size)
	for i := off; i < off+int64(size); i++ {
		s.bytes[i] = private || s.privateAt(l, i)
	}
}

// unname forgets what the words that overlap with one of the stack have.
func (s *state) unname(off int64, size int) {
	const widest = 16
	for at := off - widest + 1; at < off+int64(size); at++ {
		if o, ok := s.slots[at]; ok && at+int64(o.size) > off {
			delete(s.slots, at)
		}
	}
}

// forget says that a base has a new meaning: what was called so is something else from here on.
func (s *state) forget(base uint64) {
	for i := range s.regs {
		if s.regs[i].base == base {
			s.regs[i].base = mix(2, base, uint64(i))
		}
	}
	for k, v := range s.slots {
		if v.base == base {
			v.base = mix(3, base, uint64(k))
			s.slots[k] = v
		}
	}
	if s.hooked.base == base {
		s.hook(value{}, 0, Step{})
	}
	maps.DeleteFunc(s.known, func(a address, _ access) bool { return a.base == base })
}

// hook says where the program stores next.
func (s *state) hook(at value, size int, by Step) { s.hooked, s.size, s.by = at, size, by }

// below says that what lies below the stack pointer is lost.
func (s *state) below(sp int64) {
	for k := range s.slots {
		if k < sp {
			delete(s.slots, k)
		}
	}
	for i := range s.bytes {
		if i < sp {
			s.bytes[i] = true
		}
	}
	for i := int64(0); i < sp; i++ {
		s.bytes[i] = true
	}
}

// join returns what is known of a word that may be either. Where they differ it gets a name of its own.
func join(a, b value, own uint64) value {
	private, low := a.private || b.private, min(a.public(), b.public())
	switch {
	case a.base == b.base && a.off == b.off:
	case a.inStack() || b.inStack():
		a = value{base: within}
	default:
		a = value{base: own}
	}
	a.private, a.low = private, 0
	if private {
		a.low = low
	}
	return a
}

// merge returns what is known where a and b lead to the node.
func (l *Loop) merge(a, b *state, node uint64) *state {
	m := a.clone()
	maps.DeleteFunc(m.known, func(at address, x access) bool { return b.known[at] != x })
	// What is known of the addresses near two words is known of those near the word that may be either.
	near := func(to, x, y value) {
		if to.base == x.base || to.private || to.inStack() {
			return
		}
		for at, known := range a.known {
			if d := at.off - x.off; at.base == x.base && b.known[address{y.base, y.off + d}] == known {
				m.known[address{to.base, to.off + d}] = known
			}
		}
	}
	for i := range m.regs {
		m.regs[i] = join(a.regs[i], b.regs[i], mix(4, node, uint64(i)))
		near(m.regs[i], a.regs[i], b.regs[i])
		m.xmm[i] = a.xmm[i] || b.xmm[i]
	}
	m.flags, m.carry = a.flags || b.flags, a.carry || b.carry
	for i, p := range b.bytes {
		m.bytes[i] = p || a.privateAt(l, i)
	}
	for i, p := range a.bytes {
		m.bytes[i] = p || b.privateAt(l, i)
	}
	either := func(off int64, size int) {
		own := mix(5, node, uint64(off), uint64(size))
		x, y := a.load(l, off, size, own), b.load(l, off, size, own)
		v := join(x, y, own)
		near(v, x, y)
		m.slots[off] = slot{size, v}
	}
	for off, v := range b.slots {
		if o, ok := a.slots[off]; !ok || o.size >= v.size {
			either(off, v.size)
		}
	}
	for off, v := range a.slots {
		if o, ok := b.slots[off]; !ok || o.size > v.size {
			either(off, v.size)
		}
	}
	if a.hooked != b.hooked || a.size != b.size || a.by != b.by {
		m.hook(value{}, 0, Step{})
	}
	return m
}
