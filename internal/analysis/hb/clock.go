package hb

import "slices"

// Chain numbers a sequence of threads, each of which begins, according to happens-before, after the
// previous one has ended: all events of one thread happened before those of the next. So their
// times form one sequence, and a clock needs one number for all of them. A pool that has run a
// hundred thousand threads, ten at a time, has about ten chains.
type Chain uint32

// Epoch is a time on a chain: the chain in the high 32 bits, the time in the low. Times start at 1,
// so the zero Epoch is before everything.
type Epoch uint64

// MakeEpoch packs a chain and a time.
func MakeEpoch(c Chain, time uint32) Epoch { return Epoch(c)<<32 | Epoch(time) }

// Chain returns the epoch's chain.
func (e Epoch) Chain() Chain { return Chain(e >> 32) }

// Time returns the epoch's time.
func (e Epoch) Time() uint32 { return uint32(e) }

const (
	narrow = 64 // chains stored in times from the start
	few    = 48 // entries in others before times is extended to cover them
)

// Clock is a vector clock: the latest known time of each chain. The zero Clock knows nothing.
type Clock struct {
	times  []uint32 // of chains 0 to len-1
	others []entry  // of higher chains, ascending; none has time 0
}

type entry struct {
	chain Chain
	time  uint32
}

func (c *Clock) find(chain Chain) (int, bool) {
	return slices.BinarySearchFunc(c.others, chain, func(e entry, chain Chain) int { return int(e.chain) - int(chain) })
}

// Time returns the clock's time of a chain.
func (c *Clock) Time(chain Chain) uint32 {
	if int(chain) < len(c.times) {
		return c.times[chain]
	}
	if len(c.others) > 0 {
		if i, ok := c.find(chain); ok {
			return c.others[i].time
		}
	}
	return 0
}

// Covers reports whether c includes the epoch e.
func (c *Clock) Covers(e Epoch) bool { return e.Time() <= c.Time(e.Chain()) }

// CoversAll reports whether c includes everything in d.
func (c *Clock) CoversAll(d *Clock) bool {
	for i, v := range d.times {
		if v > 0 && v > c.Time(Chain(i)) {
			return false
		}
	}
	for _, e := range d.others {
		if e.time > c.Time(e.chain) {
			return false
		}
	}
	return true
}

// Join adds d to c, and reports whether c changed.
func (c *Clock) Join(d *Clock) bool {
	c.widen(len(d.times))
	own, changed := c.times, false
	for i, v := range d.times {
		if v > own[i] {
			own[i] = v
			changed = true
		}
	}
	for _, e := range d.others {
		if e.time > c.Time(e.chain) {
			c.Put(e.chain, e.time)
			changed = true
		}
	}
	return changed
}

// Put sets c's time of a chain.
func (c *Clock) Put(chain Chain, time uint32) {
	switch i, ok := 0, false; {
	case int(chain) < len(c.times):
	case chain < narrow:
		c.widen(int(chain) + 1)
	default:
		if i, ok = c.find(chain); ok {
			c.others[i].time = time
			return
		}
		if len(c.others) < few {
			c.others = slices.Insert(c.others, i, entry{chain, time})
			return
		}
		c.widen(int(max(chain, c.others[few-1].chain)) + 1)
	}
	c.times[chain] = time
}

// widen makes room for n chains in times.
func (c *Clock) widen(n int) {
	if n <= len(c.times) {
		return
	}
	c.times = append(c.times, make([]uint32, n-len(c.times))...)
	for len(c.others) > 0 && int(c.others[0].chain) < n {
		c.times[c.others[0].chain] = c.others[0].time
		c.others = c.others[1:]
	}
}

// meet reduces c to what d includes, too.
func (c *Clock) meet(d *Clock) {
	for i := range c.times {
		c.times[i] = min(c.times[i], d.Time(Chain(i)))
	}
	for i := range c.others {
		c.others[i].time = min(c.others[i].time, d.Time(c.others[i].chain))
	}
	c.others = slices.DeleteFunc(c.others, func(e entry) bool { return e.time == 0 })
}

func (c *Clock) empty() bool { return len(c.times) == 0 && len(c.others) == 0 }

// forget empties c in place.
func (c *Clock) forget() { c.times, c.others = c.times[:0], c.others[:0] }

// set makes c a copy of d, in place if the space suffices.
func (c *Clock) set(d *Clock) {
	c.times = append(c.times[:0], d.times...)
	c.others = append(c.others[:0], d.others...)
}

// released is the clock that releases have stored at an object for later acquires.
type released struct {
	clock Clock
	// by is nonzero while clock is exactly one thread's clock at a release: a clock that covers
	// by then covers clock, and reacquiring one's own lock needs no pass over the clocks.
	by Epoch
}

// publish adds the clock of a release made at the given epoch.
func (r *released) publish(c *Clock, at Epoch) {
	if r.clock.empty() || r.by != 0 && c.Covers(r.by) || r.by == 0 && c.CoversAll(&r.clock) {
		r.replace(c, at)
		return
	}
	r.clock.Join(c)
	r.by = 0
}

// replace discards earlier releases in favour of this one.
func (r *released) replace(c *Clock, at Epoch) {
	r.clock.set(c)
	r.by = at
}

// forget discards all releases.
func (r *released) forget() {
	r.clock.forget()
	r.by = 0
}

// takenBy joins the released clock into c and reports whether c changed.
func (r *released) takenBy(c *Clock) bool {
	if r.clock.empty() || r.by != 0 && c.Covers(r.by) {
		return false
	}
	return c.Join(&r.clock)
}
