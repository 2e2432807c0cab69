package hb

// chains gives threads their chains. A thread may continue with that of one that has ended if it
// knows all that the other has done; then whoever knows its time knows, truly, that of the
// other. It asks for one as late as it can, when it has acquired what it will: a pool's task
// that takes a lock first of all continues with the chain of the task that had it before.
type chains struct {
	n    uint32
	free []Epoch // of chains whose thread has ended, its last
	next int     // of free, to be looked at
}

// looks is how many chains are looked at for one that can be used again.
const looks = 64

// take gives a chain to a thread whose clock is c, which from then on has a time of its own.
func (s *chains) take(c *Clock) Chain {
	for range min(looks, len(s.free)) {
		if s.next >= len(s.free) {
			s.next = 0
		}
		if e := s.free[s.next]; c.Covers(e) {
			last := len(s.free) - 1
			s.free[s.next] = s.free[last]
			s.free = s.free[:last]
			c.Put(e.Chain(), e.Time()+1)
			return e.Chain()
		}
		s.next++
	}
	chain := Chain(s.n)
	s.n++
	c.Put(chain, 1)
	return chain
}

// give takes back the chain of a thread that has ended at that time.
func (s *chains) give(chain Chain, time uint32) {
	s.free = append(s.free, MakeEpoch(chain, time))
	s.next = len(s.free) - 1 // those that ended last are the likeliest to be known
}
