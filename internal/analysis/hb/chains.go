package hb

// chains assigns chains to threads. A thread may take over the chain of an ended thread if it knows
// everything that thread did: a clock that includes its time then rightly includes that of the
// other. A thread takes a chain as late as possible, when it has acquired most: a pool's task that
// starts by taking a lock continues the chain of the task that held the lock before.
type chains struct {
	n    uint32
	free []Epoch // last epochs of the chains of ended threads
	next int     // index into free of the next to examine
}

// looks is the number of chains examined to find one to reuse.
const looks = 64

// take returns a chain for a thread whose clock is c, and gives the thread its first time on it.
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

// give returns the chain of a thread that has ended at that time.
func (s *chains) give(chain Chain, time uint32) {
	s.free = append(s.free, MakeEpoch(chain, time))
	s.next = len(s.free) - 1 // the latest to end are the likeliest to be known
}
