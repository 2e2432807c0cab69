package valueflow

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

const (
	mostVisits = 200_000 // of instructions
	mostCalls  = 12      // of functions, one in the other
)

// context is the calls that have been made since the start and have not returned. Without any, it is the frame of the start.
type context struct {
	caller *context
	to     trace.Site // where it returns
	sp     int64      // the stack pointer in the caller, before the call
	depth  int
	frame  int // in Loop.Frames, without a caller
}

// place is an instruction, after an access.
type place struct {
	step Step
	at   trace.Site
	in   *context
}

// node is an instruction with what is known before it.
type node struct {
	place
	id      uint64
	ins     []arrival
	queued  bool
	wrong   string // something private decides here
	lost    string // what comes next is not known
	hides   string // it may change what no event tells
	reaches bool   // the next step
}

// arrival is what is known where another node leads to one; from is nil at the start.
type arrival struct {
	from *node
	*state
}

type flow struct {
	*Loop
	code     *Code
	contexts map[context]*context
	nodes    map[place]*node
	work     []*node
	found    map[[2]Step]bool // the steps that a path leads to
	memory                    // of which what is there is private
	// hiding: what the loop may change that no event tells is wanted, and not whether it may end. Then code that is not understood
	// is passed over.
	hiding bool
}

// starts reports whether a loop may start before an operation, which changes nothing that the thread alone knows but perhaps the register of
// the result.
func starts(op trace.Op) (result, ok bool) {
	switch ops.Does(op) {
	case ops.Read:
		return false, true
	case ops.AtomicRead, ops.Acquire, ops.Release, ops.Sleep:
		return true, true
	}
	return true, op == trace.OpYield
}

func newFlow(l *Loop, c *Code, m memory) *flow {
	return &flow{Loop: l, code: c, contexts: map[context]*context{}, nodes: map[place]*node{}, found: map[[2]Step]bool{}, memory: m}
}

// Ends says why the loop may end because of what is private, or "" if it cannot.
func (c *Code) Ends(l *Loop) (why string) {
	if !l.hasStack() {
		return "its stack is not known"
	}
	l.fixed = func(module int) bool { return c.file(module).fixed }
	m := newMemory(l)
	for {
		before := len(m.private)
		f := newFlow(l, c, m)
		if why := f.follow(); why != "" || len(m.private) == before {
			return why
		}
	}
}

// follow says why the loop may end if no more memory is private than is known.
func (f *flow) follow() (why string) {
	if why := f.explore(); why != "" {
		return why
	}
	return f.verdict()
}

// explore follows all paths, and says why it cannot.
func (f *flow) explore() (why string) {
	l, begins := f.Loop, false
	for step := range l.Next {
		if result, ok := starts(step.Op); ok && step.Site == l.Frames[0].Site {
			begins = true
			s := f.start(step)
			if result {
				s.regs[rax] = value{base: mix(14)}
			}
			f.lead(nil, place{step, step.Site, f.context(context{})}, s)
		}
	}
	if !begins {
		return "it does not start at an access that is known"
	}
	for visits := 0; len(f.work) > 0; visits++ {
		if visits == mostVisits {
			return "it is too long"
		}
		n := f.work[len(f.work)-1]
		f.work = f.work[:len(f.work)-1]
		n.queued = false
		f.visit(n)
	}
	return ""
}

// verdict says why the loop may end, "" if it cannot.
func (f *flow) verdict() string {
	for _, n := range f.nodes {
		if n.lost != "" {
			return n.lost
		}
	}
	for step, next := range f.Next {
		for _, to := range next {
			if !f.found[[2]Step{step, to}] {
				return "a path is not known"
			}
		}
	}
	for n := range f.counting {
		if n.wrong != "" {
			return n.wrong
		}
	}
	return ""
}

// counting yields the nodes from which a path leads to a step that was seen to come next.
func (f *flow) counting(yield func(*node) bool) {
	var counts []*node
	for _, n := range f.nodes {
		if n.reaches {
			counts = append(counts, n)
		}
	}
	for len(counts) > 0 {
		n := counts[len(counts)-1]
		counts = counts[:len(counts)-1]
		if !yield(n) {
			return
		}
		for _, i := range n.ins {
			if from := i.from; from != nil && !from.reaches {
				from.reaches = true
				counts = append(counts, from)
			}
		}
	}
}

func (f *flow) context(c context) *context {
	if p := f.contexts[c]; p != nil {
		return p
	}
	f.contexts[c] = &c
	return &c
}

// start returns the state at the start: a call of a hook has just returned, in the step.
func (f *flow) start(step Step) *state {
	s := &state{slots: map[int64]slot{}, bytes: map[int64]bool{}, known: map[address]access{}}
	for i := range s.regs {
		if w, ok := f.Registers[i]; ok {
			s.regs[i] = f.initial(w, 0, uint64(i))
		}
	}
	if at := f.named(f.First.Object); f.First.Size > 0 && !at.inStack() {
		s.known[address{at.base, at.off}] = access{step, int(f.First.Size)}
	}
	s.regs[rsp] = value{base: stack}
	s.called(0)
	return s
}

// called says that a call from the node has returned.
func (s *state) called(node uint64) {
	for _, i := range []int{rax, rcx, rdx, rsi, rdi, 8, 9, 10, 11} {
		s.regs[i] = value{base: mix(6, node, uint64(i)), private: true} // nothing is known of it, and nothing reads it
	}
	for i := range s.xmm {
		s.xmm[i] = true
	}
	s.flags, s.carry = true, true
	if sp := s.regs[rsp]; sp.base == stack {
		s.below(sp.off)
	}
}

// lead makes a node follow another, in the state.
func (f *flow) lead(from *node, to place, s *state) {
	n := f.nodes[to]
	if n == nil {
		n = &node{place: to, id: uint64(len(f.nodes))}
		f.nodes[to] = n
	}
	if i := slices.IndexFunc(n.ins, func(i arrival) bool { return i.from == from }); i < 0 {
		n.ins = append(n.ins, arrival{from, s})
	} else if n.ins[i].equal(s) {
		return
	} else {
		n.ins[i].state = s
	}
	if !n.queued {
		n.queued = true
		f.work = append(f.work, n)
	}
}

// visit executes the instruction of a node.
func (f *flow) visit(n *node) {
	s := n.ins[0].state
	for _, i := range n.ins[1:] {
		s = f.merge(s, i.state, n.id)
	}
	n.wrong, n.lost, n.hides = "", "", ""
	inst, ok := f.code.decode(n.at)
	if !ok {
		n.lost = fmt.Sprintf("an instruction at %x is not known", n.at.Offset())
		return
	}
	e := execution{flow: f, node: n, inst: inst, state: s.clone(), after: n.at + trace.Site(inst.Len), then: n.step, in: n.in}
	for i := range uint64(results) {
		e.forget(e.fresh(i).base)
	}
	e.execute()
}
