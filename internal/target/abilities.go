package target

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Optional abilities of a target. Each is an interface in this file, found with As; nothing outside
// this package asserts a target's type.

// As returns t with the ability T, looking through targets that wrap others (see Wrapper). ok is
// false if neither t nor a target it wraps has the ability.
func As[T any](t Target) (ability T, ok bool) {
	for t != nil {
		if a, ok := t.(T); ok {
			return a, true
		}
		w, ok := t.(Wrapper)
		if !ok {
			break
		}
		t = w.Unwrap()
	}
	return ability, false
}

// Wrapper is a target that adds something to another one and delegates the rest to it.
type Wrapper interface {
	Target
	Unwrap() Target
}

// Positioned is the ability to tell where the running execution is.
type Positioned interface {
	// Position returns where the execution is that has run for a second or longer, and false if none has. It may be
	// called from any goroutine.
	Position() (Position, bool)
	// Expire ends the execution that Position told, if it still runs, as if the time of the watchdog were over. It may be called
	// from any goroutine.
	Expire(at Position)
}

// Position is where a running execution is.
type Position struct {
	Plan      schedule.Plan // of the execution, with Repeat as it was given
	Index     int           // of the execution in it
	Execution uint64        // a number that no other execution of the target has

	For    time.Duration // since it began
	Points int           // scheduling points that it has passed
	Thread trace.ThreadID
	Site   trace.Site // of the last of them, 0 if it has passed none
	// Threads says where its threads were after Told, as trace.Ending.Waiters does; nil unless it has run for several seconds.
	// It has the first 64 threads at most. Spins says of each, if it spins for long, at how many steps in a row it observed nothing
	// new; the thread's Op, Site and Object are those of such an observation.
	Threads []trace.Waiter
	Spins   []int
	Told    time.Duration
}

// RaceWatcher is the ability to find an execution's data races while the program runs, without the
// accesses leaving it: schedule.Plan.Watch.
type RaceWatcher interface {
	// WatchesRaces reports whether the program's accesses can be watched.
	WatchesRaces() bool
}

// Watches reports whether t carries out schedule.Plan.Watch.
func Watches(t Target) bool {
	w, ok := As[RaceWatcher](t)
	return ok && w.WatchesRaces()
}

// Visited is the ability to tell which libraries two threads have visited in an execution of a plan with schedule.Plan.Visits.
type Visited interface {
	Visited(path string) bool
}

// Replicator is the ability to run one program in several targets at once.
type Replicator interface {
	// Replica returns a function that starts another target of the same program, configured as this
	// one is now. A plan gives the same outcome on both, unless the execution uses something outside
	// of the program, such as files: it may then end as trace.Unsupported. The function may be called from any goroutine,
	// any number of times. It is nil if executions of the program are known to share something.
	Replica() func(context.Context) (Target, error)
}

// Sharer is the ability to run executions one after another in a process, in much less time than
// each in its own. One may affect the next: schedule.Outcome.Shared.
type Sharer interface {
	// Shares reports whether the executions of a Stream share processes.
	Shares() bool
}

// Shares reports whether the executions of a Stream of t share processes.
func Shares(t Target) bool {
	s, ok := As[Sharer](t)
	return ok && s.Shares()
}

// Isolation is how many of the executions of a target that can repeat them in a process have one of
// their own, in which nothing has run before. A single execution (Target.Run) shares its process with
// the execution that warms it up unless each has its own.
type Isolation int

const (
	SharedProcesses Isolation = iota // they follow one another in a process, after one that warms it up
	SomeNew                          // of a Stream, the first ones and some later ones have their own
	EachNew                          // each has its own
)

// Isolator is the ability to choose between shared processes and new ones.
type Isolator interface {
	// Isolate sets how later executions are isolated, and returns how they were until now. Each has
	// its own process in any case if the program cannot be repeated in one.
	Isolate(Isolation) (before Isolation)
	Isolation() Isolation
}

// Isolate sets how later executions of t are isolated, if t is an Isolator. restore undoes that.
func Isolate(t Target, how Isolation) (restore func()) {
	i, ok := As[Isolator](t)
	if !ok {
		return func() {}
	}
	before := i.Isolate(how)
	return func() { i.Isolate(before) }
}

// AsRecorded isolates executions of t as the recorded one was isolated. restore undoes that.
func AsRecorded(t Target, recorded *trace.Header) (restore func()) {
	how := SharedProcesses
	if recorded.Isolation == trace.IsolationProcess {
		how = EachNew
	}
	return Isolate(t, how)
}

// Solitary is the ability to do without processes that are started before they are needed.
type Solitary interface {
	// Alone ends such processes, and starts no others.
	Alone()
}

// Omitter is the ability to omit synchronisation calls that were named when the target was started.
type Omitter interface {
	// Omitted returns how often each call was omitted, in the order in which the calls were named.
	Omitted() []Omission
}

// Omission is an omitted call.
type Omission struct {
	Call  string // as the user wrote it, CALL@FILE:LINE
	Times uint64 // how often it was omitted, over all executions so far
}

// LockTrier is the ability to execute lines of the program with a lock held, as an experiment. The lines were
// named when the target was started.
type LockTrier interface {
	// TriedLocks returns the ranges of lines, in the order in which they were named.
	TriedLocks() []TriedLock
}

// TriedLock is a lock that threads hold in a range of lines.
type TriedLock struct {
	Range   string // as the user wrote it, LOCK@FILE:FROM-TO
	Lock    string
	Lines   string   // FILE:FROM-TO
	Own     bool     // the program has no variable of that name: it is a lock of its own
	Others  []string // if Own, names of mutexes that the program has, some of them if it has many
	Times   uint64   // how often a thread entered the range, over all executions so far
	Nearest string   // the lines nearest to the range in which heddle sees the program, "line 3 and 7"
}

// Name returns the lock's name, and says if it is not the program's.
func (l TriedLock) Name() string {
	if l.Own {
		return l.Lock + ", a lock of its own,"
	}
	return l.Lock
}

// Debuggable is the ability to run one execution with gdb or lldb attached to its process.
type Debuggable interface {
	// Debug runs one execution as Target.Run does and returns when the debugger has ended. ended
	// reports whether the execution ended too; o is its outcome then. The debugger gets heddle's
	// standard files and terminal. events is the number of events of the plan's execution, for the
	// debugger's messages.
	Debug(ctx context.Context, debugger Debugger, plan schedule.Plan, events int) (o schedule.Outcome, ended bool, err error)
}

// Debugger is a program with gdb's or lldb's command line.
type Debugger struct {
	Path string
	LLDB bool
	At   *int // the event of the trace after which to stop first; nil for main
}

// DebugLaunchable is the ability to run one execution in a process that a debugger starts, as Delve
// does with Go programs.
type DebugLaunchable interface {
	// Debug runs one execution as Target.Run does and returns when the debugger has ended. debugger
	// is its command line; the program's arguments are appended. The debugger gets heddle's
	// standard files and terminal.
	Debug(ctx context.Context, debugger []string, plan schedule.Plan) error
}

// CodeScanner is the ability to search the program's files.
type CodeScanner interface {
	// Uncontrolled says in phrases what the modules loaded so far contain that heddle does not control, and that may
	// differ between executions of one schedule or depend on an order that is not enumerated.
	Uncontrolled() []string
	// Unhooked returns the number of atomic instructions in modules with access hooks before which no hook is called, the first of
	// them, and the source files in assembly language that access memory. What such code orders, heddle does not know.
	Unhooked() (n int, first trace.Site, files []string)
}
