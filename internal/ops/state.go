package ops

import (
	"math/bits"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Object is a lock, condition, futex, semaphore, barrier, once or channel of descriptors, or
// several of these that have had its address.
type Object struct {
	// Num numbers a State's objects from 0 in order of their first event, so that analyses can
	// keep what they know of one in a slice.
	Num  int32
	Name trace.Object

	holds  []Hold // one, or those of the readers
	one    [1]Hold
	shared bool // the holds are readers'

	counted bool // count is known
	closed  bool // nothing more will come
	left    bool // somebody has left the barrier's present generation

	announced  int32 // writers that readers wait for
	generation int32 // of the barrier, from 1

	queue   []trace.ThreadID // waiters, in order of arrival
	arrived []trace.ThreadID // at the barrier, in its present generation
	count   int64            // of a semaphore; of a channel what nobody has taken: bytes, counts, connections
	total   uint64           // threads that a generation takes, 0 if that is not known
	signals uint64           // pending: bit n-1 for signal n
}

// Hold is one thread's hold of a lock.
type Hold struct {
	Thread trace.ThreadID
	Depth  int32 // how often the thread acquired the lock and did not release it
	Event  int   // with which the hold began
}

// holdOf is thread t's hold, nil if it has none.
func (o *Object) holdOf(t trace.ThreadID) *Hold {
	for i := range o.holds {
		if o.holds[i].Thread == t {
			return &o.holds[i]
		}
	}
	return nil
}

// thread is what is known of a thread.
type thread struct {
	at        *Object // the condition or futex that it waits at, or waited at last
	queued    bool    // it still stands in the queue
	granted   bool    // what it waits for has come
	woken     bool    // it came from another thread
	announced bool    // it asked for a lock before its readers
	depth     int32   // of the mutex that its wait released
	arrived   int32   // generation of the barrier at which it arrived
	signals   uint64  // pending for it alone
	// interrupted: a handler has run in its call, which will fail.
	interrupted bool
	absent      bool // not created yet
	ended       bool
	cancelled   bool // it was asked to end, or does
	away        bool // a coroutine that switched to another one
}

// ChangeKind is what changed.
type ChangeKind uint8

const (
	// Acquired and AcquiredShared: the thread holds the object, N more times. Passed: what the
	// once guards was done before.
	Acquired ChangeKind = iota
	AcquiredShared
	Passed
	// Released and ReleasedShared: the thread released the object N times. Where Depth is not
	// 0 it still holds it.
	Released
	ReleasedShared

	// Waits: the thread entered the object's queue. Woke: Thread was taken from it. MayWake:
	// Thread may have been. Resumed: the thread goes on; N is 1 if another thread woke it, and
	// the wait succeeded. Left: the thread left the queue unwoken.
	Waits
	Woke
	MayWake
	Resumed
	Left

	// Upped and Downed: the count went up or down by 1, from N.
	Upped
	Downed

	// Arrived: the thread arrived at the barrier. N is 0 if it is not known how many the
	// barrier takes; 1 if there are others to come in the generation, 2 if it was the last.
	// First tells the beginning of a generation. Opened: Thread arrived before and may now
	// leave. Departed: the thread left; N as before.
	Arrived
	Opened
	Departed

	// Forgotten: the object begins or ceases to exist.
	Forgotten
)

// Change is one thing that an event changed.
type Change struct {
	Kind   ChangeKind
	First  bool
	Thread trace.ThreadID // the event's, except where the kind says otherwise
	N      int32
	Depth  int32 // of the thread's hold afterwards
	Object *Object
}

// State is the synchronisation of an execution after some of its events. Its zero value is that
// of before the first one.
type State struct {
	all     int       // objects
	slots   []*Object // their table: open addressing with linear probing
	shift   uint      // 64 - log2(len(slots))
	spare   []Object  // for objects to come
	last    *Object   // that was asked for
	threads []thread
	event   int // number of the event that is applied
	changes []Change
	// next is the event that a thread does next, nil for none or if nobody knows.
	next func(trace.ThreadID) *trace.Event
}

// Object returns the object of that name, and makes one at its first use.
func (s *State) Object(name trace.Object) *Object {
	if s.last != nil && s.last.Name == name {
		return s.last
	}
	return s.find(name)
}

func (s *State) find(name trace.Object) *Object {
	if s.all*3 >= len(s.slots)*2 {
		s.grow()
	}
	at := s.slot(name)
	if *at == nil {
		if len(s.spare) == 0 {
			s.spare = make([]Object, max(2, min(s.all, 64)))
		}
		o := &s.spare[0]
		s.spare = s.spare[1:]
		o.Num, o.Name = int32(s.all), name
		o.holds = o.one[:0]
		s.all++
		*at = o
	}
	s.last = *at
	return s.last
}

// slot is where the object of that name is, or would be put; there is room.
func (s *State) slot(name trace.Object) **Object {
	// Fibonacci hashing (Knuth, TAOCP vol. 3, §6.4): neighbours go far apart.
	i := int(uint64(name) * 0x9e3779b97f4a7c15 >> s.shift)
	for s.slots[i] != nil && s.slots[i].Name != name {
		i = (i + 1) & (len(s.slots) - 1)
	}
	return &s.slots[i]
}

func (s *State) grow() {
	old := s.slots
	s.slots = make([]*Object, max(8, 2*len(old)))
	s.shift = 64 - uint(bits.TrailingZeros(uint(len(s.slots))))
	for _, o := range old {
		if o != nil {
			*s.slot(o.Name) = o
		}
	}
}

// known is the object of that name, or nil.
func (s *State) known(name trace.Object) *Object {
	if s.all == 0 {
		return nil
	}
	return *s.slot(name)
}

func (s *State) thread(t trace.ThreadID) *thread {
	if int(t) >= len(s.threads) {
		s.threads = slices.Grow(s.threads, int(t)+1-len(s.threads))[:t+1]
	}
	return &s.threads[t]
}

// HoldOf is how thread t holds the lock o.
func (s *State) HoldOf(t trace.ThreadID, o trace.Object) (Hold, bool) {
	if l := s.known(o); l != nil {
		if h := l.holdOf(t); h != nil {
			return *h, true
		}
	}
	return Hold{}, false
}

// Holders are the holds of o by threads other than t, in order.
func (s *State) Holders(o trace.Object, t trace.ThreadID) (out []Hold) {
	if l := s.known(o); l != nil {
		for _, h := range l.holds {
			if h.Thread != t {
				out = append(out, h)
			}
		}
	}
	return out
}

// Waiting is the condition or futex in whose queue thread t stands.
func (s *State) Waiting(t trace.ThreadID) (trace.Object, bool) {
	if int(t) < len(s.threads) && s.threads[t].queued {
		return s.threads[t].at.Name, true
	}
	return 0, false
}

// Apply does the next event, and returns what it changed. The changes are in the order that a
// thread would notice them in: a condition wait waits and then releases its mutex. They are
// valid until the next call.
func (s *State) Apply(ev *trace.Event) []Change {
	s.changes = s.changes[:0]
	spec := Of(ev.Op)
	if ev.Op < trace.OpGo || spec.Of == Thread {
		if do := steps[spec.Does]; do != nil {
			do(s, spec, ev)
		}
		if (ev.Result == interrupted || ev.Result == Cancelled) && spec.Does != Take {
			s.thread(ev.Thread).interrupted = false
		}
	}
	s.event++
	return s.changes
}

// ApplyGo is Apply for an execution of a Go program. Blocked says that the goroutine goes on
// with an OpResume, or never, so that an operation that acquires has not done so yet.
func (s *State) ApplyGo(ev *trace.Event, blocked bool) []Change {
	spec := Of(ev.Op)
	switch {
	case spec.Does == Continue:
		spec = Of(trace.Op(ev.Value))
	case ev.Op < trace.OpGo, spec.Of == Thread:
		return s.Apply(ev)
	}
	s.changes = s.changes[:0]
	if do := goSteps[spec.Does]; do != nil {
		do(s, spec, ev, blocked)
	}
	s.event++
	return s.changes
}

func (s *State) changed(kind ChangeKind, t trace.ThreadID, o *Object, n int32) *Change {
	i := len(s.changes)
	if i == cap(s.changes) {
		s.changes = slices.Grow(s.changes, 4)
	}
	s.changes = s.changes[:i+1]
	c := &s.changes[i]
	*c = Change{Kind: kind, Thread: t, Object: o, N: n}
	return c
}

// steps are what actions do to a state, and goSteps those of goroutines; the others do nothing.
var (
	steps = [actions]func(*State, *Spec, *trace.Event){
		Create:        (*State).create,
		End:           (*State).end,
		Exit:          (*State).exit,
		Cancel:        (*State).cancel,
		Init:          (*State).init,
		Destroy:       (*State).destroy,
		Acquire:       (*State).acquire,
		AcquireShared: (*State).acquireShared,
		Begin:         (*State).begin,
		Announce:      (*State).announce,
		Release:       (*State).release,
		Abandon:       (*State).abandon,
		Wait:          (*State).wait,
		Resume:        (*State).resume,
		Leave:         (*State).leave,
		WakeOne:       (*State).wakeOne,
		WakeSome:      (*State).wakeSome,
		WakeAll:       (*State).wakeAll,
		Up:            (*State).up,
		Down:          (*State).down,
		Inspect:       (*State).inspect,
		Arrive:        (*State).arrive,
		Depart:        (*State).depart,
		Send:          (*State).send,
		Take:          (*State).take,
		Expire:        (*State).send,
		Open:          (*State).transmit,
		Transmit:      (*State).transmit,
		Receive:       (*State).receive,
		Close:         (*State).close,
		Connect:       (*State).connect,
		Accept:        (*State).accept,
		Switch:        (*State).switches,
	}
	goSteps = [actions]func(*State, *Spec, *trace.Event, bool){
		Acquire:       (*State).goAcquire,
		AcquireShared: (*State).goAcquireShared,
		Release:       (*State).goRelease,
		ReleaseShared: (*State).goRelease,
	}
)

// ---- threads

func (s *State) create(spec *Spec, ev *trace.Event) {
	if id, ok := ev.Child(); ok && int(id) < len(s.threads) {
		s.threads[id].absent = false
	}
}

func (s *State) end(spec *Spec, ev *trace.Event) { s.thread(ev.Thread).ended = true }

func (s *State) exit(spec *Spec, ev *trace.Event) { s.thread(ev.Thread).cancelled = true }

func (s *State) cancel(spec *Spec, ev *trace.Event) {
	if ev.Value < uint64(len(s.threads)) {
		s.threads[ev.Value].cancelled = true
	}
}

func (s *State) switches(spec *Spec, ev *trace.Event) {
	s.thread(ev.Thread).away = true
	if ev.Value < uint64(len(s.threads)) {
		s.threads[ev.Value].away = false
	}
}

// ---- objects

func (s *State) init(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	o := s.Object(ev.Object)
	o.forget()
	switch spec.Of {
	case Semaphore:
		o.counted, o.count = true, int64(ev.Value)
	case Barrier:
		o.total = ev.Value
	}
	s.changed(Forgotten, ev.Thread, o, 0)
}

func (s *State) destroy(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	// The object's place in analyses' slices is used again with its address.
	o := s.Object(ev.Object)
	o.forget()
	s.changed(Forgotten, ev.Thread, o, 0)
}

func (o *Object) forget() {
	*o = Object{Num: o.Num, Name: o.Name, holds: o.holds[:0], queue: o.queue[:0], arrived: o.arrived[:0], generation: o.generation + 1, signals: o.signals}
}

// ---- locks

// announced ends the wait of a writer that readers had to wait for.
func (s *State) announced(t trace.ThreadID, o *Object) {
	if th := s.thread(t); th.announced {
		o.announced--
		th.announced = false
	}
}

func (s *State) announce(spec *Spec, ev *trace.Event) {
	s.Object(ev.Object).announced++
	s.thread(ev.Thread).announced = true
}

func (s *State) acquire(spec *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	if spec.Of == RWLock {
		s.announced(ev.Thread, o)
	}
	if spec.Done(ev) {
		s.own(ev.Thread, o, 1)
	}
}

// own gives the lock to a thread, which has it alone.
func (s *State) own(t trace.ThreadID, o *Object, times int32) {
	depth := times
	if h := o.holdOf(t); h != nil && (!o.shared || len(o.holds) == 1) {
		h.Depth += times
		depth = h.Depth
	} else {
		o.holds = append(o.holds[:0], Hold{t, times, s.event})
	}
	o.shared = false
	s.changed(Acquired, t, o, times).Depth = depth
}

func (s *State) acquireShared(spec *Spec, ev *trace.Event) {
	if spec.Done(ev) {
		s.share(ev.Thread, s.Object(ev.Object))
	}
}

// share gives the lock to a thread, which others may have, too.
func (s *State) share(t trace.ThreadID, o *Object) {
	depth := int32(1)
	if h := o.holdOf(t); h != nil {
		h.Depth++
		depth = h.Depth
	} else {
		if !o.shared {
			o.holds = o.holds[:0]
		}
		o.holds = append(o.holds, Hold{t, 1, s.event})
		o.shared = true
	}
	s.changed(AcquiredShared, t, o, 1).Depth = depth
}

func (s *State) begin(spec *Spec, ev *trace.Event) {
	switch o := s.Object(ev.Object); {
	case ev.Result != 0:
	case ev.Value == 1:
		s.own(ev.Thread, o, 1)
	default:
		s.changed(Passed, ev.Thread, o, 0)
	}
}

func (s *State) release(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	o, kind := s.Object(ev.Object), Released
	if spec.Of == RWLock && (o.shared || o.holdOf(ev.Thread) == nil) {
		kind = ReleasedShared
	}
	if kind == ReleasedShared && !o.shared {
		s.changed(kind, ev.Thread, o, 1) // who holds it alone still does
		return
	}
	depth := o.drop(ev.Thread, 1)
	s.changed(kind, ev.Thread, o, 1).Depth = depth
}

func (s *State) abandon(spec *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	n := o.depth(ev.Thread)
	o.holds = o.holds[:0]
	s.changed(Released, ev.Thread, o, n)
}

// depth is how deep the lock is held by thread t, or if that does not hold it by whoever does;
// 1 if nobody is known to.
func (o *Object) depth(t trace.ThreadID) int32 {
	if h := o.holdOf(t); h != nil {
		return h.Depth
	}
	if len(o.holds) > 0 && !o.shared {
		return o.holds[0].Depth
	}
	return 1
}

// drop releases a hold: that of thread t, or if it has none the first. It returns the depth
// that is left of it.
func (o *Object) drop(t trace.ThreadID, times int32) int32 {
	if len(o.holds) == 0 {
		return 0
	}
	h := o.holdOf(t)
	if h == nil {
		h = &o.holds[0]
	}
	if h.Depth -= times; h.Depth > 0 {
		return h.Depth
	}
	if len(o.holds) == 1 {
		o.holds = o.holds[:0]
	} else {
		o.holds = slices.DeleteFunc(o.holds, func(h Hold) bool { return h.Depth <= 0 })
	}
	return 0
}

// goAcquire is of a lock that blocks. Whether a try-lock has it is not in the trace.
func (s *State) goAcquire(spec *Spec, ev *trace.Event, blocked bool) {
	if !blocked && spec.Blocks != Never {
		s.own(ev.Thread, s.Object(ev.Object), 1)
	}
}

func (s *State) goAcquireShared(spec *Spec, ev *trace.Event, blocked bool) {
	if !blocked && spec.Blocks != Never {
		s.share(ev.Thread, s.Object(ev.Object))
	}
}

func (s *State) goRelease(_ *Spec, ev *trace.Event, _ bool) {
	o := s.Object(ev.Object)
	depth := o.drop(ev.Thread, 1)
	s.changed(Released, ev.Thread, o, 1).Depth = depth
}

// ---- queues

func (s *State) wait(spec *Spec, ev *trace.Event) {
	if ev.Result != 0 {
		return
	}
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	th.unqueue(ev.Thread)
	th.at, th.queued, th.granted, th.woken = o, true, false, false
	o.queue = append(o.queue, ev.Thread)
	s.changed(Waits, ev.Thread, o, 0)
	if spec.Of == Condition {
		m := s.Object(trace.Object(ev.Aux))
		th.depth = m.depth(ev.Thread)
		depth := m.drop(ev.Thread, th.depth)
		s.changed(Released, ev.Thread, m, th.depth).Depth = depth
	}
}

// unqueue takes the thread out of the queue that it stands in.
func (th *thread) unqueue(t trace.ThreadID) {
	if th.queued {
		th.queued = false
		th.at.queue = slices.DeleteFunc(th.at.queue, func(u trace.ThreadID) bool { return u == t })
	}
}

func (s *State) resume(spec *Spec, ev *trace.Event) {
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	th.unqueue(ev.Thread)
	woken := int32(0)
	if th.woken && (ev.Result == 0 || (ev.Result == OwnerDead || ev.Result == NotRecoverable) && ev.Flags&trace.FlagTimeout == 0) {
		woken = 1
	}
	th.woken = false
	s.changed(Resumed, ev.Thread, o, woken)
	if spec.Of == Condition && spec.Done(ev) {
		s.own(ev.Thread, s.Object(trace.Object(ev.Aux)), max(1, th.depth))
	}
	th.depth = 0
}

func (s *State) leave(spec *Spec, ev *trace.Event) {
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	th.unqueue(ev.Thread)
	th.granted = true
	s.changed(Left, ev.Thread, o, 0)
}

// wake ends the wait of a thread that waits at o, or may.
func (s *State) wake(u trace.ThreadID, o *Object) {
	th := s.thread(u)
	th.unqueue(u)
	th.granted, th.woken = true, true
	s.changed(Woke, u, o, 0)
}

func (s *State) wakeOne(spec *Spec, ev *trace.Event) {
	if ev.Value > 0 && ev.Value <= trace.MaxThreads {
		s.wake(trace.ThreadID(ev.Value)-1, s.Object(ev.Object))
	}
}

func (s *State) wakeAll(spec *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	for len(o.queue) > 0 {
		s.wake(o.queue[0], o)
	}
}

func (s *State) wakeSome(spec *Spec, ev *trace.Event) {
	o := s.Object(ev.Object)
	switch named := ev.Aux - 1; {
	case ev.Value == 0:
	case ev.Value == 1 && named < trace.MaxThreads:
		s.wake(trace.ThreadID(named), o)
	case ev.Value >= uint64(len(o.queue)):
		s.wakeAll(spec, ev)
	case s.next != nil:
		n := ev.Value
		for _, u := range slices.Clone(o.queue) {
			// Not one whose wait timed out or was spurious.
			if next := s.next(u); n > 0 && (next == nil || next.Result == 0 && Does(next.Op) != Leave) {
				s.wake(u, o)
				n--
			}
		}
	default:
		for _, u := range o.queue {
			th := s.thread(u)
			th.granted, th.woken = true, true
			s.changed(MayWake, u, o, 0)
		}
	}
}

// ---- semaphores

// assume takes the count that an event implies for before it, if none is known.
func (o *Object) assume(ev *trace.Event, a Action) {
	if o.counted || ev.Result != 0 {
		return
	}
	o.counted = true
	switch a {
	case Up:
		o.count = max(int64(ev.Value), 1) - 1
	case Down:
		o.count = int64(ev.Value) + 1
	default:
		o.count = int64(ev.Value)
	}
}

func (s *State) up(spec *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		o := s.Object(ev.Object)
		o.assume(ev, Up)
		s.changed(Upped, ev.Thread, o, int32(o.count))
		o.count++
	}
}

func (s *State) down(spec *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		o := s.Object(ev.Object)
		o.assume(ev, Down)
		s.changed(Downed, ev.Thread, o, int32(o.count))
		o.count--
	}
}

func (s *State) inspect(_ *Spec, ev *trace.Event) { s.Object(ev.Object).assume(ev, Inspect) }

// ---- barriers

func (s *State) arrive(spec *Spec, ev *trace.Event) {
	o, th := s.Object(ev.Object), s.thread(ev.Thread)
	first := len(o.arrived) == 0 || ev.Value == 1 || o.left
	if first {
		o.arrived, o.left = o.arrived[:0], false
		o.generation++
	}
	n := int32(1)
	th.granted, th.arrived = false, o.generation
	switch {
	case o.total == 0:
		n, th.granted = 0, true
	case uint64(len(o.arrived))+1 >= o.total:
		n, th.granted = 2, true
	}
	s.changed(Arrived, ev.Thread, o, n).First = first
	if n < 2 {
		o.arrived = append(o.arrived, ev.Thread)
		return
	}
	for _, u := range o.arrived {
		s.thread(u).granted = true
		s.changed(Opened, u, o, 0)
	}
	o.arrived = o.arrived[:0]
}

func (s *State) depart(spec *Spec, ev *trace.Event) {
	o, known := s.Object(ev.Object), int32(1)
	if o.total == 0 {
		// Nothing but this says where a generation ends.
		o.left, known = o.left || s.thread(ev.Thread).arrived == o.generation, 0
	}
	s.changed(Departed, ev.Thread, o, known)
}

// ---- signals

// bit is that of a signal in a set, 0 for a number that is none's.
func bit(number uint64) uint64 { return 1 << (number - 1) }

func (s *State) send(spec *Spec, ev *trace.Event) {
	if to := ev.Aux - 1; ev.Result == 0 && to < uint64(len(s.threads)) {
		s.threads[to].signals |= bit(ev.Value)
	} else if ev.Result == 0 {
		s.Object(ev.Object).signals |= bit(ev.Value)
	}
}

func (s *State) take(spec *Spec, ev *trace.Event) {
	th := s.thread(ev.Thread)
	if ev.Op == trace.OpSignalInterrupt {
		th.interrupted = true
	}
	if ev.Flags&trace.FlagNoChoice != 0 || !spec.Done(ev) {
		return // a fault was sent by nobody
	}
	o, b := s.Object(ev.Object), bit(ev.Value)
	switch {
	case th.signals&b != 0:
		th.signals &^= b
	case o.signals&b != 0:
		o.signals &^= b
	default:
		s.Object(0).signals &^= b
	}
}

// ---- descriptors

func (s *State) transmit(spec *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		s.Object(ev.Object).count += int64(ev.Value)
	}
}

func (s *State) receive(spec *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		s.Object(ev.Object).count -= int64(ev.Value)
	}
}

// connect is of a connection that is under way, too.
func (s *State) connect(spec *Spec, ev *trace.Event) { s.Object(ev.Object).count++ }

func (s *State) accept(spec *Spec, ev *trace.Event) {
	if ev.Result == 0 {
		s.Object(ev.Object).count--
	}
}

func (s *State) close(spec *Spec, ev *trace.Event) { s.Object(ev.Object).closed = true }
