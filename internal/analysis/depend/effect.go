package depend

// Mode is the kind of access that an effect makes.
type Mode uint8

const (
	// Read and Write are of memory, Size bytes at Addr.
	Read Mode = iota
	Write

	// The object at Addr is a lock, a condition, a semaphore, …. Acquire and Release are of a
	// lock held by one thread, the shared modes of a lock that many may hold.
	Acquire
	Release
	AcquireShared
	ReleaseShared
	// Observe reads the object, or adds to it in a way that other Observes cannot notice.
	Observe
	// Change is any other effect on the object: it commutes with nothing.
	Change

	// Post makes token Addr, Take consumes it. A token is made once and taken at most once.
	Post
	Take

	// Create starts thread Addr, Join waits for its end; Begin is the start of the event's own
	// thread, End its end.
	Create
	Begin
	End
	Join

	// Fence is ordered with every other event.
	Fence
)

var modeNames = [...]string{"read", "write", "acquire", "release", "acquire shared", "release shared", "observe", "change", "post", "take", "create", "begin", "end", "join", "fence"}

func (m Mode) String() string { return modeNames[m] }

// Kind is the reason why two events of different threads depend on one another.
type Kind uint8

const (
	Conflict Kind = iota // conflicting accesses
	Lock                 // locks, and the state of other synchronisation objects
	Life                 // create and join
	Signal               // wait and signal, semaphores
	Barrier
	Ending // exit, abort and unknown operations: ordered with everything before and after
)

var kindNames = [...]string{"conflict", "lock", "life", "signal", "barrier", "ending"}

func (k Kind) String() string { return kindNames[k] }

// Effect is one effect of an event on shared state.
type Effect struct {
	Mode Mode
	Kind Kind   // of the resulting dependence
	Addr uint64 // memory, object, token or thread
	Size uint64 // bytes, for Read and Write; at least 1
}
