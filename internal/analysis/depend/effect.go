package depend

// Mode is what an effect does.
type Mode uint8

const (
	// Read and Write are of memory, Size bytes at Addr.
	Read Mode = iota
	Write

	// The object at Addr is a lock, a condition, a semaphore, …. Acquire and Release are
	// of a lock held by one thread, the shared ones of a lock that many may hold.
	Acquire
	Release
	AcquireShared
	ReleaseShared
	// Observe looks at the object or adds to it in a way that other Observes cannot see.
	Observe
	// Change is anything else that is done to the object: it commutes with nothing.
	Change

	// Post makes token Addr, Take uses it up. A token is made once and taken at most once.
	Post
	Take

	// Create starts thread Addr, Join waits for its end; Begin is the start of the
	// thread that does it, End the end.
	Create
	Begin
	End
	Join

	// Fence is ordered with every other event.
	Fence
)

var modeNames = [...]string{"read", "write", "acquire", "release", "acquire shared", "release shared", "observe", "change", "post", "take", "create", "begin", "end", "join", "fence"}

func (m Mode) String() string { return modeNames[m] }

// Kind is why two events of different threads depend on one another.
type Kind uint8

const (
	Conflict Kind = iota // conflicting accesses
	Lock                 // locks, and the state of other synchronisation objects
	Life                 // create and join
	Signal               // wait and signal, semaphores
	Barrier
	Ending // exit, abort, and what is not known: everything before, everything after
)

var kindNames = [...]string{"conflict", "lock", "life", "signal", "barrier", "ending"}

func (k Kind) String() string { return kindNames[k] }

// Effect is one thing that an event does to what threads share.
type Effect struct {
	Mode Mode
	Kind Kind   // the dependence that comes of it
	Addr uint64 // memory, object, token or thread
	Size uint64 // bytes, for Read and Write; at least 1
}
