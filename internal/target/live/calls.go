package live

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/heddle-dev/heddle/trace"
)

// deepest is the number of calls in a stack that count: DEEPEST of calls.c.
const deepest = 1024

// NameOfStack is the number that the library gives a stack of calls, innermost first; never 0.
func NameOfStack(calls []trace.Site) uint64 {
	name := uint64(1)
	for _, c := range slices.Backward(calls) {
		name = (name^place(c))*0x100000001b3 | 1
	}
	return name
}

// stackTable numbers the stacks of all recordings of a program, so that an index into one recording's
// trace.Trace.Stacks means the same in a later one.
type stackTable struct {
	mu    sync.Mutex
	all   [][]trace.Site // all[0] is empty
	known map[string]uint32
}

// index returns the number of a stack, which it adds if it is new.
func (t *stackTable) index(stack []trace.Site) uint32 {
	var key []byte
	for _, s := range stack {
		key = binary.LittleEndian.AppendUint64(key, uint64(s))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	n, ok := t.known[string(key)]
	if !ok {
		if t.known == nil {
			t.known, t.all = map[string]uint32{}, [][]trace.Site{nil}
		}
		n = uint32(len(t.all))
		t.known[string(key)], t.all = n, append(t.all, stack)
	}
	return n
}

// list returns the stacks by number.
func (t *stackTable) list() [][]trace.Site {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		return [][]trace.Site{nil}
	}
	return slices.Clone(t.all)
}

// stacks follows the calls of the threads of a recording, as calls.c does while forcing.
type stacks struct {
	table   *stackTable
	threads []calls
}

type calls struct {
	frames []frame
	beyond int
	index  uint32 // of the stack, if fresh
	fresh  bool
}

type frame struct {
	call trace.Site
	sp   uint64
}

func (s *stacks) enter(thread int, call trace.Site, sp uint64) {
	c := &s.threads[thread]
	for n := len(c.frames); n > 0 && c.frames[n-1].sp <= sp; n-- {
		c.frames, c.beyond = c.frames[:n-1], 0
	}
	c.fresh = false
	if len(c.frames) == deepest {
		c.beyond++
		return
	}
	c.frames = append(c.frames, frame{call, sp})
}

func (s *stacks) leave(thread int) {
	c := &s.threads[thread]
	if c.beyond > 0 {
		c.beyond--
		return
	}
	c.frames, c.fresh = c.frames[:max(len(c.frames)-1, 0)], false
}

// of returns the index of the thread's stack, 0 if it has no calls.
func (s *stacks) of(thread int) uint32 {
	c := &s.threads[thread]
	if c.fresh {
		return c.index
	}
	c.index, c.fresh = 0, true
	if len(c.frames) == 0 {
		return 0
	}
	var sites []trace.Site
	for _, f := range slices.Backward(c.frames) {
		sites = append(sites, f.call)
	}
	c.index = s.table.index(sites)
	return c.index
}
