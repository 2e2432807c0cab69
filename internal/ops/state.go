package ops

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/heddle-dev/heddle/trace"
)

// Object is a lock, condition, futex, semaphore, barrier, once or channel of descriptors, or
// several of these that have had the same address.
type Object struct {
	// Num numbers a State's objects from 0 in order of their first event, so that analyses can
	// store data about an object in a slice.
	Num  int32
	Name trace.Object

	holds  []Hold // one, or those of all readers
	one    [1]Hold
	shared bool // the holds are readers'

	counted bool // count is known
	closed  bool // no more data will arrive
	left    bool // a thread has left the barrier's current generation

	announced  int32 // writers that block readers
	generation int32 // of the barrier, from 1

	queue   []trace.ThreadID // waiters, in order of arrival
	arrived []trace.ThreadID // at the barrier, in its current generation
	count   int64            // of a semaphore; of a channel what no thread has consumed: bytes, counts, connections
	total   uint64           // threads in a generation, 0 if unknown
	signals uint64           // pending: bit n-1 for signal n
}

// Hold is one thread's hold of a lock.
type Hold struct {
	Thread trace.ThreadID
	Depth  int32 // acquisitions that have not been released
	Event  int   // event at which the hold began
}

// holdOf returns thread t's hold, nil if it has none.
func (o *Object) holdOf(t trace.ThreadID) *Hold {
	for i := range o.holds {
		if o.holds[i].Thread == t {
			return &o.holds[i]
		}
	}
	return nil
}

// thread is the state of a thread.
type thread struct {
	at        *Object // the condition or futex of its current or last wait
	queued    bool    // it is still in the queue
	granted   bool    // its wait has been satisfied
	woken     bool    // by another thread
	announced *Object // the lock it waits to write, which blocks readers
	depth     int32   // of the mutex released by its wait
	arrived   int32   // generation of the barrier at which it arrived
	signals   uint64  // pending for this thread only
	// interrupted: a handler ran during its call, which will fail.
	interrupted bool
	absent      bool // not created yet
	ended       bool
	cancelled   bool // a cancellation was requested or is in progress
	away        bool // a coroutine that has switched to another
}

// ChangeKind is what changed.
type ChangeKind uint8

const (
	// Acquired and AcquiredShared: the thread acquired the object N times. Passed: the once had
	// run before.
	Acquired ChangeKind = iota
	AcquiredShared
	Passed
	// Released and ReleasedShared: the thread released the object N times. It still holds the
	// object if Depth is not 0.
	Released
	ReleasedShared

	// Waits: the thread entered the object's queue. Woke: Thread was removed from it. MayWake:
	// Thread may have been removed. Resumed: the thread continues; N is 1 if another thread
	// woke it, and the wait succeeded. Left: the thread left the queue unwoken.
	Waits
	Woke
	MayWake
	Resumed
	Left

	// Upped and Downed: the count went up or down by 1, from N.
	Upped
	Downed

	// Arrived: the thread arrived at the barrier. N is 0 if the size of a generation is
	// unknown, 1 if more threads are to arrive in the generation, 2 if the thread was the last.
	// First marks the beginning of a generation. Opened: Thread arrived before and may now
	// leave. Departed: the thread left; N as before.
	Arrived
	Opened
	Departed

	// Forgotten: the object was created or destroyed.
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

// State is the synchronisation of an execution after some of its events. The zero value is the
// state before the first event.
type State struct {
	all     int       // objects
	slots   []*Object // their table: open addressing with linear probing
	shift   uint      // 64 - log2(len(slots))
	spare   []Object  // preallocated
	last    *Object   // the result of the last lookup
	threads []thread
	event   int // number of the event being applied
	changes []Change
	// next returns a thread's next event, nil if it has none or it is unknown.
	next func(trace.ThreadID) *trace.Event
}

// Object returns the object with that name, creating it at its first use.
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

// slot returns the slot of an object, occupied or free. The table is never full.
func (s *State) slot(name trace.Object) **Object {
	// Fibonacci hashing (Knuth, TAOCP vol. 3, §6.4) spreads neighbouring keys.
	i := int(uint64(name) * 0x9e3779b97f4a7c15 >> (s.shift & 63))
	for s.slots[i] != nil && s.slots[i].Name != name {
		i = (i + 1) & (len(s.slots) - 1)
	}
	return &s.slots[i]
}

func (s *State) grow() {
	old := s.slots
	s.slots = make([]*Object, max(16, 2*len(old)))
	s.shift = 64 - uint(bits.TrailingZeros(uint(len(s.slots))))
	for _, o := range old {
		if o != nil {
			*s.slot(o.Name) = o
		}
	}
}

// known returns the object with that name, or nil.
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

// HoldOf returns thread t's hold of the lock o.
func (s *State) HoldOf(t trace.ThreadID, o trace.Object) (Hold, bool) {
	if l := s.known(o); l != nil {
		if h := l.holdOf(t); h != nil {
			return *h, true
		}
	}
	return Hold{}, false
}

// Held is a lock and a thread's hold of it.
type Held struct {
	Hold
	Object trace.Object
}

// HoldsOf returns the locks that thread t holds, in the order in which its holds began. It looks at all objects.
func (s *State) HoldsOf(t trace.ThreadID) (out []Held) {
	for _, o := range s.slots {
		if o == nil {
			continue
		}
		if h := o.holdOf(t); h != nil {
			out = append(out, Held{*h, o.Name})
		}
	}
	slices.SortFunc(out, func(a, b Held) int {
		return cmp.Or(cmp.Compare(a.Event, b.Event), cmp.Compare(a.Object, b.Object))
	})
	return out
}

// Holders returns the holds of o by threads other than t, in order.
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

// Waiting returns the condition or futex whose queue contains thread t.
func (s *State) Waiting(t trace.ThreadID) (trace.Object, bool) {
	if int(t) < len(s.threads) && s.threads[t].queued {
		return s.threads[t].at.Name, true
	}
	return 0, false
}

// Apply applies the next event, and returns what it changed, in the order in which the changes take
// effect: a condition wait enters the queue and then releases its mutex. The result is valid until
// the next call.
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

// ApplyGo is Apply for an execution of a Go program. blocked means that the goroutine continues
// with an OpResume, or never, so an acquire operation has not acquired yet.
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

// steps applies actions to a state, and goSteps those of goroutines; the other actions have no
// effect.
var (
	steps = [actions]func(*State, *Spec, *trace.Event){
		Create:        (*State).create,
		Finish:        (*State).end,
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
