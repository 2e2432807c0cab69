package atomicity_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// oracle applies the definitions to every three accesses of each byte.
type oracle struct {
	tr    *trace.Trace
	locks [][]held // per event: the locks its thread holds
	reach []map[int]bool
	kinds []atomicity.Effect
}

// held is a lock and the event at which its holder acquired it.
type held struct {
	lock   trace.Object
	event  int
	shared bool
}

func newOracle(tr *trace.Trace) *oracle {
	o := &oracle{tr: tr}
	n := len(tr.Events)
	var state ops.State
	current := map[trace.ThreadID][]held{}
	arrivals := map[*ops.Object][]int{} // events of a barrier's generation
	edges := make([][]int, n)           // to later events
	last := map[trace.ThreadID]int{}
	created := map[trace.ThreadID]int{}
	once := map[trace.Object][]int{}
	left := map[trace.ThreadID][]int{} // arrivals that the thread's leave follows
	for i := range tr.Events {
		e := &tr.Events[i]
		if before, ok := last[e.Thread]; ok {
			edges[before] = append(edges[before], i)
		} else if at, ok := created[e.Thread]; ok {
			edges[at] = append(edges[at], i)
		}
		last[e.Thread] = i
		if id, ok := e.Child(); ok {
			created[id] = i
		}
		if e.Op == trace.OpThreadJoin && e.Result == 0 {
			if at, ok := last[trace.ThreadID(e.Value)]; ok {
				edges[at] = append(edges[at], i)
			}
		}
		switch e.Op {
		case trace.OpOnceBegin:
			for _, at := range once[e.Object] {
				edges[at] = append(edges[at], i)
			}
		case trace.OpOnceEnd:
			once[e.Object] = append(once[e.Object], i)
		}
		for _, c := range state.Apply(e) {
			switch c.Kind {
			case ops.Acquired, ops.AcquiredShared:
				if c.Depth == c.N {
					current[c.Thread] = append(slices.Clone(current[c.Thread]), held{c.Object.Name, i, c.Kind == ops.AcquiredShared})
				}
			case ops.Released, ops.ReleasedShared:
				if c.Depth == 0 {
					current[c.Thread] = slices.DeleteFunc(slices.Clone(current[c.Thread]), func(h held) bool { return h.lock == c.Object.Name })
				}
			case ops.Arrived:
				if c.First {
					arrivals[c.Object] = nil
				}
				arrivals[c.Object] = append(arrivals[c.Object], i)
			case ops.Departed:
				for _, at := range left[c.Thread] {
					edges[at] = append(edges[at], i)
				}
			}
			if c.Kind == ops.Arrived {
				// All threads of the generation share the list, which grows until the last arrival.
				for _, at := range arrivals[c.Object] {
					left[tr.Events[at].Thread] = arrivals[c.Object]
				}
			}
		}
		o.locks = append(o.locks, current[e.Thread])
		o.kinds = append(o.kinds, effect(e))
	}
	o.reach = make([]map[int]bool, n)
	for i := n - 1; i >= 0; i-- {
		o.reach[i] = map[int]bool{}
		for _, j := range edges[i] {
			o.reach[i][j] = true
			for k := range o.reach[j] {
				o.reach[i][k] = true
			}
		}
	}
	return o
}

func effect(e *trace.Event) atomicity.Effect {
	switch e.Op.Class() {
	case trace.ClassRead, trace.ClassALoad:
		return atomicity.Reads
	case trace.ClassWrite, trace.ClassAStore:
		return atomicity.Writes
	case trace.ClassARMW:
		if e.Op == trace.OpAtomicCas && e.Result == 0 {
			return atomicity.Reads
		}
		return atomicity.Reads | atomicity.Writes
	}
	return 0
}

// unserializable is the definition: no serial order of the two threads gives both threads' reads,
// and memory at the end, the values that the order p, r, c gives.
func unserializable(p, c, r atomicity.Effect) bool {
	run := func(order ...int) string {
		kinds := []atomicity.Effect{p, c, r}
		value, seen := 0, [3]int{}
		for _, i := range order {
			if kinds[i]&atomicity.Reads != 0 {
				seen[i] = value
			}
			if kinds[i]&atomicity.Writes != 0 {
				value = i + 1
			}
		}
		return fmt.Sprint(value, seen)
	}
	got := run(0, 2, 1)
	return got != run(2, 0, 1) && got != run(0, 1, 2)
}

// verdict is what the definitions say of a triple.
type verdict struct {
	feasible, exercised bool
	pruned              atomicity.Pruned
}

// bytes calls f for each byte, with the events that access it and the life in which each does.
func (o *oracle) bytes(f func(events []int, life func(int) int)) {
	bytes := map[uint64][]int{}
	life := map[[2]uint64]int{} // byte, event -> life
	current := map[uint64]int{}
	allocs := o.tr.Allocs
	for i := range o.tr.Events {
		e := &o.tr.Events[i]
		renew := func(x trace.Object, size uint64) {
			first, n := x.Bytes(size)
			for b := first; b < first+n; b++ {
				current[b]++
			}
		}
		for len(allocs) > 0 && allocs[0].Event <= i {
			renew(allocs[0].Object, allocs[0].Size)
			allocs = allocs[1:]
		}
		if e.Op == trace.OpMalloc {
			renew(e.Object, uint64(e.Size))
		}
		if o.kinds[i] == 0 || e.Object == 0 {
			continue
		}
		first, n := e.Object.Bytes(uint64(e.Size))
		for b := first; b < first+max(n, 1); b++ {
			bytes[b] = append(bytes[b], i)
			life[[2]uint64{b, uint64(i)}] = current[b]
		}
	}
	for b, events := range bytes {
		f(events, func(i int) int { return life[[2]uint64{b, uint64(i)}] })
	}
}

func (o *oracle) all() map[atomicity.Triple]verdict {
	out := map[atomicity.Triple]verdict{}
	o.bytes(func(events []int, life func(int) int) {
		type two struct{ p, c int }
		var pairs []two
		for x, i := range events {
			for _, j := range events[x+1:] {
				if o.tr.Events[i].Thread == o.tr.Events[j].Thread {
					if life(i) == life(j) {
						pairs = append(pairs, two{i, j})
					}
					break
				}
			}
		}
		for _, pc := range pairs {
			for _, r := range events {
				if o.tr.Events[r].Thread == o.tr.Events[pc.p].Thread || !unserializable(o.kinds[pc.p], o.kinds[pc.c], o.kinds[r]) {
					continue
				}
				t := atomicity.Triple{P: o.statement(pc.p), C: o.statement(pc.c), R: o.statement(r)}
				v := out[t]
				switch {
				case life(pc.p) != life(r):
					v.pruned |= atomicity.ByLifetime
				case o.reach[r][pc.p] || o.reach[pc.c][r]:
					v.pruned |= atomicity.ByOrder
				case o.excluded(pc.p, pc.c, r):
					v.pruned |= atomicity.ByExclusion
				default:
					v.feasible = true
					v.exercised = v.exercised || pc.p < r && r < pc.c
				}
				out[t] = v
			}
		}
	})
	return out
}

// unordered are the pairs of conflicting accesses that nothing necessary orders and no lock excludes.
func (o *oracle) unordered() map[[2]atomicity.Statement]bool {
	out := map[[2]atomicity.Statement]bool{}
	plain := func(i int) bool {
		c := o.tr.Events[i].Op.Class()
		return c == trace.ClassRead || c == trace.ClassWrite
	}
	o.bytes(func(events []int, life func(int) int) {
		for _, i := range events {
			for _, j := range events {
				if i >= j || o.tr.Events[i].Thread == o.tr.Events[j].Thread || life(i) != life(j) || (o.kinds[i]|o.kinds[j])&atomicity.Writes == 0 || !plain(i) && !plain(j) || o.reach[i][j] {
					continue
				}
				common := false
				for _, h := range o.locks[i] {
					for _, g := range o.locks[j] {
						common = common || h.lock == g.lock && !(h.shared && g.shared)
					}
				}
				if !common {
					out[[2]atomicity.Statement{o.statement(i), o.statement(j)}] = true
				}
			}
		}
	})
	return out
}

func (o *oracle) excluded(p, c, r int) bool {
	for _, h := range o.locks[p] {
		if !slices.Contains(o.locks[c], h) {
			continue
		}
		for _, g := range o.locks[r] {
			if g.lock == h.lock && !(g.shared && h.shared) {
				return true
			}
		}
	}
	return false
}

func (o *oracle) statement(i int) atomicity.Statement {
	e := &o.tr.Events[i]
	return atomicity.Statement{Site: e.Site, Op: e.Op, Effect: o.kinds[i]}
}

// TestAgainstDefinitions compares a profile with the definitions, on random executions.
func TestAgainstDefinitions(t *testing.T) {
	t.Parallel()
	feasible, exercised, raced, reasons := 0, 0, 0, map[atomicity.Pruned]int{}
	for seed := range uint64(1250) {
		run := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%3), Length: 20 + int(seed%30), Stay: int(seed*37) % 90})
		p := atomicity.NewProfile()
		p.Add(run.Trace, nil)
		o := newOracle(run.Trace)
		want, races := o.all(), o.unordered()
		for _, pair := range p.Unordered() {
			if !races[pair] && !races[[2]atomicity.Statement{pair[1], pair[0]}] {
				t.Fatalf("seed %d: %+v cannot race", seed, pair)
			}
			delete(races, pair)
			delete(races, [2]atomicity.Statement{pair[1], pair[0]})
			raced++
		}
		for pair := range races {
			t.Fatalf("seed %d: missed %+v", seed, pair)
		}
		got := map[atomicity.Triple]atomicity.Interleaving{}
		for _, i := range p.All() {
			got[i.Triple] = i
			v, ok := want[i.Triple]
			if !ok {
				t.Fatalf("seed %d: %+v should not be an interleaving", seed, i.Triple)
			}
			if i.Feasible != v.feasible || i.Exercised > 0 != v.exercised || !v.feasible && i.Pruned != v.pruned {
				t.Fatalf("seed %d: %+v, want %+v", seed, i, v)
			}
			switch {
			case v.exercised:
				exercised++
			case v.feasible:
				feasible++
			default:
				reasons[v.pruned]++
			}
		}
		for x := range want {
			if _, ok := got[x]; !ok {
				t.Fatalf("seed %d: missed %+v (%+v)", seed, x, want[x])
			}
		}
	}
	if raced < 1000 || exercised < 1000 || feasible < 3000 || reasons[atomicity.ByOrder] < 2000 || reasons[atomicity.ByExclusion] < 40 {
		t.Errorf("the programs are too tame: %d pairs may race, %d exercised, %d others feasible, pruned %v", raced, exercised, feasible, reasons)
	}
}
