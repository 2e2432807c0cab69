// Package ordertest checks orders of a dependence graph's nodes. It imports no package of
// heddle's, so that tests of any of them can use it.
package ordertest

import "fmt"

// Graph is what a dependence graph is asked for: depend.Graph.
type Graph interface {
	Len() int
	Preds(node int32) []int32
}

// Check returns an error if order is not a permutation of the nodes that keeps program order
// and every dependence. The error names the first place where it does not. Thread is the
// thread of each node.
func Check(g Graph, thread, order []int32) error {
	if len(order) != g.Len() {
		return fmt.Errorf("the order has %d nodes, the graph %d", len(order), g.Len())
	}
	done := make([]bool, g.Len())
	last := map[int32]int32{}
	for i, n := range order {
		if n < 0 || int(n) >= len(done) || done[n] {
			return fmt.Errorf("place %d of the order: node %d is not in the graph or was there before", i, n)
		}
		if before, ok := last[thread[n]]; ok && before > n {
			return fmt.Errorf("place %d of the order: node %d comes after node %d of the same thread", i, n, before)
		}
		last[thread[n]] = n
		for _, p := range g.Preds(n) {
			if !done[p] {
				return fmt.Errorf("place %d of the order: node %d depends on node %d, which comes later", i, n, p)
			}
		}
		done[n] = true
	}
	return nil
}
