// Package schedule says which execution is wanted (Plan) and how it went (Outcome).
// Strategies and the simplifier turn outcomes into plans; a target turns plans into
// outcomes. Neither knows the other: between them there is only an Executor.
package schedule

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// PointsVersion is the meaning of scheduling points this heddle has. A script recorded
// under another version cannot be followed.
const PointsVersion = abi.PointsVersion

// Step is one scheduling decision: which thread does its next operation, and what that
// operation is expected to be.
type Step struct {
	Thread trace.ThreadID
	// Wake is the thread to wake for OpCondSignal and OpFutexWake; -1 for none or any.
	Wake trace.ThreadID
	Site trace.Site
	// Choice is, for OpSelect, the case to try first, + 1; 0 for any.
	Choice int
	Op     trace.Op
	// Timeout says that the thread's wait, sleep or timer ended before its time, and so
	// overtook threads that could have run (trace.Event.Overtakes).
	Timeout bool
}

// Mode is how closely a script is followed.
type Mode uint8

const (
	// NoScript: the policy decides from the start.
	NoScript Mode = abi.ScriptNone
	// Strict: any difference ends the execution as trace.Diverged. For replay.
	Strict Mode = abi.ScriptStrict
	// Tolerant follows the script interval by interval and tolerates changed control
	// flow, blocked threads and condition variables (FSE'10 §4.2.1), then goes on with
	// the policy. For simplification.
	Tolerant Mode = abi.ScriptTolerant
)

// Delays bounds how long threads that could run may be kept from it, in virtual time, by the
// waits, sleeps and timers of others that end meanwhile; docs/signals.md has the model.
type Delays uint8

const (
	ShortDelays Delays = iota // Slack in all
	NoDelays                  // none: time passes only if it overtakes no thread
	AnyDelays                 // no bound
	BriefDelays               // Brief in all
)

// Slack is what ShortDelays allows in one execution.
const Slack = abi.SlackNs * time.Nanosecond

// Brief is what BriefDelays allows in one execution. A goroutine that is ready to run waits for so long on most machines
// from time to time: another one has the processor, or the garbage collector does.
const Brief = time.Millisecond

// Comparable is a bit of Plan.Seed, for Go programs: the random numbers that Go's library draws for its own uses (hash
// seeds of maps, whether a sync.Pool drops a value) do not depend on the seed, so that executions under
// different seeds can be compared.
const Comparable uint64 = 1 << 63

// Plan asks for one or more executions.
type Plan struct {
	// Tag is the caller's own: targets give the plan back with each outcome, and the tag in it.
	Tag    uint64
	Seed   uint64 // execution i of Repeat uses Seed+i
	Repeat int    // number of executions; 0 means 1

	Mode    Mode
	Script  []Step
	Threads []trace.Thread // names of the threads that Script speaks of, indexed by ThreadID

	Policy Policy
	Stay   float64 // Random: probability to stay with the running thread, 0 for plain
	Depth  int     // PCT: bug depth d, d-1 change points; Delay: delays; abi.ChangePoints of them at most
	Length int     // PCT, Delay: estimated number of points k
	// Walk: for each of Threads the number of interesting events of the thread and of all that it
	// creates, directly or not; empty if not known. Interesting are the instructions whose events
	// are; all events are, without any.
	Weights     []int
	Interesting []trace.Site

	Points   []trace.Site // memory instructions that are scheduling points; Sites has those of holds, too
	Holds    []Hold       // at most MaxHolds
	MaxSteps int          // step budget, 0 for the target's own
	// Cut ends an execution that has passed MaxSteps points as if the program ended there: cleanly, with ExpectStatus and
	// Outcome.Cut. Without, it is trace.Unfinished.
	Cut bool
	// Turns leaves decisions to Policy only in some of the turns of a loop. A target may ignore it.
	Turns Turns
	// FairAfter is the number of points with which the fair phase begins (docs/scheduler.md): 0 for half of MaxSteps,
	// Never for none. Where it is set, far more points without progress end an execution. FairSeed seeds the random
	// numbers of the phase, so that it changes nothing before.
	FairAfter int
	FairSeed  uint64
	Timeouts  bool // explore early time-outs of timed waits, and early timers, within Delays
	Delays    Delays
	Spurious  bool // explore spurious wake-ups of condition and futex waits

	// Cycles: a cycle of threads that wait for one another ends the execution where the last of them blocks, though
	// others can go on. Targets other than C programs go on until no thread can.
	Cycles bool

	// Haste: after a Go test, goroutines that may still go on are not waited for long. Only those that block and did nothing
	// meanwhile are a leak then. It changes nothing else of an execution.
	Haste bool

	Record   bool // want Outcome.Trace with every scheduling point, call stacks and output
	Output   bool // want Outcome.Ending.Output whether the execution is recorded or not; of a Go program, that of a clean execution
	Accesses bool // with Record: also accesses that are not points, malloc and free
	// Values, with Accesses: every access of the execution with its value, repeated ones and those
	// while no other thread exists included. Of Go programs, some accesses have no value (trace.FlagValue).
	Values bool
	// OnlyShared, with Accesses: of the accesses that Accesses adds, only those of the instructions Sharing, and
	// Outcome.Sharing. Targets other than C programs record all of them.
	// Known: Sharing has all that matters, so that no others are looked for. Outcome.Sharing and Outcome.LeftOut are nil then, and what
	// the program computes takes little longer than in an execution that is not recorded.
	OnlyShared bool
	Sharing    []trace.Site
	Known      bool
	// Functions, with Values: entries and exits of functions, where the target observes them (C and C++).
	Functions bool
	// States, with Watcher: before each scheduling point of the fair phase the watcher is shown an event trace.OpState, by which
	// it can tell whether the state of a thread recurs. The trace does not have them.
	States bool
	// WordsFrom, with States, is the number of points from which on the watcher is shown, after each such event, what the state
	// consists of (trace.OpWord); 0 for never. C and C++ only.
	WordsFrom int
	// Fault is injected into each execution (C and C++, with Values); nil for none. Its Event has no effect.
	Fault *trace.Fault
	// MaxAccesses is how many events Accesses adds at most (trace.Header.MaxAccesses): 0 for
	// as many as the target has memory for, AllAccesses for all of them. With OnlyShared it is as many as there is memory for, if
	// that is fewer.
	MaxAccesses int
	// Omit are memory instructions whose plain reads and writes are left out of the trace unless they are scheduling points: what a
	// long execution computes takes most of its memory. A target may ignore it.
	Omit []trace.Site
	// Watcher, if it is set, is shown every event of a recorded execution while it runs, with
	// the accesses that are not points whether Accesses asks for them or not, from number
	// SkipAccesses on.
	Watcher      Watcher
	SkipAccesses int
	// Watch asks for Outcome.Watched: the target looks for data races itself while the program
	// runs, and counts how often each memory instruction is executed. Only targets that have the
	// ability can do it (internal/target). It does not depend on Record; with Record, races also
	// have call stacks and their objects can be named.
	Watch bool
	// Visits, with Watch, orders the visits of threads to libraries that may order them in ways that are not known: each
	// visit happens after all before it. The races that are left are races, whatever these libraries do. Without
	// such a library it changes nothing.
	Visits bool

	// Stop ends a repeated plan at the first execution that failed, an exit status
	// other than ExpectStatus included.
	Stop         bool
	ExpectStatus int32
}

// Turns says in which turns of a loop a policy decides (docs/scheduler.md): where a thread visits an instruction for one
// of the first times, and in Visits visits from number From on. After such a first visit it decides in all threads for After
// points. Elsewhere a thread goes on as long as it can. Which points there are does not depend on Turns. Without Visits the policy decides everywhere.
type Turns struct{ Visits, From, After int }

// Never is the Plan.FairAfter of a plan without a fair phase.
const Never = maxCount

// AllAccesses is no bound for Plan.MaxAccesses.
const AllAccesses = -1

// Watcher is shown executions event by event. It is for what is wanted of executions that are
// too long to be kept. Its methods are called from the goroutine that called the target.
type Watcher interface {
	// Begin announces the first event of an execution. If the one before has not ended,
	// what was shown of it is void. memory is how many bytes the watcher may use, 0 for any
	// number.
	Begin(memory int64)
	// Event is the next event; it is valid until Event returns. Allocations are among the
	// events, whether they are part of the trace or not.
	Event(*trace.Event)
	// Unseen says that accesses are not shown. Before the first event they are those that
	// Plan.SkipAccesses leaves out, later all that follow.
	Unseen()
}

// Outcome is the result of one execution.
type Outcome struct {
	Index       int // which of Plan.Repeat
	Ending      trace.Ending
	Signature   uint64 // same for executions that order conflicting operations the same way
	Points      int
	Switches    int
	Preemptions int
	Threads     int
	Deviations  int          // Tolerant: steps skipped or inserted
	Passed      int          // Points that Plan.Turns left to the running thread
	Stretches   int          // quiet stretches of its threads (docs/scheduler.md#computation)
	FairAt      int          // Points when the fair phase began, 0 if it did not
	Trace       *trace.Trace // if Plan.Record; its Ending equals Ending
	Diverged    *Divergence  // if Ending.Kind is trace.Diverged
	Watched     *Watched     // if Plan.Watch; nil if the program had to be killed
	Holds       []HoldCount  // of each of Plan.Holds; nil if the program had to be killed
	// Relaxed are the atomics whose weaker behaviours are not executed, of all executions of the process so far.
	// Outcomes share the slice. RelaxedCut says that some are missing.
	Relaxed    []Relaxed
	RelaxedCut bool
	SetUp      SetUp
	// Cut says that Plan.Cut ended the execution. What was executed is judged as always; nothing is known of what would
	// have followed, such as the exit status, the output and leaks.
	Cut bool
	// External says that the execution waited for something that heddle does not control,
	// another process or the network: the same plan may give another execution.
	External bool
	// Random says that the recorded execution of a Go program drew a random number, or iterated
	// over a map: its outcome may depend on the seed of the plan.
	Random bool
	// Skipped says that a Go test ended the execution by skipping what it had left to do.
	Skipped bool
	// Unordered is the state of which the outcome depends on the order of calls, of two threads, that are not scheduling
	// points and that happens-before does not order. The trace does not tell their order.
	Unordered SharedState
	// Sharing are, with Plan.OnlyShared, the instructions that accessed memory which several threads accessed while there were
	// several, at least one of them to write, in ascending order. If Plan.Sharing has all of them, the recording has every
	// access to that memory. It is nil if no access was left out, or if the program had to be killed.
	Sharing []trace.Site
	// LeftOut are the accesses that Plan.OnlyShared left out, by the event of Trace that they precede, in ascending order.
	LeftOut []LeftOut
	// Shared says that the process had done other executions before, which may have left
	// something behind that the target cannot restore: only Run is exact.
	Shared bool
}

// LeftOut is a number of accesses that a thread made between its last event before Event and that one.
type LeftOut struct {
	Event    int // index into Trace.Events
	Accesses uint64
}

// SetUp says whether the execution repeated what the program does before it creates its first thread.
type SetUp struct {
	Continued bool       // no: it continued from there
	Because   string     // why later executions repeat it, although it takes long: the cause as a noun; empty for unknown
	Site      trace.Site // of the cause, 0 if it has no place
}

// SharedState is a set of kinds of state, outside of the program's memory, that its threads share.
type SharedState uint32

// The kinds of shared state.
const (
	StreamState  SharedState = 1 << iota // of stdio streams, and the contents of their files
	LibcState                            // of libc: the environment, random numbers, static results, the locale
	ThreadState                          // of threads and locks: names, processors, priorities, numbers, ceilings
	KeyState                             // keys of thread-specific data and their destructors
	ProcessState                         // of the process: working directory, umask, limits, exit handlers, flags of descriptors, mappings
	ClockState                           // virtual time: a thread read a clock while others ran
	MemoryState                          // memory that is mapped twice: accesses by one of its names are not compared with those by the other
	sharedStates                         // all kinds have lower bits
)

// Relaxed is an atomic that was performed. Executions are sequentially consistent, and no compare-exchange
// fails spuriously.
type Relaxed struct {
	Site  trace.Site
	Calls []trace.Site // of its function, innermost first, as far as they are known
	Order bool         // its memory order, or that of its failure, is weaker than seq_cst
	Weak  bool         // it is a compare-exchange that may fail spuriously
}

// Ends reports whether o is the outcome of the last execution of p: all that Repeat asks for
// have been done, or Stop ends it. A leak does not stop a plan; the runtimes have the same rule.
func (p *Plan) Ends(o *Outcome) bool {
	if o.Index+1 >= p.Repeat {
		return true
	}
	failed := o.Ending.Kind != trace.Leak && (o.Ending.Kind != trace.Clean || o.Ending.Status != p.ExpectStatus)
	return p.Stop && failed
}

// Divergence is the first difference between a strict script and its execution.
type Divergence struct {
	Step     int // index into Plan.Script
	Expected Step
	Met      Step // Thread is -1 where no thread was enabled
}

// Executor runs one execution (Plan.Repeat is ignored) and returns its outcome. An error
// is heddle's own failure, never the program's.
type Executor func(context.Context, Plan) (Outcome, error)

// ScriptOf is the script that repeats a recorded execution: one step for each event that
// was a scheduling decision.
func ScriptOf(t *trace.Trace) []Step { return Steps(t.Events) }

// Steps turns events into script steps, omitting those that were not scheduling decisions.
func Steps(events []trace.Event) []Step {
	out := make([]Step, 0, len(events))
	for i := range events {
		e := &events[i]
		if e.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		s := Step{Thread: e.Thread, Op: e.Op, Site: e.Site, Wake: -1, Timeout: e.Overtakes()}
		switch e.Op {
		case trace.OpCondSignal:
			s.Wake = trace.ThreadID(e.Value) - 1
		case trace.OpFutexWake:
			s.Wake = trace.ThreadID(e.Aux) - 1
		case trace.OpSelect:
			s.Choice = int(uint32(e.Aux))
		}
		out = append(out, s)
	}
	return out
}
