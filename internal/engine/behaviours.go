package engine

// MaxBehaviours is how many distinct behaviours a search tells apart; later ones are
// not counted, so that a long one does not fill the memory.
const MaxBehaviours = 1 << 22

// behaviours are the coverage hashes of the executions so far, and what an estimate of those
// that are still unseen needs.
//
// The estimate is Good's and Turing's (Good, The population frequencies of species and the
// estimation of population parameters, Biometrika 1953): of the executions, the share whose
// behaviour no other execution showed. It is for independent draws from one distribution. A
// search draws otherwise, and this differs for it in two ways:
//
//   - Executions of one plan share the strategy's parameters. So an execution counts if no
//     other plan has shown its behaviour, whether its own plan has repeated it or not.
//   - Another set of scheduling points is another distribution. So only executions since the
//     set grew for the last time count; what those before have shown is seen.
//
// That strategies take turns needs no correction: leaving one plan out at a time estimates,
// for each strategy, what its next plan shows that all others have not, and the shares are
// those in which the next executions are drawn.
type behaviours struct {
	seen map[uint64]sighting
	// executions since the scheduling points changed; single of them are of behaviours that
	// only one plan has shown.
	executions, single int
	// since is the first plan that counts.
	since uint32
}

// sighting is how often a behaviour was seen, as far as that matters.
type sighting struct {
	plan   uint32 // the first that showed it, modulo 2^32
	times  uint16 // executions of that plan that did
	shared bool   // another plan has shown it, or one before behaviours.since
}

func newBehaviours() behaviours { return behaviours{seen: map[uint64]sighting{}} }

func (b *behaviours) len() int { return len(b.seen) }

// full reports whether new behaviours are no longer told apart.
func (b *behaviours) full() bool { return len(b.seen) >= MaxBehaviours }

// add reports whether the behaviour, shown by an execution of a plan, is new.
func (b *behaviours) add(coverage, plan uint64) bool {
	b.executions++
	s, ok := b.seen[coverage]
	switch {
	case !ok && b.full():
		return false
	case !ok:
		b.single++
		b.seen[coverage] = sighting{plan: uint32(plan), times: 1}
		return true
	case s.shared:
	case s.plan == uint32(plan) && s.plan-b.since < 1<<31:
		b.single++
		s.times++
		b.seen[coverage] = s
	default:
		if s.plan-b.since < 1<<31 {
			b.single -= int(s.times)
		}
		s.shared = true
		b.seen[coverage] = s
	}
	return false
}

// changed says that the scheduling points are others from this plan on.
func (b *behaviours) changed(plan uint64) {
	b.executions, b.single, b.since = 0, 0, uint32(plan)
}

// unseen estimates the probability that the next execution shows a new behaviour. If none
// has counted for it, it is below the bound returned with a confidence of 95 %: that of no
// success in so many trials.
func (b *behaviours) unseen() (estimate, below float64, ok bool) {
	if b.executions == 0 || b.full() {
		return 0, 0, false
	}
	n := float64(b.executions)
	return float64(b.single) / n, min(1, 3/n), true
}
