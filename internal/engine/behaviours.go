package engine

// MaxBehaviours is the number of distinct behaviours a search records. It does not count later
// ones, so that a long search does not exhaust memory.
const MaxBehaviours = 1 << 22

// behaviours records the trace signatures of the executions so far and estimates how many
// behaviours are still unseen.
//
// It uses the Good–Turing estimator (Good, The population frequencies of species and the estimation
// of population parameters, Biometrika 1953): the share of executions whose behaviour no other
// execution showed. The estimator assumes independent draws from one distribution. A search does
// not draw that way, so this implementation deviates in two ways:
//
//   - Executions of one plan share the strategy's parameters. So an execution counts if no other
//     plan has shown its behaviour, even if its own plan has repeated it.
//   - A different set of scheduling points is a different distribution. So only executions since
//     the set last grew count; behaviours shown before that are seen.
//
// Alternating between strategies needs no correction: leaving one plan out at a time estimates, for
// each strategy, what its next plan shows that all others have not, and the strategies keep their
// shares of the next executions.
type behaviours struct {
	seen map[uint64]sighting
	// executions counts those since the scheduling points changed; single is how many of them
	// showed a behaviour that only one plan has shown.
	executions, single int
	// since is the first plan that counts.
	since uint32
}

// sighting records which plan showed a behaviour first, and how often.
type sighting struct {
	plan   uint32 // number of the first plan that showed it, modulo 2^32
	times  uint16 // executions of that plan that showed it
	shared bool   // another plan has shown it, or a plan before behaviours.since
}

func newBehaviours() behaviours { return behaviours{seen: map[uint64]sighting{}} }

func (b *behaviours) len() int { return len(b.seen) }

// full reports whether new behaviours are no longer recorded.
func (b *behaviours) full() bool { return len(b.seen) >= MaxBehaviours }

// add reports whether the behaviour, shown by an execution of a plan, is new.
func (b *behaviours) add(signature, plan uint64) bool {
	b.executions++
	s, ok := b.seen[signature]
	switch {
	case !ok && b.full():
		return false
	case !ok:
		b.single++
		b.seen[signature] = sighting{plan: uint32(plan), times: 1}
		return true
	case s.shared:
	case s.plan == uint32(plan) && s.plan-b.since < 1<<31:
		b.single++
		s.times++
		b.seen[signature] = s
	default:
		if s.plan-b.since < 1<<31 {
			b.single -= int(s.times)
		}
		s.shared = true
		b.seen[signature] = s
	}
	return false
}

// changed starts a new estimate: from this plan on, the set of scheduling points is different.
func (b *behaviours) changed(plan uint64) {
	b.executions, b.single, b.since = 0, 0, uint32(plan)
}

// unseen estimates the probability that the next execution shows a new behaviour. If the estimate
// is 0, the probability is less than below with 95 % confidence (no success in that many draws). ok
// is false if no execution counts or b is full.
func (b *behaviours) unseen() (estimate, below float64, ok bool) {
	if b.executions == 0 || b.full() {
		return 0, 0, false
	}
	n := float64(b.executions)
	return float64(b.single) / n, min(1, 3/n), true
}
