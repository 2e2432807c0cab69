package tinertia

import (
	"container/heap"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// optimum is the fewest switches, and among those the fewest preemptions, of all
// executions that show the bug: Dijkstra's algorithm over the machine's states. It
// reports false if there are more than limit states.
func optimum(p *program, same func(trace.Ending) bool, limit int) (best trace.Cost, ok bool) {
	h := &nodes{}
	heap.Push(h, node{s: p.initial(), last: -1})
	seen := map[string]bool{}
	for h.Len() > 0 {
		n := heap.Pop(h).(node)
		if n.s.end != nil {
			if same(*n.s.end) {
				return trace.Cost{Switches: n.switches, Preemptions: n.preemptions}, true
			}
			continue
		}
		key := n.s.key() + string(rune(n.last+2))
		if seen[key] {
			continue
		}
		seen[key] = true
		if len(seen) > limit {
			return trace.Cost{}, false
		}
		enabled := p.enabled(n.s)
		for id := range n.s.threads {
			if !enabled.Has(trace.ThreadID(id)) {
				continue
			}
			// A signal may go to any waiter.
			wakes := []int{-1}
			if op, _, _ := p.pending(n.s, id); op == trace.OpCondSignal {
				if q := n.s.queue[p.funcs[n.s.threads[id].fn][n.s.threads[id].pc].a]; len(q) > 0 {
					wakes = slices.Clone(q)
				}
			}
			for _, w := range wakes {
				m := node{s: n.s.clone(), last: id, switches: n.switches, preemptions: n.preemptions}
				if n.last >= 0 && n.last != id {
					m.switches++
					if enabled.Has(trace.ThreadID(n.last)) {
						m.preemptions++
					}
				}
				p.step(m.s, id, w)
				heap.Push(h, m)
			}
		}
	}
	return trace.Cost{}, false
}

type node struct {
	s                     *state
	last                  int
	switches, preemptions int
}

type nodes []node

func (h nodes) Len() int { return len(h) }
func (h nodes) Less(i, j int) bool {
	if h[i].switches != h[j].switches {
		return h[i].switches < h[j].switches
	}
	return h[i].preemptions < h[j].preemptions
}
func (h nodes) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *nodes) Push(x any)   { *h = append(*h, x.(node)) }
func (h *nodes) Pop() any {
	x := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return x
}
