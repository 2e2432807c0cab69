package static

import (
	"github.com/heddle-dev/heddle/internal/analysis/depend"
)

// Recorded returns the order in which the nodes happened.
func Recorded(g *depend.Graph) []int32 {
	order := make([]int32, g.Len())
	for i := range order {
		order[i] = int32(i)
	}
	return order
}

// Switches returns the number of context switches of the graph's nodes in an order.
func Switches(g *depend.Graph, order []int32) int {
	n := 0
	for i := 1; i < len(order); i++ {
		if g.Thread[order[i]] != g.Thread[order[i-1]] {
			n++
		}
	}
	return n
}
