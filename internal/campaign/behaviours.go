package campaign

// MaxBehaviours is how many distinct behaviours a campaign tells apart; later ones are
// not counted, so that a long one does not fill the memory.
const MaxBehaviours = 1 << 22

// behaviours is a set of coverage hashes.
type behaviours map[uint64]struct{}

// add reports whether the behaviour is new.
func (b behaviours) add(coverage uint64) bool {
	if _, ok := b[coverage]; ok || len(b) >= MaxBehaviours {
		return false
	}
	b[coverage] = struct{}{}
	return true
}
