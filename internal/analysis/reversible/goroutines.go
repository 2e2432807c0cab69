package reversible

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// goScan is what has to be known about a Go program before it is compiled.
//
// An operation of Go is an event at its arrival. If the goroutine has to wait, it goes on with a resume, or several. What
// the operation waits for has happened at its completion: the last of these resumes, or the arrival itself.
type goScan struct {
	blocked  []bool                // events that are followed by a resume in their goroutine
	oddLocks map[trace.Object]bool // that are tried, or unlocked by another goroutine than the one that locked them
	chans    map[trace.Object]*channel
	groups   map[trace.Object]*group
	unit     []*unit          // of a call of Add, the first that it adds; of Done, the one that it takes
	counters []trace.ThreadID // goroutines that call runtime.NumGoroutine
}

// channel is a channel of Go. Goroutines that wait for it are served in the order of their arrival, so its n-th receive
// has the value of its n-th send, as long as no select waits for it, too.
type channel struct {
	senders, receivers map[trace.ThreadID]bool
	odd                bool // a select uses it, or it is tried
	sends              []uint64
	nreceives          int
	received           []int32 // events at which receives arrived
	completed          []int32 // events at which sends completed, -1 for none
	closed             uint64
}

// group is a sync.WaitGroup.
//
// If every unit that is taken from its counter can be matched with one that has been added before in every schedule, then the
// counter is zero exactly where all units added so far have been taken. A goroutine that adds before it takes the unit
// that was added for itself cannot come too late for a Wait: as long as that unit is not taken, the counter is not zero. So
// these units are under the other one, and that may be under another in turn, up to a root. By induction,
// a Wait that begins after a root has been added returns only when all units under it have been added and taken, whatever the
// schedule, and only whether roots come before the Wait can depend on the schedule.
type group struct {
	waiters []trace.ThreadID
	matched bool
	done    []done // so far
}

// done is a call of Done, or one that adds a negative number.
type done struct {
	token uint64
	root  int // the event that added the root of the unit
}

// unit is one of a WaitGroup's counter.
type unit struct {
	event  int // that added it
	thread trace.ThreadID
	taken  int   // the event that took it, or -1
	under  *unit // nil for a root
}

func (u *unit) root() *unit {
	for u.under != nil {
		u = u.under
	}
	return u
}

func scannedGo(t *trace.Trace) goScan {
	s := goScan{blocked: make([]bool, len(t.Events)), oddLocks: map[trace.Object]bool{}, chans: map[trace.Object]*channel{}, groups: map[trace.Object]*group{}, unit: make([]*unit, len(t.Events))}
	if t.Header.Target != "go" {
		return s
	}
	last := map[trace.ThreadID]int{}    // decision
	created := map[trace.ThreadID]int{} // the event that created a goroutine
	holds := map[holdKey]int{}
	units := map[trace.Object][]*unit{}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Flags&trace.FlagNoDecision == 0 && !ev.Op.IsAccess() {
			if j, ok := last[ev.Thread]; ok && ev.Op == trace.OpResume {
				s.blocked[j] = true
			}
			last[ev.Thread] = i
		}
		if counts(ev) && !slices.Contains(s.counters, ev.Thread) {
			s.counters = append(s.counters, ev.Thread)
		}
		spec := ops.Of(ev.Op)
		switch spec.Does {
		case ops.Create:
			created[trace.ThreadID(ev.Value)] = i
		case ops.Acquire, ops.AcquireShared:
			if spec.Blocks == ops.Never {
				s.oddLocks[ev.Object] = true
			} else {
				holds[holdKey{ev.Thread, ev.Object}]++
			}
		case ops.Release, ops.ReleaseShared:
			k := holdKey{ev.Thread, ev.Object}
			if holds[k] == 0 {
				s.oddLocks[ev.Object] = true
			} else {
				holds[k]--
			}
		case ops.Communicate, ops.Selected:
			ch := s.channel(ev.Object)
			switch {
			case spec.Does == ops.Selected || ev.Value != 0:
				ch.odd = true
			case ev.Op == trace.OpChanRecv:
				ch.receivers[ev.Thread] = true
			default:
				ch.senders[ev.Thread] = true
			}
		case ops.Wait:
			if spec.Of != ops.WaitGroup {
				continue
			}
			if g := s.group(ev.Object); !slices.Contains(g.waiters, ev.Thread) {
				g.waiters = append(g.waiters, ev.Thread)
			}
		case ops.Count:
			n := int64(ev.Value)
			if n > mostUnits || n < -mostUnits {
				s.group(ev.Object).matched = false
				continue
			}
			for ; n > 0; n-- {
				u := &unit{event: i, thread: ev.Thread, taken: -1}
				units[ev.Object] = append(units[ev.Object], u)
				s.unit[i] = u
			}
			for ; n < 0; n++ {
				u := unitFor(t, units[ev.Object], created, ev.Thread)
				if u == nil || s.unit[i] != nil && s.unit[i].event != u.event {
					s.group(ev.Object).matched = false
					break
				}
				u.taken, s.unit[i] = i, u
			}
		}
	}
	for _, list := range units {
		for _, u := range list {
			from, ok := created[u.thread]
			if !ok {
				continue
			}
			if i := slices.IndexFunc(list, func(over *unit) bool {
				return over.taken > u.event && t.Events[over.taken].Thread == u.thread && over.event < from
			}); i >= 0 {
				u.under = list[i]
			}
		}
	}
	return s
}

// mostUnits bounds what one call adds to the counter of a WaitGroup.
const mostUnits = 1 << 16

// unitFor returns the unit that a goroutine takes: one that the goroutine that started it, or one of those that led to it, had
// added before it started the next of them, or else one of its own; the last of them. It is added before in every schedule.
func unitFor(t *trace.Trace, units []*unit, created map[trace.ThreadID]int, thread trace.ThreadID) *unit {
	last := func(by trace.ThreadID, before int) *unit {
		for _, u := range slices.Backward(units) {
			if u.taken < 0 && u.thread == by && u.event < before {
				return u
			}
		}
		return nil
	}
	for child := thread; ; {
		from, ok := created[child]
		if !ok {
			return last(thread, len(t.Events))
		}
		child = t.Events[from].Thread
		if u := last(child, from); u != nil {
			return u
		}
	}
}

func (s *goScan) channel(at trace.Object) *channel {
	ch := s.chans[at]
	if ch == nil {
		ch = &channel{senders: map[trace.ThreadID]bool{}, receivers: map[trace.ThreadID]bool{}}
		s.chans[at] = ch
	}
	return ch
}

func (s *goScan) group(at trace.Object) *group {
	g := s.groups[at]
	if g == nil {
		g = &group{matched: true}
		s.groups[at] = g
	}
	return g
}

// goroutines is what the compiler knows of goroutines.
type goroutines struct {
	pending map[trace.ThreadID]func()       // adds the effects of completing the operation that the goroutine waits in
	at      map[trace.ThreadID]trace.Object // the channel of the goroutine's latest operation on one
}

func newGoroutines() goroutines {
	return goroutines{map[trace.ThreadID]func(){}, map[trace.ThreadID]trace.Object{}}
}

// goroutine adds the effects of an event of a Go program. What the race detector is told follows from the others.
func (c *compiler) goroutine(spec *ops.Spec) {
	ev := c.ev
	if spec.Of == ops.SyncVar {
		return
	}
	if ev.Op != trace.OpResume {
		delete(c.pending, ev.Thread)
	}
	switch {
	case spec.Does == ops.Create:
		c.counted()
		c.effect(depend.Create, depend.Life, ev.Value, 1)
	case ev.Op == trace.OpGosched:
	case spec.Does == ops.Continue:
		complete := c.pending[ev.Thread]
		if complete == nil {
			c.opaque()
			return
		}
		if !c.blocked[c.i] {
			delete(c.pending, ev.Thread)
			complete()
		}
	case spec.Of == ops.Mutex || spec.Of == ops.RWLock:
		if c.oddLocks[ev.Object] {
			c.opaque()
			return
		}
		c.locking(spec)
	case spec.Does == ops.Communicate:
		if c.channel(ev.Object).odd {
			c.opaque()
			return
		}
		c.communicate()
	case spec.Of == ops.WaitGroup:
		if !c.group(ev.Object).matched {
			c.opaque()
			return
		}
		c.waitGroup()
	default:
		c.opaque()
		return
	}
	c.observe(0, execution)
}

// locking adds the effects of an operation on a lock that is neither tried nor unlocked by another goroutine.
func (c *compiler) locking(spec *ops.Spec) {
	at := c.ev.Object
	switch spec.Does {
	case ops.Acquire, ops.AcquireShared:
		c.announced[at] = spec.Of == ops.RWLock
		c.show(at, false)
		c.completed(func() { c.acquire(at, spec.Does == ops.AcquireShared, 1, false) })
	case ops.Release, ops.ReleaseShared:
		c.release(at, false)
		c.show(at, false)
	default:
		c.opaque()
	}
}

// ofChannel reports whether an access is the one by which Go tells the race detector of the goroutine's latest operation on a
// channel. It is a part of the operation.
func (c *compiler) ofChannel() bool {
	at, ok := c.at[c.ev.Thread]
	return ok && c.ev.Size == 1 && c.ev.Object > at && c.ev.Object < at+channelHead
}

// channelHead is the size of the runtime's description of a channel, before its buffer.
const channelHead = 96

// counts reports whether an event of a Go program is a call of runtime.NumGoroutine: no other atomic load has size 1.
func counts(ev *trace.Event) bool { return ev.Op == trace.OpAtomicLoad && ev.Size == 1 }

// counted adds the dependences between a call of runtime.NumGoroutine and the goroutines that start and end.
func (c *compiler) counted() {
	switch {
	case c.counters == nil:
	case counts(c.ev):
		c.change(0, waiter+aspect(slices.Index(c.counters, c.ev.Thread)))
	case c.ev.Op == trace.OpGo || c.ev.Op == trace.OpThreadEnd:
		for i := range c.counters {
			c.observe(0, waiter+aspect(i))
		}
	}
}

// completed calls complete where the operation of this event completes.
func (c *compiler) completed(complete func()) {
	if c.blocked[c.i] {
		c.pending[c.ev.Thread] = complete
	} else {
		complete()
	}
}

// inTurn adds the dependences of an operation for which the order among several goroutines counts.
func (c *compiler) inTurn(at trace.Object, a aspect, by map[trace.ThreadID]bool) {
	if len(by) > 1 {
		c.change(at, a)
	} else {
		c.observe(at, a)
	}
}

func (c *compiler) communicate() {
	at := c.ev.Object
	c.at[c.ev.Thread] = at
	ch := c.channel(at)
	switch c.ev.Op {
	case trace.OpChanSend:
		c.inTurn(at, sends, ch.senders)
		ch.sends = append(ch.sends, c.post())
		n := len(ch.completed)
		ch.completed = append(ch.completed, -1)
		c.completed(func() { ch.completed[n] = c.i }) // which receive it waited for is not said: the trace does not have the channel's capacity
	case trace.OpChanClose:
		c.change(at, sends)
		ch.closed = c.post()
	case trace.OpChanRecv:
		c.inTurn(at, receives, ch.receivers)
		n := ch.nreceives
		ch.nreceives++
		ch.received = append(ch.received, c.i)
		kind := implied // in another order, it waits for another send
		if len(ch.senders) == 1 && len(ch.receivers) == 1 {
			kind = necessary
		}
		c.completed(func() {
			if n < len(ch.sends) {
				c.effect(depend.Take, kind, ch.sends[n], 1)
			} else if ch.closed != 0 {
				c.effect(depend.Take, kind, ch.closed, 1)
			}
		})
	}
}

func (c *compiler) waitGroup() {
	at := c.ev.Object
	g := c.group(at)
	switch u := c.unit[c.i]; {
	case c.ev.Op == trace.OpWgWait:
		begun := int(c.i)
		c.change(at, waiter+aspect(slices.Index(g.waiters, c.ev.Thread)))
		c.completed(func() {
			for _, d := range g.done {
				if d.root < begun {
					c.effect(depend.Take, implied, d.token, 1) // as long as its root comes before
				}
			}
		})
	case u == nil: // adds nothing
	case u.taken == int(c.i):
		g.done = append(g.done, done{c.post(), u.root().event})
	case u.under == nil:
		for i := range g.waiters {
			c.observe(at, waiter+aspect(i))
		}
	}
}
