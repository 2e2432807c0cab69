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
	// Opaque operations do something that is not recorded whole: they keep their order with
	// all others. So do operations that are not known.
	Opaque Action = iota
	// None does nothing that another thread could notice.
	None

	// Of memory. Exchange reads and writes atomically, Compare reads, and writes if it was done.
	Read
	Write
	AtomicRead
	AtomicWrite
	Exchange
	Compare
	Fence
	Allocate
	Free

	// Of threads. Exit begins the end of the thread that does it, Stop ends the execution.
	Create
	Start
	Finish
	Join
	Exit
	Cancel
	Stop

	// Of any object. Alter changes what later operations on it do, and neither blocks nor wakes a thread.
	Init
	Destroy
	Alter

	// Of locks. Begin is the beginning of a once: it acquires if the thread is to run it, and
	// otherwise follows the thread that did. Announce makes readers wait for the writer. Release is of
	// either way of holding, ReleaseShared of the shared one only; Abandon releases, at whatever
	// depth, what a thread holds that ends.
	Acquire
	AcquireShared
	Begin
	Announce
	Release
	ReleaseShared
	Abandon

	// Of queues, which conditions and futexes have. Leave ends a wait that no thread ended.
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

	// Of what descriptors lead to.
	Open
	Receive
	Transmit
	Poll
	Close
	Connect
	Accept
	Control

	// Of goroutines. A Resume of a goroutine is Continue; Communicate sends on, receives from
	// or closes a channel.
	Continue
	Communicate
	Select
	Selected
	Count
	Sleep
	Switch
	Fail

	// Of a sync variable of Go's race detector. Publish forgets what was released there,
	// Merge adds to it, Renew acquires before it adds.
	Observe
	Publish
	Merge
	Renew

	actions
)

// Family is the kind of object that an operation is done to.
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

// Blocking is what a thread waits for before it can do an operation.
type Blocking uint8

const (
	Never           Blocking = iota
	UntilFree                // no other thread holds the lock
	UntilReadable            // no thread holds the lock alone, and no writer is to be preferred
	UntilDone                // no thread runs the once
	UntilWoken               // it was woken, or left the queue unwoken
	UntilReacquired          // that, and the mutex is free
	UntilPositive            // the semaphore's count is
	UntilEnded               // the thread is to be joined
	UntilSignal              // one of a set is pending
	UntilDelivery            // a signal is pending that it does not block
	UntilHandled             // a handler has run
	UntilTime                // virtual time has passed, which no trace records
	UntilInput               // there is something to read or accept
	UntilReady               // a descriptor has room, or is ready: not in the trace
	UntilResumed             // a goroutine was woken
	conditions
)

// Results are those that mean that an operation was done.
type Results uint8

const (
	Zero     Results = iota // 0
	Any                     // it cannot fail, or what it does does not depend on it
	Locked                  // 0, or EOWNERDEAD: a robust mutex's owner died, the caller has it
	Relocked                // all but ENOTRECOVERABLE: the mutex is held
	One                     // 1
	Started                 // 0, or EINPROGRESS: a connection is under way
)

// Role is what a field of an event holds.
type Role uint8

const (
	Data          Role = iota // a number, a set, nothing
	ThreadNumber              // a thread
	ThreadPlusOne             // a thread's number + 1, 0 for none
	ObjectName                // a trace.Object
)

// Results of calls that say more than that they failed.
const (
	Cancelled      = int32(syscall.ECANCELED)       // a cancellation took the operation's place
	OwnerDead      = int32(syscall.EOWNERDEAD)      // of a robust mutex: the caller has it
	NotRecoverable = int32(syscall.ENOTRECOVERABLE) // of a robust mutex: the caller does not have it
	interrupted    = int32(syscall.EINTR)           // a signal handler ran in the call
	inProgress     = int32(syscall.EINPROGRESS)
	busy           = int32(syscall.EBUSY)
	invalid        = int32(syscall.EINVAL)
)

// Spec says what one operation means. Object is the event's; Value and Aux are as Value and
// Aux say.
type Spec struct {
	Op     trace.Op
	Does   Action
	Of     Family
	Blocks Blocking
	Ok     Results
	Value  Role
	Aux    Role
	// Deadline: the operation fails with ETIMEDOUT at its deadline, and with EINVAL, at
	// once, if the time is invalid.
	Deadline bool
	// Spontaneous: its time is not determined (a timer, a signal, a child process), so an execution
	// that has it could have continued differently.
	Spontaneous bool
	// Noticed: another thread could notice it, whatever its object is.
	Noticed bool
	Words
}

// Words are how reports speak of an operation.
type Words struct {
	// Call names the function or statement that blocks: `sem_wait`, `a channel send`. What Pthreads, C11
	// and C++ each have a function for has a name of its own, `a mutex lock`: the operation does not say
	// which of them was called. Empty: the name of the operation in a trace.
	Call string
	// Verb replaces the operation's name where a report tells an event.
	Verb string
	// Tells is how a report words the event.
	Tells Form
	// Waits says what a thread waits for that is blocked in the operation; "%s" is the object's
	// name. Empty: it waits to do it.
	Waits string
}

// Form is how a report words an event: what stands beside the verb.
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
	TellStatus                 // Value, an exit status
	TellValue                  // the object, and Value
	TellCount                  // the object and Value, and why the call failed
	TellCrash                  // a fatal signal
	TellSend                   // a signal and its receiver
	TellReceived               // a signal that was waited for
	TellDelivery               // a signal and its handler
	TellSignal                 // the signal in Value
	TellSignals                // the set in Value
	TellMask                   // the set in Value, as what is blocked
	TellTimer                  // the timer in Aux
	TellArm                    // that, and the time in Value
	TellExpiry                 // the signal that a timer sends
	TellWhen                   // the virtual time in Value
	TellAbandon                // a mutex whose owner ends
	TellUnlocks                // a condition, and the mutex in Aux that is released
	TellLocks                  // a condition, and the mutex in Aux that is acquired
	TellWoken                  // the thread that was woken
	TellWakes                  // how many were woken
	TellArrivals               // how many have arrived
	TellOnce                   // the thread that runs it
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
	TellDelta // what is added to a WaitGroup
	TellSwitch
)

// Done reports whether the operation did what it is for.
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

// unknown is the row of operations that are not in the table.
var unknown = Spec{Does: Opaque}

// Of is the operation's row. One that is not known is Opaque.
func Of(op trace.Op) *Spec {
	if int(op) < len(specs) && specs[op] != nil {
		return specs[op]
	}
	return &unknown
}

// Does is what an operation does: Of(op).Does, for callers that process every access.
func Does(op trace.Op) Action {
	if int(op) < len(does) {
		return does[op]
	}
	return Opaque
}

// specs and does are the table by number.
var specs, does = index()

func index() (specs [abi.OpCount]*Spec, does [abi.OpCount]Action) {
	for i := range table {
		s := &table[i]
		specs[s.Op], does[s.Op] = s, s.Does
	}
	return specs, does
}
