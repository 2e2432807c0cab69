//go:build heddle

// Happens-before, while an execution is watched for data races: a vector clock for each thread and
// for each address that orders threads. The rules and names are those of the controller's
// internal/analysis/hb, which is the reference. Only accesses advance time; a thread gets a chain
// at its first access; and a thread may take over the chain of an ended thread if it knows
// everything that thread did.
package runtime

import "internal/runtime/sys"

// hdTime is a clock's entry for one chain.
type hdTime struct{ chain, time uint32 }

type hdTimes struct {
	_  sys.NotInHeap
	at [1 << 26]hdTime
}

// hdVector is a vector clock: its chains, ascending.
type hdVector struct {
	times  *hdTimes
	n, cap uint32
}

// hdEpoch is a time on a chain: the chain in the high 32 bits, the time in the low. Times start at
// 1, so the zero value is before everything.
type hdEpoch uint64

func hdEpochOf(chain, time uint32) hdEpoch { return hdEpoch(chain)<<32 | hdEpoch(time) }

func (v *hdVector) find(chain uint32) (uint32, bool) {
	lo, hi := uint32(0), v.n
	for lo < hi {
		mid := (lo + hi) / 2
		if v.times.at[mid].chain < chain {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, lo < v.n && v.times.at[lo].chain == chain
}

func (v *hdVector) time(chain uint32) uint32 {
	if i, ok := v.find(chain); ok {
		return v.times.at[i].time
	}
	return 0
}

func (v *hdVector) covers(e hdEpoch) bool { return uint32(e) <= v.time(uint32(e>>32)) }

func (v *hdVector) coversAll(o *hdVector) bool {
	j := uint32(0)
	for i := range o.n {
		e := o.times.at[i]
		for j < v.n && v.times.at[j].chain < e.chain {
			j++
		}
		if j == v.n || v.times.at[j].chain != e.chain || v.times.at[j].time < e.time {
			return false
		}
	}
	return true
}

// room makes room for n chains. If memory runs out, the execution is no longer watched.
func (v *hdVector) room(n uint32) bool {
	if n <= v.cap {
		return true
	}
	class := uint32(2)
	for 1<<class < n {
		class++
	}
	times := hdTimesGet(class)
	if times == nil {
		return false
	}
	for i := range v.n {
		times.at[i] = v.times.at[i]
	}
	hdTimesPut(v)
	v.times, v.cap = times, 1<<class
	return true
}

func (v *hdVector) put(chain, time uint32) {
	i, ok := v.find(chain)
	if !ok {
		if !v.room(v.n + 1) {
			return
		}
		for j := v.n; j > i; j-- {
			v.times.at[j] = v.times.at[j-1]
		}
		v.n++
	}
	v.times.at[i] = hdTime{chain, time}
}

// join adds o's knowledge and reports whether any of it was new.
func (v *hdVector) join(o *hdVector) (changed bool) {
	more, j := uint32(0), uint32(0)
	for i := range o.n {
		e := o.times.at[i]
		for j < v.n && v.times.at[j].chain < e.chain {
			j++
		}
		switch {
		case j == v.n || v.times.at[j].chain != e.chain:
			more++
		case v.times.at[j].time < e.time:
			v.times.at[j].time = e.time
			changed = true
		}
	}
	if more == 0 {
		return changed
	}
	if !v.room(v.n + more) {
		return true
	}
	// Both are ascending: merge from the back.
	to := v.n + more
	i, k := v.n, o.n
	v.n = to
	for k > 0 {
		e := o.times.at[k-1]
		switch {
		case i > 0 && v.times.at[i-1].chain > e.chain:
			i--
			to--
			v.times.at[to] = v.times.at[i]
		case i > 0 && v.times.at[i-1].chain == e.chain:
			k-- // updated above
		default:
			k--
			to--
			v.times.at[to] = e
		}
	}
	return true
}

func (v *hdVector) set(o *hdVector) {
	if !v.room(o.n) {
		return
	}
	for i := range o.n {
		v.times.at[i] = o.times.at[i]
	}
	v.n = o.n
}

// hdReleased is the clock that releases have stored at an address.
type hdReleased struct {
	clock hdVector
	// by is nonzero while clock is exactly one thread's clock at a release: a clock that covers
	// by covers clock.
	by hdEpoch
}

func (r *hdReleased) publish(c *hdVector, at hdEpoch) {
	if r.clock.n == 0 || r.by != 0 && c.covers(r.by) || r.by == 0 && c.coversAll(&r.clock) {
		r.replace(c, at)
		return
	}
	r.clock.join(c)
	r.by = 0
}

func (r *hdReleased) replace(c *hdVector, at hdEpoch) {
	r.clock.set(c)
	r.by = at
}

func (r *hdReleased) takenBy(c *hdVector) bool {
	if r.clock.n == 0 || r.by != 0 && c.covers(r.by) {
		return false
	}
	return c.join(&r.clock)
}

// hdOrder is the happens-before state of one thread.
type hdOrder struct {
	clock hdVector
	chain uint32
	named bool // it has a chain
	ended bool
	tick  bool // its last event released: its next access begins a new time
	mixed bool // it learnt more after a release, within the same time
	epoch hdEpoch
}

func (t *hdThread) learn(c *hdVector) {
	if t.order.clock.join(c) {
		t.order.mixed = t.order.mixed || t.order.tick
	}
}

func (t *hdThread) takes(r *hdReleased) {
	if r.takenBy(&t.order.clock) {
		t.order.mixed = t.order.mixed || t.order.tick
	}
}

// accesses is called before an access of t, and gives it an epoch.
func (t *hdThread) accesses() {
	o := &t.order
	switch {
	case !o.named:
		o.named = true
		o.chain = hdChainTake(&o.clock)
	case o.tick:
		o.tick, o.mixed = false, false
		o.clock.put(o.chain, o.clock.time(o.chain)+1)
	default:
		return
	}
	o.epoch = hdEpochOf(o.chain, o.clock.time(o.chain))
}

// publishing returns the epoch of t's clock, which other threads are about to receive. It returns 0
// if t has made no access, or if the epoch does not represent the whole clock.
func (t *hdThread) publishing() hdEpoch {
	o := &t.order
	if !o.named {
		return 0
	}
	o.tick = true
	if o.mixed {
		return 0
	}
	return o.epoch
}

// hdOrderChild is called when t has created child.
func hdOrderChild(t, child *hdThread) {
	if hd.watching {
		t.publishing()
		child.learn(&t.order.clock)
	}
}

// hdOrderEnd is called when t has ended; goroutines are never joined.
func hdOrderEnd(t *hdThread) {
	o := &t.order
	if !hd.watching || o.ended {
		return
	}
	o.ended = true
	if o.named {
		hdChainGive(o.chain, o.clock.time(o.chain))
	}
}

// hdOrderSync handles an acquire or a release by t at addr.
func hdOrderSync(t *hdThread, op uint16, addr uintptr) {
	r := hdReleasedAt(addr)
	if r == nil {
		return
	}
	switch op {
	case hdOpAcquire:
		t.takes(r)
	case hdOpRelease:
		r.replace(&t.order.clock, t.publishing())
	case hdOpReleaseMerge:
		r.publish(&t.order.clock, t.publishing())
	case hdOpReleaseAcquire:
		t.takes(r)
		r.publish(&t.order.clock, t.publishing())
	}
}

// hdOrderAtomic handles the ordering of an atomic operation. Go's are sequentially consistent.
func hdOrderAtomic(t *hdThread, op uint16, writes bool, addr uintptr) {
	r := hdReleasedAt(addr)
	if r == nil {
		return
	}
	if op != hdOpAtomicStore {
		t.takes(r)
	}
	switch {
	case op == hdOpAtomicStore:
		r.replace(&t.order.clock, t.publishing())
	case writes:
		r.publish(&t.order.clock, t.publishing())
	}
}

// ---- chains

const (
	hdChainLooks = 64      // chains examined to find one to reuse
	hdChainsFree = 1 << 16 // beyond this many, chains of ended threads are not reused
)

// hdChainTake returns a chain for the thread whose clock is c.
func hdChainTake(c *hdVector) uint32 {
	s := hdShade
	for range min(hdChainLooks, s.nfree) {
		if s.nextFree >= s.nfree {
			s.nextFree = 0
		}
		if e := s.free[s.nextFree]; c.covers(e) {
			s.nfree--
			s.free[s.nextFree] = s.free[s.nfree]
			c.put(uint32(e>>32), uint32(e)+1)
			return uint32(e >> 32)
		}
		s.nextFree++
	}
	chain := s.chains
	s.chains++
	c.put(chain, 1)
	return chain
}

func hdChainGive(chain, time uint32) {
	s := hdShade
	if s.nfree < hdChainsFree {
		s.free[s.nfree] = hdEpochOf(chain, time)
		s.nfree++
		s.nextFree = s.nfree - 1 // the latest to end are the likeliest to be known
	}
}
