package engine

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBehaviours(t *testing.T) {
	b := newBehaviours()
	if !b.add(1, 10) || b.add(1, 10) || !b.add(2, 10) || b.len() != 2 {
		t.Errorf("%+v", b)
	}
	estimate := func(want float64) {
		t.Helper()
		if got, _, ok := b.unseen(); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("estimate %v, want %v: %+v", got, want, b)
		}
	}
	estimate(1) // all three are of one plan
	b.add(1, 11)
	estimate(1. / 4) // 2
	b.add(2, 12)
	estimate(0)
	if _, below, _ := b.unseen(); below != 3./5 {
		t.Errorf("bound %v", below)
	}
	b.add(3, 13)
	b.changed(14)
	if _, _, ok := b.unseen(); ok {
		t.Error("an estimate of nothing")
	}
	b.add(3, 14) // seen with the old points, once
	estimate(0)
	b.add(4, 15)
	estimate(1. / 2)
	// Plans are counted modulo 2^32.
	b = newBehaviours()
	b.changed(1<<32 - 1)
	b.add(1, 1<<32-1)
	b.add(2, 1<<32+3)
	estimate(1)
	b.add(1, 1<<32+5)
	estimate(1. / 3)
}

// TestUnseen: over draws whose distribution is known, in plans that share a parameter, the estimate
// is close to the true probability.
func TestUnseen(t *testing.T) {
	const kinds, plans, each = 3000, 400, 16
	r := rand.New(rand.NewPCG(1, 2))
	weight := make([]float64, kinds)
	sum := 0.
	for i := range weight {
		weight[i] = 1 / float64(i+1)
		sum += weight[i]
	}
	draw := func(of func(int) bool) uint64 {
		for {
			x := r.Float64() * sum
			for i, w := range weight {
				if x -= w; x < 0 {
					if of(i) {
						return uint64(i)
					}
					break
				}
			}
		}
	}
	var estimates, truths float64
	for range 20 {
		b := newBehaviours()
		seen := [kinds]bool{}
		for p := range uint64(plans) {
			// A plan's parameter: the plan only shows kinds with one remainder.
			k := r.IntN(8)
			for range each {
				x := draw(func(i int) bool { return i%8 == k })
				seen[x] = true
				b.add(x, p)
			}
		}
		// The probability that the first execution of a new plan shows something new.
		truth := 0.
		for k := range 8 {
			unseen, all := 0., 0.
			for i := k; i < kinds; i += 8 {
				all += weight[i]
				if !seen[i] {
					unseen += weight[i]
				}
			}
			truth += unseen / all / 8
		}
		estimate, _, ok := b.unseen()
		if !ok {
			t.Fatal("no estimate")
		}
		estimates += estimate / 20
		truths += truth / 20
	}
	t.Logf("estimate %.4f, truth %.4f", estimates, truths)
	if estimates < 0.9*truths || estimates > 1.15*truths {
		t.Errorf("estimate %.4f, truth %.4f", estimates, truths)
	}
}
