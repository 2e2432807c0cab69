package tracegen_test

import (
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/tracegen"
)

func TestBadGraphs(t *testing.T) {
	for _, e := range [][2]int{{0, 0}, {0, 3}, {-1, 1}} {
		if _, err := tracegen.Cover(3, [][2]int{e}); err == nil {
			t.Errorf("edge %v was taken", e)
		}
	}
	if g := tracegen.RandomGraph(1, 20, 1); len(g) != 190 {
		t.Errorf("%d edges of a complete graph of 20", len(g))
	}
}
