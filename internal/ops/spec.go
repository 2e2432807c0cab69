package ops

import (
	"syscall"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

//go:generate go run ./gen

// Action is what an operation does.
type Action uint8

const (
	// Opaque operations are not recorded completely, so they keep their order with all others.
	// Unknown operations are opaque, too.
	Opaque Action = iota
	// None has no effect that another thread could observe.
	None

	// Of memory. Exchange reads and writes atomically; Compare reads, and writes if it
	// succeeded.
	Read
	Write
	AtomicRead
	AtomicWrite
	Exchange
	Compare
	Fence
	Allocate
	Free

	// Of threads. Exit begins the end of its own thread, Stop ends the execution.
	Create
	Start
	Finish
	Join
	Exit
	Cancel
	Stop

	// Of any object. Alter changes the effect of later operations on it, and neither blocks nor
	// wakes a thread.
	Init
	Destroy
	Alter

	// Of locks. Begin is the beginning of a once: it acquires if the thread must run it, and
	// otherwise follows the thread that did. Announce makes readers wait for the writer.
	// Release ends a hold of either kind, ReleaseShared only a shared one; Abandon releases, at
	// any depth, a lock held by a thread that ends.
	Acquire
	AcquireShared
	Begin
	Announce
	Release
	ReleaseShared
	Abandon

	// Of queues, which conditions and futexes have. Leave ends a wait without a wake-up.
	Wait
	Resume
	Leave
	WakeOne
	WakeSome
	WakeAll

	// Of counters.
	Up
	Down
	Inspect

	// Of barriers.
	Arrive
	Depart

	// Of signals and timers. Handle is the end of a handler; Arm starts or stops a timer.
	Send
	Take
	Return
	Arm
	Expire

	// Of channels, the objects to which descriptors refer.
	Open
	Receive
	Transmit
	Poll
	Close
	Connect
	Accept
	Control

	// Of goroutines. Continue is a goroutine's Resume; Communicate sends on, receives from or
	// closes a channel.
	Continue
	Communicate
	Select
	Selected
	Count
	Sleep
	Switch
	Fail

	// Of a sync variable of Go's race detector. Publish replaces what was released there, Merge
	// adds to it, Renew acquires and then adds.
	Observe
	Publish
	Merge
	Renew

	actions
)

// Family is the kind of object of an operation.
type Family uint8

const (
	NoObject Family = iota
	Memory
	Block
	Thread
	Execution
	Mutex
	RWLock
	Once
	Condition
	Futex
	Semaphore
	Barrier
	Signal
	Timer
	Descriptor
	Process
	Channel
	WaitGroup
	Pool
	SyncVar
	Test
)

// Blocking is the condition under which an operation is enabled.
type Blocking uint8

const (
	Never           Blocking = iota
	UntilFree                // no other thread holds the lock
	UntilReadable            // no thread holds the lock exclusively, and no writer has precedence
	UntilDone                // no thread runs the once
	UntilWoken               // it was woken, or left the queue unwoken
	UntilReacquired          // woken or left unwoken, and the mutex is free
	UntilPositive            // the semaphore's count is positive
	UntilEnded               // the thread to join has ended
	UntilSignal              // one of a set is pending
	UntilDelivery            // a signal is pending and not blocked
	UntilHandled             // a handler has run
	UntilTime                // virtual time has passed; not in a trace
	UntilInput               // data or a connection is available
	UntilReady               // a descriptor has room or is ready; not in a trace
	UntilResumed             // a goroutine was woken
	conditions
)

// Results are the results that mean success.
type Results uint8

const (
	Zero     Results = iota // 0
	Any                     // it cannot fail, or its effect does not depend on its result
	Locked                  // 0, or EOWNERDEAD: the owner of a robust mutex died, and the caller holds it
	Relocked                // all but ENOTRECOVERABLE: the mutex is held
	One                     // 1
	Started                 // 0, or EINPROGRESS: a connection is in progress
)

// Role is what a field of an event holds.
type Role uint8

const (
	Data          Role = iota // a number, a set, nothing
	ThreadNumber              // a thread
	ThreadPlusOne             // a thread's number + 1, 0 for none
	ObjectName                // a trace.Object
)

// Results with a meaning beyond failure.
const (
	Cancelled      = int32(syscall.ECANCELED)       // the operation was cancelled
	OwnerDead      = int32(syscall.EOWNERDEAD)      // of a robust mutex: the caller holds it
	NotRecoverable = int32(syscall.ENOTRECOVERABLE) // of a robust mutex: the caller does not hold it
	interrupted    = int32(syscall.EINTR)           // a signal handler ran in the call
	inProgress     = int32(syscall.EINPROGRESS)
	busy           = int32(syscall.EBUSY)
	invalid        = int32(syscall.EINVAL)
)

// Spec defines one operation. Object is the event's object; Value and Aux give the roles of the
// event's fields of these names.
type Spec struct {
	Op     trace.Op
	Does   Action
	Of     Family
	Blocks Blocking
	Ok     Results
	Value  Role
	Aux    Role
	// Deadline: the operation fails with ETIMEDOUT at its deadline, and at once with EINVAL if
	// the time is invalid.
	Deadline bool
	// Spontaneous: its time is not determined (a timer, a signal, a child process), so an
	// execution that contains it could have continued differently.
	Spontaneous bool
	// Noticed: another thread could observe it, whatever its object is.
	Noticed bool
	Words
}

// Words are the words reports use for an operation.
type Words struct {
	// Call names the function or statement that blocks: `sem_wait`, `a channel send`. An
	// operation that Pthreads, C11 and C++ each provide has a neutral name, `a mutex lock`,
	// since the operation does not identify the function. Empty: the name of the operation in a
	// trace.
	Call string
	// Verb replaces the operation's name where a report describes an event.
	Verb string
	// Tells is how a report words the event.
	Tells Form
	// Waits is what a thread blocked in the operation waits for; "%s" is the object's name.
	// Empty: it waits to perform the operation.
	Waits string
}

// Form is how a report words an event: the parts that follow the verb.
type Form uint8

const (
	TellResult     Form = iota // the object, and the result unless it is 0
	TellObject                 // the object
	TellVerb                   // nothing
	TellFailure                // the object, and why the call failed
	TellLater                  // nothing, and why the call failed
	TellTarget                 // the thread in Value
	TellThread                 // the thread in Value, and why the call failed
	TellStart                  // the thread's role
	TellCall                   // the function, and whether longjmp left it
	TellStatus                 // Value, an exit status
	TellValue                  // the object, and Value
	TellCount                  // the object and Value, and why the call failed
	TellCrash                  // a fatal signal
	TellSend                   // a signal and its receiver
	TellReceived               // a signal received by a wait
	TellDelivery               // a signal and its handler
	TellSignal                 // the signal in Value
	TellSignals                // the set in Value
	TellMask                   // the set in Value, as the blocked signals
	TellTimer                  // the timer in Aux
	TellArm                    // the timer in Aux, and the time in Value
	TellExpiry                 // the signal that a timer sends
	TellWhen                   // the virtual time in Value
	TellAbandon                // a mutex whose owner ends
	TellUnlocks                // a condition, and the mutex in Aux that is released
	TellLocks                  // a condition, and the mutex in Aux that is acquired
	TellWoken                  // the thread that was woken
	TellWakes                  // how many were woken
	TellArrivals               // how many have arrived
	TellOnce                   // the thread that runs the once
	TellYield                  // why
	TellSleep                  // how long
	TellNap                    // how long, of a goroutine
	TellDescriptor             // a descriptor and the result
	TellAllocation             // a block and its size
	TellRead                   // a variable and its value
	TellWrite                  // likewise
	TellAtomicRead             // likewise, and the memory order
	TellAtomicWrite
	TellExchange
	TellCompare
	TellFence // the memory order
	TellGo    // a new goroutine
	TellResume
	TellSelect
	TellAttempt // a channel, and whether the select took its default instead
	TellDelta   // the amount added to a WaitGroup
	TellSwitch
)

// KeepsGoroutines reports whether a goroutine can be blocked in the operation. One that cannot go on after any other is in a system call.
func (s *Spec) KeepsGoroutines() bool {
	switch s.Does {
	case Communicate, Select, Wait, Sleep, Begin, Switch:
		return true
	}
	return s.Blocks != Never || s.Op == trace.OpPark
}

// Done reports whether the operation succeeded.
func (s *Spec) Done(ev *trace.Event) bool {
	switch s.Ok {
	case Any:
		return true
	case Locked:
		return ev.Result == 0 || ev.Result == OwnerDead
	case Relocked:
		return ev.Result != NotRecoverable
	case One:
		return ev.Result == 1
	case Started:
		return ev.Result == 0 || ev.Result == inProgress
	}
	return ev.Result == 0
}

// unknown is the row of operations missing from the table.
var unknown = Spec{Does: Opaque}

// Of returns the operation's row. An unknown operation is Opaque.
func Of(op trace.Op) *Spec {
	if int(op) < len(specs) && specs[op] != nil {
		return specs[op]
	}
	return &unknown
}

// Does returns Of(op).Does, for callers that process every access.
func Does(op trace.Op) Action {
	if int(op) < len(does) {
		return does[op]
	}
	return Opaque
}

// specs and does are the table indexed by operation.
var specs, does = index()

func index() (specs [abi.OpCount]*Spec, does [abi.OpCount]Action) {
	for i := range table {
		s := &table[i]
		specs[s.Op], does[s.Op] = s, s.Does
	}
	return specs, does
}

// Acquires returns the lock that an event acquires, alone or shared, at its call or when a wait on a condition
// returns; 0 if it acquires none.
func Acquires(ev *trace.Event) trace.Object {
	s := Of(ev.Op)
	switch {
	case s.Does == Acquire, s.Does == AcquireShared:
		return ev.Object
	case s.Blocks == UntilReacquired:
		return trace.Object(ev.Aux)
	}
	return 0
}

// Releases returns the lock that an event releases, for good or while it waits for a condition; 0 if it releases none.
func Releases(ev *trace.Event) trace.Object {
	switch Does(ev.Op) {
	case Release, ReleaseShared:
		return ev.Object
	case Wait:
		return trace.Object(ev.Aux)
	}
	return 0
}
