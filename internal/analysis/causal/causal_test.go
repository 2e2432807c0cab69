package causal

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/internal/testing/reporttest"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// check compares steps with package hb: clocks count what happened before, and the closure of
// the edges and the order of each thread is happens-before, with no edge that the others imply.
func check(t *testing.T, tr *trace.Trace, counted func(int) bool) (edges int) {
	t.Helper()
	n := len(tr.Events)
	engine := hb.New()
	epochs := make([]hb.Epoch, n)
	before := make([][]bool, n) // [j][i]: i happened before j
	for j := range tr.Events {
		engine.Event(&tr.Events[j])
		thread := tr.Events[j].Thread
		epochs[j] = engine.Epoch(thread)
		before[j] = make([]bool, n)
		for i := range j {
			before[j][i] = counted(i) && (tr.Events[i].Thread == thread || engine.Before(epochs[i], thread))
		}
	}
	closure := make([][]bool, n)
	last := map[trace.ThreadID]int{}
	want := 0
	Each(tr, counted, func(s *Step) {
		j := s.Event
		for want < n && !counted(want) {
			want++
		}
		if j != want {
			t.Fatalf("event %d, want %d", j, want)
		}
		want++
		counts := make([]int32, len(tr.Threads))
		for i := range j {
			if before[j][i] {
				counts[tr.Events[i].Thread]++
			}
		}
		counts[tr.Events[j].Thread]++
		if !slices.Equal(s.Clock, counts) {
			t.Fatalf("event %d has clock %v, want %v", j, s.Clock, counts)
		}
		closure[j] = make([]bool, n)
		from := slices.Clone(s.After)
		if p, ok := last[tr.Events[j].Thread]; ok {
			from = append(from, p)
		}
		last[tr.Events[j].Thread] = j
		for k, i := range from {
			if i >= j || k < len(s.After) && tr.Events[i].Thread == tr.Events[j].Thread {
				t.Fatalf("edge from %d to %d", i, j)
			}
			for _, other := range from {
				if k < len(s.After) && other != i && closure[other][i] {
					t.Fatalf("the edge from %d to %d is implied by that from %d", i, j, other)
				}
			}
			closure[j][i] = true
			for x, ok := range closure[i] {
				closure[j][x] = closure[j][x] || ok
			}
		}
		edges += len(s.After)
		if !slices.Equal(closure[j], before[j]) {
			t.Fatalf("the edges to event %d do not give what happened before it", j)
		}
	})
	for want < n && !counted(want) {
		want++
	}
	if want != n {
		t.Fatalf("the last event is %d of %d", want, n)
	}
	return edges
}

func all(int) bool { return true }

func TestFixtures(t *testing.T) {
	for _, name := range reporttest.Fixtures() {
		tr, _ := reporttest.Load(t, name)
		if len(tr.Events) > 1500 {
			continue
		}
		if check(t, tr, all) == 0 && len(tr.Threads) > 1 {
			t.Errorf("%s has no edges", name)
		}
	}
}

func TestRandom(t *testing.T) {
	edges := 0
	for seed := range uint64(40) {
		edges += check(t, tracegen.Random(seed, tracegen.Shape{Threads: 3 + int(seed%6), Length: 150, Stay: 40}).Trace, all)
		tr, _ := reporttest.Random(t, seed, 2+int(seed%5), 150)
		edges += check(t, tr, all)
	}
	if edges < 300 {
		t.Errorf("the traces have %d edges", edges)
	}
}

// Events that are not counted order the others.
func TestNotCounted(t *testing.T) {
	edges := 0
	for seed := range uint64(120) {
		tr, _ := reporttest.Random(t, seed, 2+int(seed%5), 120)
		if seed%2 == 0 {
			tr = tracegen.Random(seed, tracegen.Shape{Threads: 3 + int(seed%6), Length: 150, Stay: 40}).Trace
		}
		r := rand.New(rand.NewPCG(seed, 1))
		shown := make([]bool, len(tr.Events))
		for i := range shown {
			shown[i] = r.IntN(4) == 0
		}
		edges += check(t, tr, func(i int) bool { return shown[i] })
	}
	if edges < 300 {
		t.Errorf("the traces have %d edges", edges)
	}
}
