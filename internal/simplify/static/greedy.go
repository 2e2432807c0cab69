package static

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
)

// rule is how a greedy order picks its next thread: it scores a run by how many nodes it has,
// whether the thread ends with it, and how many merged nodes of other threads it enables.
type rule func(nodes int, ended bool, released int) float64

// rules are those that do well; which is best depends on the trace and cannot be predicted.
var rules = []rule{
	func(nodes int, _ bool, _ int) float64 { return float64(nodes) },
	func(_ int, ended bool, released int) float64 {
		if ended {
			return float64(released) + 100
		}
		return float64(released)
	},
}

// greedy orders the merged nodes: a thread runs for as long as it can, then the one with the best
// score; ties are broken at random. Time is linear in nodes × threads.
func greedy(stop *Stop, g *depend.Graph, c *collapsed, succs *depend.Succs, score rule, r *rand.Rand) []int32 {
	missing := make([]int32, len(c.first))
	for i := range int32(g.Len()) {
		missing[c.piece[i]] += int32(len(g.Preds(i)))
	}
	at := append([]int32(nil), c.heads...)
	order := make([]int32, 0, g.Len())
	// go through the run that starts with node i
	run := func(i int32, each func(i int32)) int32 {
		for i >= 0 && missing[c.piece[i]] == 0 {
			each(i)
			i = c.follow[i]
		}
		return i
	}
	// value[t] is the score of thread t's run, valid until one of its inputs changes.
	value := make([]float64, g.Threads())
	fresh := make([]bool, g.Threads())
	for len(order) < g.Len() {
		stop.Check()
		best := -1
		for t := range at {
			if at[t] < 0 || missing[c.piece[at[t]]] != 0 {
				continue
			}
			if !fresh[t] {
				nodes, released := 0, 0
				end := run(at[t], func(i int32) {
					nodes++
					for _, s := range succs.Of(i) {
						if missing[c.piece[s]] == 1 {
							released++
						}
					}
				})
				value[t], fresh[t] = score(nodes, end < 0, released)+r.Float64()/2, true
			}
			if best < 0 || value[t] > value[best] {
				best = t
			}
		}
		at[best] = run(at[best], func(i int32) {
			order = append(order, i)
			for _, s := range succs.Of(i) {
				missing[c.piece[s]]--
				fresh[g.Thread[s]] = false
			}
		})
		fresh[best] = false
	}
	return order
}
