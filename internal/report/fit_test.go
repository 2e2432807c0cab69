package report

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.IntRange(0, 20)).Draw(t, "list")
		budget := rapid.IntRange(0, 100).Draw(t, "budget")
		head, left, tail := Fit(list, budget, func(n int) int { return n })
		if !slices.Equal(slices.Concat(head, left, tail), list) {
			t.Fatalf("%v is split into %v, %v, %v", list, head, left, tail)
		}
		sum := 0
		for _, n := range slices.Concat(head, tail) {
			sum += n
		}
		all := 0
		for _, n := range list {
			all += n
		}
		if sum > budget || all <= budget && len(left) > 0 {
			t.Fatalf("%v takes %d of %d, %v is left out", list, sum, budget, left)
		}
	})
}
