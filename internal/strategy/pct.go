package strategy

import (
	"math/rand/v2"

	"github.com/heddle-dev/heddle/schedule"
)

// PCT is probabilistic concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatte, "A
// Randomized Scheduler with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010. Threads have
// random priorities and the enabled thread with the highest runs; at d-1 scheduling points drawn
// from the whole execution the running thread's priority falls below all others. An execution of n
// threads and k scheduling points shows a bug of depth d with probability at least 1/(n k^(d-1)).
//
// The paper leaves d to the user. Here plans draw it from 2 to 5, each half as often as the one
// before, since most bugs are shallow and the bound falls with k. (Depth 1 has no change point; the
// random priorities, which every depth has, show such bugs too.)
//
// PPCT (Nagarakatte, Burckhardt, Martin, Musuvathi, "Multicore Acceleration of Priority-Based Schedulers
// for Concurrency Bug Detection", PLDI 2012) keeps this bound while all threads but the few of low priority
// run in parallel. Here one thread runs at a time, so there is nothing for it to gain.
type PCT struct{}

func (PCT) String() string { return "pct" }

const (
	pctShallow = 2
	pctDeep    = 5
)

// Plan draws the depth. The length is that of earlier executions.
func (PCT) Plan(r *rand.Rand, seen Seen) schedule.Plan {
	depth := pctShallow
	for depth < pctDeep && r.IntN(2) == 0 {
		depth++
	}
	return schedule.Plan{Policy: schedule.PCT, Depth: depth, Length: seen.points()}
}
