package depend

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/trace"
)

// happening is an event in the oracle's form.
type happening struct {
	thread  int32
	joined  bool
	effects []Effect
}

// dependent is the definition: it compares two events, the earlier first, effect by effect.
func dependent(a, b happening) bool {
	if a.thread == b.thread {
		return true
	}
	for _, e := range a.effects {
		if e.Mode == Create && int32(e.Addr) == b.thread {
			return true
		}
		for _, f := range b.effects {
			switch {
			case e.Mode == Fence || f.Mode == Fence:
				return true
			case e.Mode <= Write && f.Mode <= Write:
				if (e.Mode == Write || f.Mode == Write) && e.Addr < f.Addr+f.Size && f.Addr < e.Addr+e.Size {
					return true
				}
			case e.Mode >= Acquire && e.Mode <= Change && f.Mode >= Acquire && f.Mode <= Change:
				alone := func(m Mode) bool { return m == Acquire || m == Release || m == Change }
				if e.Addr == f.Addr && (alone(e.Mode) || alone(f.Mode)) {
					return true
				}
			case e.Mode == Post && f.Mode == Take && e.Addr == f.Addr:
				return true
			case f.Mode == Join && int32(f.Addr) == a.thread:
				return true
			}
		}
		if e.Mode == Fence {
			return true
		}
	}
	for _, f := range b.effects {
		if f.Mode == Fence || f.Mode == Join && int32(f.Addr) == a.thread {
			return true
		}
	}
	return false
}

// closure returns the transitive closure of a relation on nodes numbered in order.
func closure(n int, edge func(a, b int) bool) [][]bool {
	reach := make([][]bool, n)
	for b := range n {
		reach[b] = make([]bool, n)
		for a := b - 1; a >= 0; a-- {
			if !reach[b][a] && edge(a, b) {
				reach[b][a] = true
				for c := range a {
					reach[b][c] = reach[b][c] || reach[a][c]
				}
			}
		}
	}
	return reach
}

func build(hs []happening) (*Graph, []int) {
	b := NewBuilder(len(hs))
	node := make([]int, len(hs))
	for i, h := range hs {
		b.Begin(h.thread, h.joined)
		node[i] = int(b.node())
		for _, e := range h.effects {
			b.Effect(e)
		}
	}
	return b.Graph(), node
}

// compare checks that the graph has exactly the dependences of the definition.
func compare(t *testing.T, hs []happening) {
	t.Helper()
	g, node := build(hs)
	byNode := make([][]happening, g.Len())
	for i, h := range hs {
		byNode[node[i]] = append(byNode[node[i]], h)
	}
	want := closure(g.Len(), func(a, b int) bool {
		for _, x := range byNode[a] {
			for _, y := range byNode[b] {
				if dependent(x, y) {
					return true
				}
			}
		}
		return false
	})
	last := map[int32]int{}
	prev := make([]int, g.Len())
	for n, t := range g.Thread {
		prev[n] = -1
		if p, ok := last[t]; ok {
			prev[n] = p
		}
		last[t] = n
	}
	got := closure(g.Len(), func(a, b int) bool {
		for _, p := range g.Preds(int32(b)) {
			if int(p) == a {
				return true
			}
		}
		return prev[b] == a
	})
	for b := range want {
		for a := range want[b] {
			if want[b][a] != got[b][a] {
				t.Fatalf("node %d before node %d: definition says %v, graph %v\n%+v\n%+v", a, b, want[b][a], got[b][a], byNode[a], byNode[b])
			}
		}
	}
	for n := range int32(g.Len()) {
		for _, p := range g.Preds(n) {
			if p >= n || g.Thread[p] == g.Thread[n] {
				t.Fatalf("edge %d → %d", p, n)
			}
		}
		for _, s := range g.Succs().Of(n) {
			found := false
			for _, p := range g.Preds(s) {
				found = found || p == n
			}
			if !found {
				t.Fatalf("Succs has %d → %d, Preds has not", n, s)
			}
		}
	}
	order := make([]int32, g.Len())
	for i := range order {
		order[i] = int32(i)
	}
	if err := ordertest.Check(g, g.Thread, order); err != nil {
		t.Fatal(err)
	}

	// The clocks agree with it, and so does the result of Reduce, without redundant edges.
	c := g.Clocks()
	index := make([]int32, g.Len())
	count := make([]int32, g.Threads())
	for n, th := range g.Thread {
		index[n] = count[th]
		count[th]++
	}
	for b := range want {
		for a := range b {
			if before := c.Before(int32(b))[g.Thread[a]] > index[a]; before != want[b][a] {
				t.Fatalf("clocks say of %d before %d: %v", a, b, before)
			}
		}
	}
	r := g.Reduce()
	edge := func(skipA, skipB int) func(a, b int) bool {
		return func(a, b int) bool {
			if a == skipA && b == skipB {
				return false
			}
			for _, p := range r.Preds(int32(b)) {
				if int(p) == a {
					return true
				}
			}
			return prev[b] == a
		}
	}
	if got := closure(r.Len(), edge(-1, -1)); !reflect.DeepEqual(got, want) {
		t.Fatalf("the reduced graph says something else")
	}
	for b := range r.Len() {
		for _, a := range r.Preds(int32(b)) {
			if closure(r.Len(), edge(int(a), b))[b][a] {
				t.Fatalf("edge %d → %d was left though it follows from others", a, b)
			}
		}
	}
}

// TestGraphIsTheDefinition compares graphs of random effects with the definition, which examines
// all pairs. Sizes are chosen so that words are split, and ranges overlap each other and words that
// already have cells.
func TestGraphIsTheDefinition(t *testing.T) {
	sizes := []uint64{1, 1, 2, 4, 4, 8, 8, 16, 30, 700, 900, 5000, 9000}
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		threads := int32(2 + r.IntN(4))
		area := []uint64{40, 40, 3000, 20000}[r.IntN(4)]
		var hs []happening
		tokens := uint64(0)
		var free []uint64
		begun := map[int32]bool{}
		for range 60 {
			h := happening{thread: r.Int32N(threads), joined: r.IntN(8) == 0}
			begun[h.thread] = true
			for range 1 + r.IntN(2) {
				var e Effect
				switch r.IntN(12) {
				case 0:
					e = Effect{Mode: Mode(int(Acquire) + r.IntN(6)), Kind: Lock, Addr: 1 + r.Uint64N(3), Size: 1}
				case 1:
					tokens++
					free = append(free, tokens)
					e = Effect{Mode: Post, Kind: Signal, Addr: tokens, Size: 1}
				case 2:
					if len(free) == 0 {
						continue
					}
					i := r.IntN(len(free))
					e = Effect{Mode: Take, Kind: Signal, Addr: free[i], Size: 1}
					free = append(free[:i], free[i+1:]...)
				case 3:
					if r.IntN(6) > 0 {
						continue
					}
					e = Effect{Mode: Fence, Kind: Ending}
				case 4:
					e = Effect{Mode: Join, Kind: Life, Addr: uint64(r.Int32N(threads)), Size: 1}
				case 5:
					child := r.Int32N(threads)
					if begun[child] {
						continue
					}
					e = Effect{Mode: Create, Kind: Life, Addr: uint64(child), Size: 1}
				default:
					size := sizes[r.IntN(len(sizes))]
					if area < 1000 {
						size = sizes[r.IntN(8)]
					}
					e = Effect{Mode: Mode(r.IntN(2)), Kind: Conflict, Addr: 4096 - 20 + r.Uint64N(area), Size: size}
				}
				h.effects = append(h.effects, e)
			}
			if h.joined {
				// The definition has one thread per node.
				h.joined = len(hs) > 0 && hs[len(hs)-1].thread == h.thread
			}
			hs = append(hs, h)
		}
		compare(t, dropUselessCreates(hs))
	}
}

// dropUselessCreates keeps only the last creation of a thread before the thread begins: a thread is
// created once.
func dropUselessCreates(hs []happening) []happening {
	created := map[uint64]*Effect{}
	for i := range hs {
		for j := range hs[i].effects {
			e := &hs[i].effects[j]
			if e.Mode != Create {
				continue
			}
			if old := created[e.Addr]; old != nil {
				*old = Effect{Mode: Observe, Kind: Lock, Addr: 99, Size: 1}
			}
			created[e.Addr] = e
		}
	}
	return hs
}

// TestCheckRejects tries every kind of bad order on a small graph.
func TestCheckRejects(t *testing.T) {
	g := Build(&trace.Trace{Events: []trace.Event{
		{Thread: 0, Op: trace.OpWrite, Object: 8, Size: 4},
		{Thread: 1, Op: trace.OpRead, Object: 8, Size: 4},
		{Thread: 1, Op: trace.OpWrite, Object: 16, Size: 4},
	}})
	for _, c := range []struct {
		order []int32
		ok    bool
	}{
		{[]int32{0, 1, 2}, true},
		{[]int32{1, 0, 2}, false},
		{[]int32{0, 2, 1}, false},
		{[]int32{0, 1}, false},
		{[]int32{0, 1, 1}, false},
		{[]int32{0, 1, 3}, false},
		{[]int32{0, 1, -1}, false},
	} {
		if err := ordertest.Check(g, g.Thread, c.order); (err == nil) != c.ok {
			t.Errorf("%v: %v", c.order, err)
		}
	}
}

// TestLinear holds the graph to a fixed number of edges per event on a trace where every
// pair conflicts.
func TestLinear(t *testing.T) {
	const threads, events = 16, 20000
	b := NewBuilder(events)
	r := rand.New(rand.NewPCG(1, 2))
	for range events {
		b.Begin(r.Int32N(threads), false)
		m := Read
		if r.IntN(4) == 0 {
			m = Write
		}
		b.Effect(Effect{Mode: m, Kind: Conflict, Addr: 64, Size: 8})
	}
	if g := b.Graph(); g.Edges() > 2*events {
		t.Errorf("%d edges for %d events", g.Edges(), events)
	}
}
