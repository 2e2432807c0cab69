package ops

import (
	"syscall"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// Lifetime is what an operation means for the lifetime of its object, a synchronisation object or a
// descriptor. An operation that begins or ends the lifetime races with a use that happens-before does
// not order.
type Lifetime uint8

const (
	Apart   Lifetime = iota // nothing
	Use                     // it is valid only within the lifetime
	Bound                   // it begins or ends the lifetime: init, destroy, close
	Renewal                 // it begins the lifetime of a descriptor whose number was free
)

// NotOpen is the result of an operation on a descriptor that is not open.
const NotOpen = int32(syscall.EBADF)

// LifetimeOf returns what an operation that succeeds means for the lifetime of its object.
func LifetimeOf(op trace.Op) Lifetime {
	if int(op) < len(lifetimes) {
		return lifetimes[op]
	}
	return Apart
}

var lifetimes = func() (of [abi.OpCount]Lifetime) {
	for i := range table {
		if s := &table[i]; s.Op < trace.OpGo {
			of[s.Op] = s.lifetime()
		}
	}
	return of
}()

// lifetime leaves out what may come after the lifetime: a thread leaves a barrier, or returns from a wait
// on a condition, when others may destroy it already.
func (s *Spec) lifetime() Lifetime {
	switch s.Of {
	case Mutex, RWLock, Condition, Semaphore, Barrier:
		switch s.Does {
		case Init, Destroy:
			return Bound
		case Acquire, AcquireShared, Release, ReleaseShared, Wait, WakeOne, WakeAll, Up, Down, Inspect, Arrive:
			return Use
		}
	case Descriptor:
		switch {
		case s.Op == trace.OpFdOpen:
			return Renewal
		case s.Op == trace.OpFdClose:
			return Bound
		case s.Does != Poll: // it names only one of its descriptors
			return Use
		}
	}
	return Apart
}

// Lifetimes returns the object to whose lifetime an event matters, and how. Others have 0 and Apart.
func Lifetimes(ev *trace.Event) (trace.Object, Lifetime) {
	l, o := LifetimeOf(ev.Op), ev.Object
	if l == Apart || ev.Result == Cancelled {
		return 0, Apart
	}
	if Of(ev.Op).Of == Descriptor {
		o = trace.DescriptorObject(int(int32(ev.Aux)))
		if ev.Result == NotOpen && l == Bound {
			l = Use
		}
	}
	if o == 0 || ev.Result != 0 && (l == Renewal || l == Bound && Of(ev.Op).Of != Descriptor) {
		return 0, Apart
	}
	return o, l
}
