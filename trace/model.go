package trace

import (
	"cmp"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/abi"
)

// ThreadID is a thread's number in order of creation within one execution; main is 0. No two
// threads of an execution have the same number, however many have ended. It is not stable across
// schedules that create threads in another order; Thread.Name is.
type ThreadID int32

// Site names an instruction independently of where its module was loaded: the index of the module
// in Trace.Modules plus 1 in the high 16 bits, the offset from its load address in the low 48. Zero
// is "unknown". An offset without a module is the address of an instruction outside all modules, in
// code generated while the program runs. Sites of one build compare equal across executions.
type Site uint64

// MakeSite packs a module index and an offset; module indices start at 0.
func MakeSite(module int, offset uint64) Site {
	return Site(uint64(module+1)<<48 | offset&(1<<48-1))
}

// Module returns the index into Trace.Modules, -1 for none.
func (s Site) Module() int { return int(s>>48) - 1 }

// Offset returns the offset from the module's load address.
func (s Site) Offset() uint64 { return uint64(s) & (1<<48 - 1) }

// Region says what kind of memory an Object lies in.
type Region uint8

const (
	RegionOther  Region = abi.RegionOther  // an absolute address: Index holds the bits above Offset
	RegionGlobal Region = abi.RegionGlobal // Index = module, Offset from its load address
	RegionHeap   Region = abi.RegionHeap   // Offset from the heap's start
	RegionStack  Region = abi.RegionStack  // Index = thread, Offset down from the top of its stack
)

// Object names a memory location, lock, … independently of address randomisation: region (4 bits),
// index (14 bits), offset (46 bits). Zero is "none". Stacks of threads whose number takes more than
// 14 bits have a second encoding, abi.RegionFarStack (4 bits), index (24 bits), offset (36 bits);
// Region returns RegionStack for both.
type Object uint64

// Addresses that no process has, in traces with values: objects in RegionOther from ArgumentVectors on are
// argv and the pointers to the environment, and from ArgumentStrings on the strings that these point to. Where
// they were is for the kernel to decide.
const (
	ArgumentVectors = 0x6eff_0000_0000
	ArgumentStrings = 0x6efe_0000_0000
)

// Nowhere reports whether o is an address where no memory is, such as a null pointer.
func (o Object) Nowhere() bool { return o < abi.NoMemory }

// MakeObject packs an object name.
func MakeObject(r Region, index int, offset uint64) Object {
	if r == RegionStack && index >= 1<<abi.IndexBits {
		return Object(uint64(abi.RegionFarStack)<<abi.RegionShift | uint64(index)&(1<<24-1)<<abi.FarOffsetBits | offset&(1<<abi.FarOffsetBits-1))
	}
	return Object(uint64(r)<<abi.RegionShift | uint64(index)&(1<<abi.IndexBits-1)<<abi.OffsetBits | offset&(1<<abi.OffsetBits-1))
}

// far reports whether o has the encoding for stacks of threads with large numbers.
func (o Object) far() bool {
	return Region(o>>abi.RegionShift) == abi.RegionFarStack && o>>abi.FarOffsetBits&(1<<24-1) >= 1<<abi.IndexBits
}

// Region returns the kind of memory the object lies in.
func (o Object) Region() Region {
	if o.far() {
		return RegionStack
	}
	return Region(o >> abi.RegionShift)
}

// Index returns the module (RegionGlobal) or thread (RegionStack).
func (o Object) Index() int {
	if o.far() {
		return int(o >> abi.FarOffsetBits & (1<<24 - 1))
	}
	return int(o >> abi.OffsetBits & (1<<abi.IndexBits - 1))
}

// Offset returns the object's place in its region, in bytes.
func (o Object) Offset() uint64 { return uint64(o) & (1<<o.OffsetBits() - 1) }

// OffsetBits returns how many of the low bits of o are its offset.
func (o Object) OffsetBits() uint {
	if o.far() {
		return abi.FarOffsetBits
	}
	return abi.OffsetBits
}

// Bytes returns numbers of the bytes of an access to o: [first, first+n). They ascend with memory, are
// aligned as the program's, and differ between regions. (Offsets into a stack count down from its top,
// whose offset is 0.)
func (o Object) Bytes(size uint64) (first, n uint64) {
	if o.Region() != RegionStack {
		return uint64(o), size
	}
	return uint64(o) ^ o.offsets() + 1, min(size, o.Offset()+1)
}

// ObjectAt is the inverse of Bytes: the object at a byte.
func ObjectAt(b uint64) Object {
	o := Object(b - 1)
	if o.Region() != RegionStack {
		return Object(b)
	}
	return o ^ Object(o.offsets())
}

// offsets masks the bits of o's offset.
func (o Object) offsets() uint64 { return 1<<o.OffsetBits() - 1 }

// Channel returns what kind of descriptor the object names ("pipe", "socket", …) and the
// descriptor that reads from it. ok is false for objects in memory.
func (o Object) Channel() (kind string, fd int, ok bool) {
	const bit = 1 << abi.FdObjectBit
	if o.Region() != RegionOther || o.Index() != 0 || o&bit == 0 || o >= 2*bit {
		return "", 0, false
	}
	k := int(o >> abi.FdKindShift & 15)
	if k == 0 || k >= len(channelKinds) {
		return "", 0, false
	}
	return channelKinds[k], int(o >> abi.FdShift & 0xfff), true
}

// Kinds of channels that do not belong to the program alone: what Object.Channel returns for regular
// files and directories, and for descriptors whose other end is in another process.
const (
	ChannelFile     = "file"
	ChannelExternal = "descriptor"
	// ChannelTried is a lock of heddle's own; in place of the descriptor is the index in
	// Header.TryLock of the first element that names it.
	ChannelTried = "tried lock"
	// ChannelStream is the lock of a stdio stream over the descriptor.
	ChannelStream = "stream"
	// ChannelSignals is a descriptor from which pending signals are read.
	ChannelSignals = "signalfd"
	// ChannelNumber is a descriptor itself, whatever it refers to; see DescriptorObject.
	ChannelNumber = "descriptor number"
)

// DescriptorObject returns the object that names a descriptor itself, whatever it refers to: that of a
// race between a close and a use. It returns 0 for numbers that it cannot name.
func DescriptorObject(fd int) Object {
	if fd < 0 || fd >= abi.FdNumbers {
		return 0
	}
	return MakeObject(RegionOther, 0, 1<<abi.FdObjectBit|abi.FdNumber<<abi.FdKindShift|uint64(fd)<<abi.FdShift)
}

var channelKinds = [...]string{
	abi.FdPipe: "pipe", abi.FdSocket: "socket", abi.FdEventfd: "eventfd", abi.FdTimerfd: "timerfd", abi.FdEpoll: "epoll set",
	abi.FdFile: ChannelFile, abi.FdExternal: ChannelExternal, abi.FdLoader: "loader",
	abi.FdTried: ChannelTried, abi.FdNumber: ChannelNumber, abi.FdStream: ChannelStream, abi.FdSignalfd: ChannelSignals, abi.FdPidfd: "pidfd",
}

// Flags qualify an event; the values are part of the trace format.
type Flags uint32

const (
	FlagForced     Flags = abi.EvForced     // a yield that the runtime inserted: the thread waits, or has computed for long
	FlagTimeout    Flags = abi.EvTimeout    // its wait timed out; see Event.Overtakes
	FlagNoDecision Flags = abi.EvNodecision // recorded, but not a scheduling point
	FlagAtomic     Flags = abi.EvAtomic
	// FlagOrder holds an atomic's memory order, the compiler's __ATOMIC_* number << 4.
	FlagOrder Flags = abi.EvOrderMask
	// FlagLibrary marks a yield by which a library such as libomp waits.
	FlagLibrary Flags = abi.EvLibrary
	// FlagOffered marks the first event after a context switch away from a thread that was enabled
	// and whose next operation was a yield with FlagLibrary: the switch is not a preemption.
	FlagOffered Flags = abi.EvOffered
	// FlagPointer marks an access of 8 bytes or more whose value, or the low 8 bytes of it, is the
	// address of a place in memory: Value is the place's Object, which does not depend on where the
	// memory was.
	FlagPointer Flags = abi.EvPointer
	// FlagHooks: an allocation, a free or a range of bytes, in a call by code with access hooks; see Event.Hooked
	FlagHooks Flags = abi.EvHooks
	// FlagVolatile marks a volatile access of a program with inline assembly that has hooks: if it is atomic, one of memory that the
	// assembly had accessed before.
	FlagVolatile Flags = abi.EvVolatile
	// FlagAssembly marks an instruction of inline assembly.
	FlagAssembly Flags = abi.EvAssembly
	// FlagValue marks a plain access of a Go program whose Value and Size are known. Others have
	// neither: Size is 1 unless a range was accessed.
	FlagValue Flags = abi.EvValue
)

// Event is one operation of a thread as recorded. See the operation table (Op) for what
// Object, Value, Aux and Result mean for each operation.
type Event struct {
	Thread  ThreadID
	Op      Op
	Site    Site   // the instruction
	Object  Object // lock, variable, block, …
	Aux     uint64 // second object as an Object, or the old value
	Value   uint64
	Size    uint32 // bytes accessed
	Flags   Flags
	Result  int32
	Stack   uint32    // index into Trace.Stacks, 0 for none
	Enabled ThreadSet // threads that could have run instead, Thread included
}

// Child returns the thread that the event creates; ok is false if it creates none. Whether the
// thread is in the table is for Validate to check.
func (e *Event) Child() (id ThreadID, ok bool) {
	if e.Op.Class() != ClassFork || e.Result != 0 || e.Value >= MaxThreads {
		return -1, false
	}
	return ThreadID(e.Value), true
}

// ClockLabel is the label of the pseudo-thread of the virtual clock. It performs OpTimerFire; no
// thread created it, and it has no start routine.
const ClockLabel = "clock"

// TimerLabel is the label of a timer of a C program. It performs OpTimerExpire, or creates the
// threads that it notifies, and runs no code; its start is where the program made it.
const TimerLabel = "timer"

// Early reports whether the thread was chosen although it was blocked: its wait was made to time
// out, or it woke up spuriously. It need not be in Enabled.
func (e *Event) Early() bool { return e.Flags&FlagTimeout != 0 || e.Op == OpSpuriousWake }

// Detail reports whether e is an event only because accesses, or calls of functions, were recorded:
// scheduling points and what belongs to their operations are events in every trace.
func (e *Event) Detail() bool {
	return e.Flags&FlagNoDecision != 0 && (e.Op.IsAccess() || e.Op == OpMalloc || e.Op.IsCall())
}

// gone are the parts of messages of misuse that say that memory no longer existed.
var gone = []string{"freed memory", "freed already", "has ended", "has returned"}

// UsesGoneMemory reports whether the program used memory that had been freed, or that belonged to a thread or a call
// that had ended. The trace of such an execution has the allocation and the free of Object, and the use.
func (e *Ending) UsesGoneMemory() bool {
	return e.Kind == Misuse && slices.ContainsFunc(gone, func(s string) bool { return strings.Contains(e.Message, s) })
}

// Gone returns the first byte of the memory whose use after its end ended the execution, and the index of its block in
// Allocs, -1 if that is not known. It returns false for other endings.
func (t *Trace) Gone() (o Object, block int, ok bool) {
	if !t.Ending.UsesGoneMemory() {
		return 0, -1, false
	}
	o = t.Ending.Object
	for n := len(t.Allocs) - 1; n >= 0; n-- {
		if a := &t.Allocs[n]; o >= a.Object && uint64(o-a.Object) < max(a.Size, 1) {
			return a.Object, n, true
		}
	}
	return o, -1, true
}

// Lifetime returns a function that reports whether event number i is the allocation, the free or the use of the memory
// that Gone returns.
func (t *Trace) Lifetime() func(i int) bool {
	gone, _, ok := t.Gone()
	return func(i int) bool {
		e := &t.Events[i]
		return ok && (i == len(t.Events)-1 || e.Object == gone && (e.Op == OpMalloc || e.Op == OpFree))
	}
}

// Preempts reports whether switching away from thread last at e's scheduling decision is a
// preemption, to e's thread or, if e is last's, to another. last did the event before e. A thread is
// not preempted before a yield by which a library waits.
func (e *Event) Preempts(last ThreadID) bool {
	offers := FlagOffered
	if e.Thread == last {
		offers = FlagLibrary
	}
	return e.Enabled.Has(last) && e.Flags&offers == 0
}

// Overtakes reports whether the event ended a wait, a sleep or a timer before its time, although
// the threads in Enabled could have run: they were delayed until then.
func (e *Event) Overtakes() bool { return e.Flags&FlagTimeout != 0 && !e.Enabled.Has(e.Thread) }

// Decisions returns the number of events that were scheduling decisions.
func (t *Trace) Decisions() (n int) {
	for i := range t.Events {
		if t.Events[i].Flags&FlagNoDecision == 0 {
			n++
		}
	}
	return n
}

// WasCut reports whether the execution was cut: it had not ended (Header.Cut). A race does not end an execution.
func (t *Trace) WasCut() bool {
	return t.Header.Cut > 0 && (t.Ending.Kind == Clean || t.Ending.Kind == Race)
}

// Overtakings returns the number of events that overtake.
func (t *Trace) Overtakings() (n int) {
	for i := range t.Events {
		if t.Events[i].Overtakes() {
			n++
		}
	}
	return n
}

// Thread describes a thread of the execution.
type Thread struct {
	ID     ThreadID
	Parent ThreadID // -1 for main
	Nth    int      // n-th thread created by its parent, from 1; 0 for main
	Name   uint64   // hash of the path of Nth from main: stable across schedules
	Entry  Site     // start routine
	Label  string   // its name in the program or language, may be empty
	Ended  bool
}

// IsClock reports whether the thread is the clock.
func (t *Thread) IsClock() bool { return t.Label == ClockLabel && t.Entry == 0 && t.ID != 0 }

// Module is an executable or shared library that was loaded.
type Module struct {
	Path    string
	BuildID string // hex, empty if it has none
	Program bool   // the program under test itself
}

// RuntimePath replaces the path of heddle's runtime: its build directory is not part of the program,
// and it has no symbols to show.
const RuntimePath = "heddle's runtime"

// Waiter is a thread that had not ended when the execution did.
type Waiter struct {
	Thread ThreadID
	Op     Op // what it was about to do or blocked in; OpNone if it computes (Computes)
	Site   Site
	Object Object
	Holder ThreadID // the thread that holds Object, -1 for none or unknown
	Ready  bool     // it was enabled; after a leak, some thread was
	Stack  uint32   // index into Trace.Stacks, 0 for none
	Reach  Reach    // after a leak
}

// Reach is whether something that goes on could end the wait of a goroutine that is left: a goroutine that may go on, a timer, a finalizer
// or a global variable that leads to the object.
type Reach uint8

// Values of Reach. Numbers are part of the trace format.
const (
	ReachUnknown Reach = iota
	ReachLost          // nothing that goes on leads to the object
	ReachHeld          // it is a lock that only goroutines unlock that never go on
	ReachKept          // something leads to it, or the goroutine may go on itself
)

// MayGoOn reports whether the thread was enabled or, after a leak, could have been woken.
func (w *Waiter) MayGoOn() bool { return w.Ready && w.Reach != ReachLost && w.Reach != ReachHeld }

// Case is a send or a receive of selects of one goroutine on one channel, which their events do not name. One of OpSelect says that
// selects took more cases than are listed.
type Case struct {
	Thread ThreadID
	Op     Op
	Object Object
	Taken  uint64 // how often its selects took it; 0: it is a case of the select in which the goroutine is left
}

// Computes reports whether the thread could run and had not reached its first scheduling point.
func (w *Waiter) Computes() bool { return w.Ready && w.Op == OpNone }

// Kind is how an execution ended.
type Kind uint8

const (
	Clean       Kind = iota // exited; Status is the exit status
	Assertion               // failed assertion or abort
	Signal                  // fatal signal; Status is its number
	Deadlock                // no thread was enabled
	Hang                    // under every fair schedule, threads wait for what no thread will do
	Misuse                  // of a lock, a thread or memory; Message says which
	Exception               // uncaught C++ exception; Message is its type
	Exit                    // exit status other than the expected one
	Unsupported             // heddle cannot run the program: never a finding
	Diverged                // a strict schedule could not be followed: never a finding
	// Of Go programs, and Race of all; numbers are part of the trace format.
	Test  // a test failed; Message is its first error
	Panic // an unrecovered panic; Message is its first line
	Fatal // an error of the Go runtime that cannot be recovered from; likewise
	Leak  // the Waiters still existed when the test or the program ended
	Race  // the Accesses race: Site, Object, Thread and Stack are those of the second
	// WrongOutput is a clean execution whose output Header.ExpectOutput or Header.Oracle rejects;
	// Status is the exit status of the oracle.
	WrongOutput
	Livelock // threads run, and their states recur
	// Unfinished is an execution that heddle ended before it was over; Message says why: CutBySteps, CutByTime, CutByUser,
	// CutByThreads, or the watchdog's. It is never a finding, and decides nothing. The Waiters say where each thread was.
	Unfinished
)

// Messages of Unfinished executions.
const (
	CutBySteps = "step budget"
	CutByTime  = "time"
	CutByUser  = "interrupted"
	// CutByWatchdog begins the message of an execution that reached no scheduling point for the time of --watchdog. What
	// the program did instead may follow.
	CutByWatchdog = "watchdog"
	// CutByThreads: it has created MaxThreads threads.
	CutByThreads = "threads"
	// CutByOthers begins the message of an execution whose threads, long without progress, wait for other processes. What for
	// follows, as it may after CutBySteps.
	CutByOthers = "other process"
)

// OutOfSteps reports whether the execution exhausted its step budget.
func (e *Ending) OutOfSteps() bool {
	return e.Kind == Unfinished && (e.Message == CutBySteps || strings.HasPrefix(e.Message, CutBySteps+":"))
}

// BesideOthers reports whether the execution ended in a deadlock that other threads may outlive.
func (e *Ending) BesideOthers() bool {
	switch {
	case e.Kind != Deadlock:
		return false
	case e.Message == GoesOn:
		return true
	case len(e.Cycle) == 1:
		// Those that wait for a goroutine which waits for itself are part of the deadlock: they might have unlocked it.
		return !slices.ContainsFunc(e.Waiters, func(w Waiter) bool { return w.Thread == e.Cycle[0] && w.Op >= OpGo })
	}
	return len(e.Cycle) > 0
}

// Undecided reports whether the execution was cut off although its step budget was left, or while it depended on what heddle does not
// see: on other processes, or on a computation or a call that lasted. Then what its threads did does not tell whether it hangs.
func (e *Ending) Undecided() bool {
	return e.Message == CutByThreads || strings.HasPrefix(e.Message, CutByWatchdog) || strings.HasPrefix(e.Message, CutByOthers) || strings.HasPrefix(e.Message, CutBySteps+":")
}

// GoesOn is the Message of a Deadlock of a Go program beside goroutines or timers that go on.
const GoesOn = "other goroutines or timers go on"

// NoProgress is the Message of a Hang that was not examined: the enabled threads only repeated what changes nothing
// (docs/scheduler.md).
const NoProgress = "no progress"

var kindNames = [...]string{
	"clean", "assertion", "signal", "deadlock", "hang", "misuse", "exception", "exit", "unsupported", "diverged",
	"test failure", "panic", "fatal error", "goroutine leak", "data race", "wrong output", "livelock", "unfinished",
}

func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "unknown"
}

// Failed reports whether the kind is the program's failure (a possible finding).
func (k Kind) Failed() bool { return k >= Assertion && k <= Exit || k >= Test && k <= Livelock }

// Endless reports whether an execution of the kind was cut off because it did not come to its end.
func (k Kind) Endless() bool { return k == Hang || k == Livelock || k == Unfinished }

// Ending is how an execution ended, with what identifies the failure.
type Ending struct {
	Kind    Kind
	Status  int32    // exit status or signal number
	Thread  ThreadID // the thread that ended it
	Message string
	Site    Site       // where: the failing operation or instruction
	Object  Object     // faulting address, misused object
	Stack   []Site     // the failing thread's call stack, innermost first
	Waiters []Waiter   // threads that had not ended
	Cycle   []ThreadID // of a deadlock: threads that wait for one another in a cycle, in order; empty if none exists
	// Accesses are the two racing accesses of a data race, in the order in which they happened.
	Accesses []Access
	// Cases are, after a leak, the cases of the selects in which goroutines are left, and those taken on channels for which one is left.
	Cases  []Case
	Output []byte // what the program wrote to stdout and stderr, in order
	// Child is set if a child process waits for what can never happen. Thread then is the thread that forked it, in the child;
	// Site, Object and Stack say where and for what it waits.
	Child *Child
}

// Child is the wait of a child process that was forked beside other threads.
type Child struct {
	Process int      // number of the child process, from 1
	Op      Op       // what its thread waits in
	Holder  ThreadID // the thread that held the object at the fork, which the child does not have; -1 for none or unknown
}

// Access is one side of a data race: an event of the trace, except that size and object are those
// of the bytes that both sides accessed.
type Access struct {
	Thread ThreadID
	Op     Op
	Site   Site
	Object Object
	Size   uint32
	Stack  uint32 // index into Trace.Stacks, 0 for none
}

// Bytes returns the size of the block of an OpMalloc or OpFree event, whose Value has the bits that Size has no room for,
// and Size of any other event.
func (e *Event) Bytes() uint64 {
	if e.Op == OpMalloc || e.Op == OpFree {
		return e.Value<<32 | uint64(e.Size)
	}
	return uint64(e.Size)
}

// SetBytes sets the size of the block of an OpMalloc or OpFree event.
func (e *Event) SetBytes(n uint64) { e.Size, e.Value = uint32(n), n>>32 }

// Allocates reports whether a block begins with the event: it is an OpMalloc event, and the call did not fail.
func (e *Event) Allocates() bool { return e.Op == OpMalloc && !e.Object.Nowhere() }

// Hooked reports of an allocation, a free or a range of bytes whether code with access hooks called for it. Other
// code may order its threads in ways that heddle does not see.
func (e *Event) Hooked() bool { return e.Flags&FlagHooks != 0 }

// Alloc is a heap block, so that heap objects can be named by their allocation.
type Alloc struct {
	Object Object // its first byte
	Size   uint64
	Thread ThreadID
	Site   Site
	Stack  uint32
	Event  int // index of the event before which it was allocated
	Freed  int // index of the FREE event, -1 if never
}

// Local is a place in a stack, so that it can be named after the variable that lies there from an
// event on. Function is an address in the function that the frame belongs to, 0 if unknown. Site is
// a return address in it, where it was; if it is in another function, Below is, unless it is in
// another one, too. CFA and SP are
// the distances in bytes of the object from the frame's canonical frame address (DWARF 5, 6.4),
// which is negative, and from the stack pointer in the function's body. FP is the distance from the
// frame pointer, if the function has one.
type Local struct {
	Object          Object
	Site            Site
	Below, Function Site
	CFA, SP         int64
	FP              int64 // 0 if unknown
	Event           int   // index of the event from which the name is valid
}

// Type is the type with which an object on the heap of a Go program was allocated, so that places
// in it can be named by their fields.
type Type struct {
	Object     Object // where the allocation begins
	Size       uint64 // of the allocation in bytes
	Unit       uint64 // of the type; a slice's array holds several
	Name       string // as Go's package reflect writes it: `pool.Pool`
	Descriptor Site   // the type's descriptor in Go's runtime
	Site       Site   // the allocation, as a return address; 0 if unknown
	Channel    bool   // the object is a channel with elements of the type
}

// Mapping is memory that the program has mapped, so that places in it can be named by the file and their offset there.
// It is valid from an event on, until a later one covers it.
type Mapping struct {
	Object Object // where it begins, in RegionOther
	Size   uint64
	Offset uint64 // in the file
	Path   string // of the file; empty: what lies there now has no name
	Event  int    // index of the event from which it is valid
}

// IsolationProcess is Header.Isolation of an execution that had a process of its own, in which
// nothing had run before.
const IsolationProcess = "process"

// Header says what was run and how to run it again.
type Header struct {
	Heddle        string   // version of heddle that wrote the trace
	Target        string   // kind of target: "c" or "go"
	PointsVersion int      // meaning of scheduling points; schedules are only valid within one
	Command       []string // program and arguments; empty where there is a Recipe
	Recipe        *Recipe  // how to build the program and its command line; nil for a program that the user built
	Argv0         string   // the name the program is started as, where that is not Command[0]
	Dir           string   // working directory of the program, or of the tool that builds it
	Stdin         []byte   // standard input of the program, nil for none
	Env           []string // the environment variables that heddle changed, NAME=value
	EnvDigest     string   // of the rest of the environment
	Surroundings  []string // what else the program may have read, NAME=hash (internal/target/ipc)
	BuildID       string   // of the program; or "sha256:" and its hash where it has no build id
	Strategy      string   // how the schedule was found, e.g. "pct depth=3 seed=17"
	Points        []Site   // memory instructions that were scheduling points
	ExpectStatus  int32    // exit status that counts as clean
	ExpectOutput  []byte   // what a clean execution writes to stdout and stderr; nil for anything
	Oracle        string   // command of sh that decides whether the output of an execution is right; empty for none
	Instrumented  bool     // accesses were visible; false: synchronisation only
	Original      string   // of a simplified trace: the file it came from
	Finding       string   // key of the failure, as heddle find prints it; empty if unknown
	Isolation     string   // "fork" or IsolationProcess: what the program needs between executions; empty for none
	Omit          []string // omitted synchronisation calls, CALL@FILE:LINE
	TryLock       []string // lines that threads executed with a lock held, as an experiment, LOCK@FILE:FROM-TO
	// Signature lets the heddle that recorded the execution recognise what a replay runs; it
	// means nothing to any other. May be empty.
	Signature string
	// Values is true if every access that was recorded has its value, where the target can observe it, and no repeated one was left out.
	// Otherwise repeated accesses may be missing, and so may values.
	Values bool
	// Fault is what was injected into the execution; nil for nothing.
	Fault *Fault
	// Live is true if threads ran in parallel, under the kernel's scheduler (docs/live.md). The events are in the order of
	// their times, none is a scheduling point, and nothing can follow them.
	Live bool
	// FairAfter is how many points the execution had passed when its fair phase began (schedule.Plan.FairAfter), 0 if it
	// did not begin. Virtual time depends on it.
	FairAfter int
	// Cut is the number of scheduling points after which the execution was to be cut: to end as if the program ended there
	// (schedule.Plan.Cut). It was, unless it failed before (Trace.WasCut). 0 means a whole execution.
	Cut int
	// MaxAccesses is not 0 if the execution had more allocations and accesses that were not
	// scheduling points than were recorded: only this many of them, the first, are events.
	MaxAccesses int
	// Unrecorded are memory instructions, ascending, whose plain reads and writes are not among the events (schedule.Plan.Omit).
	Unrecorded []Site
}

// Run is what a replay of a trace runs: all of the header that decides which programs are started, from what source they are built, and with what words,
// input and changes. Whoever starts a program from a trace takes it from here and nothing else from the header, and a signature
// covers each field.
type Run struct {
	Target        string
	Command       []string
	Recipe        *Recipe
	Argv0         string
	Dir           string
	Stdin         []byte
	Isolation     string
	Omit, TryLock []string
	Oracle        string
}

// Run returns what a replay runs.
func (h *Header) Run() Run {
	return Run{h.Target, h.Command, h.Recipe, h.Argv0, h.Dir, h.Stdin, h.Isolation, h.Omit, h.TryLock, h.Oracle}
}

// Executed returns the header with the fields of execution, another recording of the same program, that say how the execution itself
// went and was recorded. A replay of its events needs them.
func (h Header) Executed(execution Header) Header {
	h.Values, h.FairAfter, h.MaxAccesses, h.Unrecorded = execution.Values, execution.FairAfter, execution.MaxAccesses, execution.Unrecorded
	h.Cut = cmp.Or(execution.Cut, h.Cut) // a replay of one that failed before is not cut
	return h
}

// Kinds of recipe.
const (
	RecipeProgram = "program" // a main package, run with Args
	RecipeTest    = "test"    // a package's tests, of which Run selects some
)

// Recipe says how to build the program of a trace from source, in Header.Dir, and which part of it
// to run. Older traces have a heddle command line in Header.Command instead.
type Recipe struct {
	Kind     string   // RecipeProgram or RecipeTest
	Tool     string   // what builds it: "go"
	Flags    []string // of the build, name and value in one word: -tags=a,b
	Env      []string // variables that decide what is built, NAME=value, where they were set
	Packages []string // import path, directory or .go files
	Args     []string // of the program or the test binary

	// Of tests only.
	Vet          string   // checks before the build; empty for the tool's default
	Run, Skip    string   // regular expressions, as go test takes them
	Short        bool     // tests run with -test.short
	Parallel     int      // parallel tests under way at once, 0 for heddle's default
	RacesAllowed bool     // a data race is not a failure
	Leaks        string   // how a leaked goroutine counts: "fail", "ignore", or empty for a note
	LeakIgnore   []string // functions whose goroutines may leak
	Exec         []string // words of a command that executes the test binary; empty for none
}

// Trace is one execution.
type Trace struct {
	Header   Header
	Modules  []Module
	Threads  []Thread // indexed by ThreadID
	Stacks   [][]Site // Stacks[0] is empty; innermost first, the event's own site excluded
	Allocs   []Alloc
	Locals   []Local   // in order of Event
	Types    []Type    // of each object at most one
	Mappings []Mapping // in order of Event
	Events   []Event
	Ending   Ending
	// Explanation says why the execution fails; nil if nothing has found that. Read it with Explained.
	Explanation *Explanation
}

// CycleOf returns threads that wait for one another in a cycle, starting with the lowest.
func CycleOf(waiters []Waiter) []ThreadID {
	next := map[ThreadID]ThreadID{}
	for _, w := range waiters {
		if w.Holder >= 0 {
			next[w.Thread] = w.Holder
		}
	}
	for _, w := range waiters {
		seen := []ThreadID{w.Thread}
		for at := w.Thread; ; {
			n, ok := next[at]
			if !ok || len(seen) > len(waiters) {
				break
			}
			if n == w.Thread {
				return seen
			}
			seen = append(seen, n)
			at = n
		}
	}
	return nil
}
