package tracegen_test

import (
	"math/rand/v2"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/testing/ordertest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// topological is a random order of the nodes that keeps every dependence.
func topological(r *rand.Rand, g *depend.Graph) []int32 {
	n := int32(g.Len())
	succs := g.Succs()
	indegree := make([]int, n)
	next := make([]int32, n) // of the same thread
	last := map[int32]int32{}
	for i := range n {
		next[i] = -1
		indegree[i] = len(g.Preds(i))
		if p, ok := last[g.Thread[i]]; ok {
			next[p] = i
			indegree[i]++
		}
		last[g.Thread[i]] = i
	}
	var ready, order []int32
	for i := range n {
		if indegree[i] == 0 {
			ready = append(ready, i)
		}
	}
	for len(ready) > 0 {
		i := r.IntN(len(ready))
		x := ready[i]
		ready = append(ready[:i], ready[i+1:]...)
		order = append(order, x)
		release := func(y int32) {
			if indegree[y]--; indegree[y] == 0 {
				ready = append(ready, y)
			}
		}
		for _, y := range succs.Of(x) {
			release(y)
		}
		if next[x] >= 0 {
			release(next[x])
		}
	}
	return order
}

func shape(seed uint64) tracegen.Shape {
	return tracegen.Shape{Threads: 1 + int(seed%5), Length: 4 + int(seed%17), Stay: int(seed % 7 * 15), Big: seed%11 == 0}
}

// TestDependencesAreSound executes random orders that keep every dependence: each must be
// the same execution. It is what the whole of static simplification stands on.
func TestDependencesAreSound(t *testing.T) {
	seen := map[trace.Op]int{}
	failed, timeouts, glued := 0, 0, 0
	for seed := range uint64(3000) {
		run := tracegen.Random(seed, shape(seed))
		for _, ev := range run.Trace.Events {
			seen[ev.Op]++
			if ev.Result != 0 && ev.Op != trace.OpAtomicCas {
				failed++
			}
			if ev.Flags&trace.FlagTimeout != 0 {
				timeouts++
			}
			if ev.Flags&trace.FlagNoDecision != 0 {
				glued++
			}
		}
		if err := trace.Validate(run.Trace); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		g := depend.Build(run.Trace)
		if g.Len() != run.Steps() {
			t.Fatalf("seed %d: %d nodes, %d steps", seed, g.Len(), run.Steps())
		}
		if _, end := g.EventsOf(int32(g.Len() - 1)); end != len(run.Trace.Events) {
			t.Fatalf("seed %d: the last node ends at event %d of %d", seed, end, len(run.Trace.Events))
		}
		r := rand.New(rand.NewPCG(seed, 7))
		for range 3 {
			order := topological(r, g)
			if err := ordertest.Check(g, g.Thread, order); err != nil {
				t.Fatal(err)
			}
			enabled, err := run.Replay(order)
			if err != nil {
				t.Fatalf("seed %d: %v\norder %v", seed, err, order)
			}
			reordered(t, seed, run.Trace, g.Reorder(run.Trace, order), enabled)
		}
	}
	for op := trace.OpThreadStart; op <= trace.OpRwlockQueue; op++ {
		switch op {
		case trace.OpAbort, trace.OpSignal, trace.OpThreadDetach, trace.OpThreadExit, trace.OpSignalSend, trace.OpSignalWait:
			continue // same as exit, or no effect
		case trace.OpState, trace.OpWord:
			continue // only watchers see it
		case trace.OpSemOpen, trace.OpSemClose, trace.OpSemUnlink:
			continue // nothing moves across them
		case trace.OpMutexInit, trace.OpMutexDestroy, trace.OpCondInit, trace.OpCondDestroy, trace.OpSemDestroy, trace.OpBarrierDestroy, trace.OpRwlockInit, trace.OpRwlockDestroy, trace.OpSpinInit, trace.OpSpinDestroy:
			continue
		}
		if op.String()[:2] != "op" && seen[op] < 10 {
			t.Errorf("%s was executed %d times: the programs do not try it", op, seen[op])
		}
	}
	if failed < 100 || timeouts < 100 || glued < 100 {
		t.Errorf("%d failures, %d time-outs, %d events that were not choices", failed, timeouts, glued)
	}
}

// TestReplayRejects swaps dependent neighbours: the machine must notice, or the test above
// shows nothing.
func TestReplayRejects(t *testing.T) {
	noticed, tried := 0, 0
	for seed := range uint64(400) {
		run := tracegen.Random(seed, shape(seed))
		g := depend.Build(run.Trace)
		for n := range int32(g.Len()) {
			for _, p := range g.Preds(n) {
				if p != n-1 {
					continue
				}
				order := make([]int32, g.Len())
				for i := range order {
					order[i] = int32(i)
				}
				order[p], order[n] = n, p
				tried++
				if _, err := run.Replay(order); err != nil {
					noticed++
				}
			}
		}
	}
	// Some dependences are not visible: two writes of which the first is never read.
	if tried < 300 || noticed*100 < tried*95 {
		t.Errorf("of %d swaps of dependent neighbours the machine noticed %d", tried, noticed)
	}
	t.Logf("of %d swaps of dependent neighbours the machine noticed %d", tried, noticed)
}

// reordered checks a reordered trace: that it is valid, that its enabled sets are the
// machine's, and that everything else is unchanged.
func reordered(t *testing.T, seed uint64, old, got *trace.Trace, enabled []trace.ThreadSet) {
	t.Helper()
	if err := trace.Validate(got); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	if len(got.Events) != len(old.Events) {
		t.Fatalf("seed %d: %d events were %d", seed, len(got.Events), len(old.Events))
	}
	was := map[uint64]trace.ThreadID{}
	for _, th := range old.Threads {
		was[th.Name] = th.ID
	}
	// Of a thread that was about to join at the end, the trace does not say which.
	joins := trace.ThreadSet{}
	for _, w := range old.Ending.Waiters {
		if w.Op == trace.OpThreadJoin {
			joins.Add(w.Thread)
		}
	}
	n := 0
	for i, ev := range got.Events {
		if ev.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		var set trace.ThreadSet
		for u, th := range got.Threads {
			if id := was[th.Name]; ev.Enabled.Has(trace.ThreadID(u)) && !(joins.Has(id) && !enabled[n].Has(id)) {
				set.Add(id)
			}
		}
		if !set.Equal(enabled[n]) {
			t.Fatalf("seed %d: event %d (thread %d %s): enabled %b, the machine says %b", seed, i, ev.Thread, ev.Op, set, enabled[n])
		}
		n++
	}
}

// withoutAllocs is the trace as heddle records it when accesses were not asked for: heap
// blocks are in Allocs and have no events.
func withoutAllocs(t *trace.Trace) *trace.Trace {
	out := *t
	out.Events, out.Allocs = nil, nil
	live := map[trace.Object]int{}
	for _, ev := range t.Events {
		switch ev.Op {
		case trace.OpMalloc:
			live[ev.Object] = len(out.Allocs)
			out.Allocs = append(out.Allocs, trace.Alloc{Object: ev.Object, Size: uint64(ev.Size), Thread: ev.Thread, Event: len(out.Events), Freed: -1})
			continue
		case trace.OpFree:
			out.Allocs[live[ev.Object]].Freed = len(out.Events)
		}
		out.Events = append(out.Events, ev)
	}
	return &out
}

// TestBlocksWithoutEvents is TestDependencesAreSound for such traces.
func TestBlocksWithoutEvents(t *testing.T) {
	blocks, freed := 0, 0
	for seed := range uint64(1500) {
		run := tracegen.Random(seed, shape(seed))
		tr := withoutAllocs(run.Trace)
		blocks += len(tr.Allocs)
		for _, a := range tr.Allocs {
			if a.Freed >= 0 {
				freed++
			}
		}
		g := depend.Build(tr)
		order := topological(rand.New(rand.NewPCG(seed, 7)), g)
		if _, err := run.Replay(order); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		re := g.Reorder(tr, order)
		if err := trace.Validate(re); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		// The blocks still belong to the same nodes.
		if again := depend.Build(re); again.Edges() == 0 && g.Edges() > 0 {
			t.Fatalf("seed %d: the reordered trace has no dependences", seed)
		}
	}
	if blocks < 500 || freed < 100 {
		t.Errorf("%d blocks, %d freed: too few to show anything", blocks, freed)
	}
}
