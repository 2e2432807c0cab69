package depend

import (
	"iter"

	"github.com/heddle-dev/heddle/trace"
)

// Builder builds the dependence graph of a trace in one pass.
type Builder struct {
	g       Graph
	shadow  shadow
	reads   reads
	objects Table // synchronisation object → index into states
	states  []access
	tokens  []int32 // node that made token i+1
	threads []threadState
	index   map[int32]int32 // thread id → number
	begins  map[int32]int32 // thread id → node that created it
	fence   int32           // the last node that was a fence, or none
}

// threadState is the builder's state of one thread.
type threadState struct {
	last int32 // node, or none
	// known[u] is the last node of thread u that this thread depends on directly. An edge from
	// an earlier node of u adds nothing.
	known  []int32
	others map[int32]int32 // the same for higher thread numbers
	fence  int32           // the last fence that the thread depends on
}

// NewBuilder returns a builder of an empty graph. The number of events is a hint.
func NewBuilder(events int) *Builder {
	b := &Builder{index: map[int32]int32{}, begins: map[int32]int32{}, fence: none}
	b.g.Thread = make([]int32, 0, events)
	b.g.start = make([]uint32, 0, events+1)
	return b
}

// Build returns the graph of a whole trace.
func Build(t *trace.Trace) *Graph {
	return NewBuilder(len(t.Events)).all(Steps(t))
}

// BuildSeq returns the graph of events that need not be in memory at once. The events are yielded
// by pointer only to avoid copying them.
func BuildSeq(events iter.Seq[*trace.Event], hint int) *Graph {
	return NewBuilder(hint).all(StepsSeq(events))
}

func (b *Builder) all(steps iter.Seq[Step]) *Graph {
	for s := range steps {
		b.Begin(int32(s.Event.Thread), s.Joined)
		for _, e := range s.Effects {
			b.Effect(e)
		}
	}
	return b.Graph()
}

// Begin starts the next event, of the thread with this id. A joined event becomes part of the
// previous node, which must be of the same thread.
func (b *Builder) Begin(thread int32, joined bool) {
	g := &b.g
	event := g.count
	g.count++
	if joined {
		if g.first == nil {
			g.first = make([]int32, len(g.Thread), cap(g.Thread))
			for i := range g.first {
				g.first[i] = int32(i)
			}
		}
		return
	}
	t := b.thread(thread)
	n := int32(len(g.Thread))
	if g.first != nil {
		g.first = append(g.first, int32(event))
	}
	g.Thread = append(g.Thread, t)
	g.start = append(g.start, uint32(len(g.preds)))
	ts := &b.threads[t]
	if ts.last == none {
		if by, ok := b.begins[thread]; ok {
			b.depends(by, Life)
		}
	}
	if b.fence > ts.fence {
		b.depends(b.fence, Ending)
		ts.fence = b.fence
	}
	ts.last = n
}

// Effect adds an effect of the current event.
func (b *Builder) Effect(e Effect) {
	switch e.Mode {
	case Read:
		b.memory(e.Addr, e.Size, e.Kind, false)
	case Write:
		b.memory(e.Addr, e.Size, e.Kind, true)
	case Acquire, Release, Change:
		b.write(b.state(e.Addr), e.Kind)
	case AcquireShared, ReleaseShared, Observe:
		b.read(b.state(e.Addr), e.Kind)
	case Post:
		for uint64(len(b.tokens)) < e.Addr {
			b.tokens = append(b.tokens, none)
		}
		b.tokens[e.Addr-1] = b.node()
	case Take:
		if e.Addr <= uint64(len(b.tokens)) {
			b.depends(b.tokens[e.Addr-1], e.Kind)
		}
	case Create:
		if t, ok := b.index[int32(e.Addr)]; ok && b.threads[t].last != none {
			return // the thread has already begun, so this is not its creation
		}
		b.begins[int32(e.Addr)] = b.node()
	case Join:
		if t, ok := b.index[int32(e.Addr)]; ok {
			b.depends(b.threads[t].last, e.Kind)
		}
	case Fence:
		for i := range b.threads {
			b.depends(b.threads[i].last, e.Kind)
		}
		b.fence = b.node()
		b.threads[b.g.Thread[b.fence]].fence = b.fence
	}
}

// Graph returns the graph of the added events. The builder must not be used afterwards.
func (b *Builder) Graph() *Graph {
	b.g.start = append(b.g.start, uint32(len(b.g.preds)))
	g := b.g
	*b = Builder{}
	return &g
}

// node returns the current node.
func (b *Builder) node() int32 { return int32(len(b.g.Thread) - 1) }

// depends makes the current node depend on an earlier one.
func (b *Builder) depends(on int32, k Kind) {
	n := b.node()
	if on == none || on == n {
		return
	}
	from, to := b.g.Thread[on], b.g.Thread[n]
	if from == to {
		return
	}
	if !b.threads[to].learns(from, on) {
		return
	}
	b.g.preds = append(b.g.preds, on)
	b.g.kinds = append(b.g.kinds, k)
}

// learns records that the thread depends on node on of thread from, and reports whether that is
// later than the previous such node.
func (t *threadState) learns(from, on int32) bool {
	const narrow = 64 // with a hundred thousand threads, each depends on only a few others
	if from >= narrow {
		if at, ok := t.others[from]; ok && at >= on {
			return false
		}
		if t.others == nil {
			t.others = map[int32]int32{}
		}
		t.others[from] = on
		return true
	}
	for int(from) >= len(t.known) {
		t.known = append(t.known, none)
	}
	if t.known[from] >= on {
		return false
	}
	t.known[from] = on
	return true
}

// thread returns the number of the thread with this id.
func (b *Builder) thread(id int32) int32 {
	if t, ok := b.index[id]; ok {
		return t
	}
	t := int32(len(b.threads))
	b.index[id] = t
	b.threads = append(b.threads, threadState{last: none, fence: none})
	b.g.Names = append(b.g.Names, id)
	return t
}

// state returns the accesses to a synchronisation object.
func (b *Builder) state(addr uint64) *access {
	i, ok := b.objects.Get(addr)
	if !ok {
		i = uint32(len(b.states))
		b.states = append(b.states, b.reads.fresh())
		b.objects.Put(addr, i)
	}
	return &b.states[i]
}
