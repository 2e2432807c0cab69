package hb

import "github.com/heddle-dev/heddle/trace"

// Epoch names a thread at a time of its own: the thread in the high 32 bits, the time in
// the low. Times start at 1, so the zero Epoch is before everything.
type Epoch uint64

// MakeEpoch packs a thread and a time.
func MakeEpoch(t trace.ThreadID, time uint32) Epoch { return Epoch(t)<<32 | Epoch(time) }

// Thread is the thread whose time it is.
func (e Epoch) Thread() trace.ThreadID { return trace.ThreadID(e >> 32) }

// Time is the thread's time.
func (e Epoch) Time() uint32 { return uint32(e) }

// Clock is a vector clock: what is known of each thread's time, indexed by thread.
// Threads past its end are at time 0.
type Clock []uint32

// Time is what the clock knows of thread t.
func (c Clock) Time(t trace.ThreadID) uint32 {
	if int(t) < len(c) {
		return c[t]
	}
	return 0
}

// Covers reports whether what happened at e is known to c.
func (c Clock) Covers(e Epoch) bool { return e.Time() <= c.Time(e.Thread()) }

// CoversAll reports whether c knows all that d knows.
func (c Clock) CoversAll(d Clock) bool {
	for i, v := range d {
		if v > 0 && (i >= len(c) || v > c[i]) {
			return false
		}
	}
	return true
}

// Join adds to c what d knows, and reports whether that was anything new.
func (c *Clock) Join(d Clock) bool {
	c.grow(len(d))
	own, changed := *c, false
	for i, v := range d {
		if v > own[i] {
			own[i] = v
			changed = true
		}
	}
	return changed
}

// set makes c a copy of d, in place where there is room.
func (c *Clock) set(d Clock) { *c = append((*c)[:0], d...) }

func (c *Clock) grow(n int) {
	for len(*c) < n {
		*c = append(*c, 0)
	}
}

// released is the clock that releases have left at an object for later acquires.
type released struct {
	clock Clock
	// by is not zero while clock is exactly one thread's clock at a release: then whoever
	// covers by covers clock, and taking an own lock again costs no pass over the clocks.
	by Epoch
}

// publish adds the clock of a release made at the given epoch.
func (r *released) publish(c Clock, at Epoch) {
	if len(r.clock) == 0 || r.by != 0 && c.Covers(r.by) || r.by == 0 && c.CoversAll(r.clock) {
		r.replace(c, at)
		return
	}
	r.clock.Join(c)
	r.by = 0
}

// replace forgets earlier releases in favour of this one.
func (r *released) replace(c Clock, at Epoch) {
	r.clock.set(c)
	r.by = at
}

// forget makes it as if nothing had been released here.
func (r *released) forget() { *r = released{clock: r.clock[:0]} }

// takenBy joins what was released into c and reports whether that was anything new.
func (r *released) takenBy(c *Clock) bool {
	if len(r.clock) == 0 || r.by != 0 && c.Covers(r.by) {
		return false
	}
	return c.Join(r.clock)
}
