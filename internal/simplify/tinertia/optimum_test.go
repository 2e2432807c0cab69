package tinertia

import (
	"container/heap"
	"context"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// optimum returns the fewest switches, and among those the fewest preemptions, of all executions
// that show the bug: Dijkstra's algorithm over the machine's states. It reports false if there are
// more than limit states.
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
			// A signal may wake any waiter.
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

// TestNearOptimal compares results with the optimum, as Figure 6 of FSE'10 does for five programs
// by hand.
func TestNearOptimal(t *testing.T) {
	type histogram struct {
		programs, executions  int
		switches, preemptions map[int]int
		optimal               int
	}
	paper := histogram{switches: map[int]int{}, preemptions: map[int]int{}}
	all := histogram{switches: map[int]int{}, preemptions: map[int]int{}}
	for n := uint64(0); n < 260; n++ {
		p := anyProgram(n)
		in := failing(p, n, 100)
		if in == nil || len(newSequence(in, 0).teis) < 4 {
			continue
		}
		best, ok := optimum(p, sameBug(in.Ending), 10_000)
		if !ok {
			continue
		}
		for _, h := range []*histogram{&paper, &all} {
			var opts Options
			if h == &paper {
				opts.Operations = Paper()
			}
			r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, opts)
			if err != nil {
				t.Fatal(err)
			}
			s, pre := r.After.Switches-best.Switches, r.After.Preemptions-best.Preemptions
			if s < 0 || s == 0 && pre < 0 {
				t.Fatalf("program %d: %+v is better than the optimum %+v", n, r.After, best)
			}
			h.programs++
			h.executions += r.Table2.Executions
			h.switches[s]++
			h.preemptions[max(0, pre)]++ // fewer than the optimum means more switches
			if s == 0 && pre == 0 {
				h.optimal++
			}
		}
	}
	for _, h := range []*histogram{&paper, &all} {
		name := "all operations"
		if h == &paper {
			name = "Algorithm 1"
		}
		t.Logf("%s: %d programs, %d executions each; switches above the optimum %v, preemptions %v; optimal %d",
			name, h.programs, h.executions/max(1, h.programs), h.switches, h.preemptions, h.optimal)
	}
	if all.programs < 100 {
		t.Fatalf("only %d programs", all.programs)
	}
	// FSE'10 §5.1 has 90 % within 2 switches.
	for _, c := range []struct {
		what    string
		n, need int // percent
	}{
		{"Algorithm 1 within 1 switch", paper.switches[0] + paper.switches[1], 90},
		{"within 1 switch", all.switches[0] + all.switches[1], 99},
		{"fewest switches", all.switches[0], 95},
		{"fewest preemptions", all.preemptions[0], 95},
		{"optimal", all.optimal, 95},
	} {
		if 100*c.n < c.need*all.programs {
			t.Errorf("%s: %d of %d, want %d %%", c.what, c.n, all.programs, c.need)
		}
	}
}
