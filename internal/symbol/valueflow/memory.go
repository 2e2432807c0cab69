package valueflow

import (
	"slices"

	"golang.org/x/arch/x86/x86asm"

	"github.com/heddle-dev/heddle/trace"
)

// canary is where the thread's own block has the number that protects stacks.
const canary = 0x28

// memory is what is known of memory that a loop accesses, but for the thread's own stack.
type memory struct {
	private map[uint64]bool // bytes (trace.Object.Bytes)
	// unsure says that a read at an address about which nothing is known may give something private.
	unsure bool
}

func newMemory(l *Loop) memory {
	m := memory{private: map[uint64]bool{}}
	for _, r := range l.Changing {
		m.taint(r)
	}
	for _, ranges := range l.Touches {
		m.unsure = m.unsure || slices.ContainsFunc(ranges, func(r Range) bool { return l.own(r.Object) })
	}
	return m
}

func (m *memory) taint(r Range) {
	m.unsure = true
	first, n := r.Object.Bytes(uint64(r.Size))
	for b := first; b < first+n; b++ {
		m.private[b] = true
	}
}

func (m *memory) has(r Range) bool {
	first, n := r.Object.Bytes(uint64(r.Size))
	for b := first; b < first+n; b++ {
		if m.private[b] {
			return true
		}
	}
	return false
}

// onStack reports whether a step accesses the thread's own stack.
func (e *execution) onStack(s Step) bool {
	return slices.ContainsFunc(e.Touches[s], func(r Range) bool { return e.own(r.Object) })
}

// holdsPrivate reports whether something private may be where a step accesses memory.
func (e *execution) holdsPrivate(at value, size int, s Step) bool {
	if at.base == stack {
		return e.load(e.Loop, at.off, size, e.fresh(2).base).private
	}
	return slices.ContainsFunc(e.Touches[s], func(r Range) bool {
		if !e.own(r.Object) {
			return e.has(r)
		}
		off, ok := e.offset(Word{Value: uint64(r.Object), Pointer: true})
		for i := range int64(r.Size) {
			ok = ok && !e.privateAt(e.Loop, off+i)
		}
		return !ok
	})
}

// mayRead reports whether a read outside of the stack, as far as its address tells, may give something private.
func (e *execution) mayRead(at value, size int) bool {
	if !e.unsure {
		return false
	}
	if module := e.after.Module(); at.base == e.global(module, 0).base && e.code.inside(module, at.off) {
		return e.has(Range{trace.MakeObject(trace.RegionGlobal, module, uint64(at.off)), uint32(size)})
	}
	if at.base == mix(10, uint64(x86asm.FS)) && at.off == canary {
		return false
	}
	for k, a := range e.known {
		if k.base == at.base && k.off <= at.off && at.off+int64(size) <= k.off+int64(a.size) && !e.holdsPrivate(at, size, a.step) {
			return false
		}
	}
	return true
}

// storeSeen does what a store that the program has announced does: it is one of those that the step by makes.
func (e *execution) storeSeen(private bool) {
	touches := e.Touches[e.by]
	if private && (!e.Alone || len(touches) == 0) {
		e.node.wrong = "memory"
		return
	}
	for _, r := range touches {
		switch {
		case e.own(r.Object):
			off, ok := e.offset(Word{Value: uint64(r.Object), Pointer: true})
			if !ok || off < 0 {
				e.node.wrong = "a place in the stack that is not known"
				return
			}
			e.storeMaybe(e.Loop, off, int(r.Size), private)
		case !private:
		case r.Object.Region() == trace.RegionOther:
			e.node.wrong = "memory" // another process may have it, or the same memory may have another address
			return
		default:
			e.taint(r)
		}
	}
}
