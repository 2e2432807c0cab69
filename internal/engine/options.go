package engine

import (
	"fmt"
	"math"
	"path/filepath"
	"time"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Options configure Find. The zero value explores until Find finds a failure or the context ends.
type Options struct {
	Seed uint64
	// Runs bounds the executions of the exploration; 0 means no bound. It does not limit
	// confirmation and simplification.
	Runs int
	// Time bounds exploration, confirmation and simplification together; 0 means no bound. A first
	// execution without progress may exceed it until the target's watchdog ends it, and
	// confirmation may exceed it by Grace.
	Time time.Duration
	// Stale ends the exploration when this many executions in a row, and at least half of all, have
	// shown no new behaviour; 0 means never. Raced instructions that are not scheduling points yet
	// get their round first.
	Stale int
	// Ignore are keys (finding.Key) of findings that do not end the search. They are counted in
	// Report.Ignored.
	Ignore []string
	// All continues the search after a finding until it reaches another bound, and collects
	// distinct findings in Report.Findings. Each may take a quarter of the time left for
	// simplification.
	All bool
	// SyncOnly says that a search that finds nothing in a program without access hooks has found
	// nothing, rather than not been able to look (Unhooked).
	SyncOnly bool
	// Search makes the strategy; nil means a strategy.Portfolio of all samplers.
	Search func(strategy.Setting) strategy.Strategy
	// Workers run the exploration's plans; nil means the target alone. Find confirms and simplifies
	// failures in the target while the workers are idle. The finding does not depend on the number
	// of workers.
	Workers []Worker
	// Processes is how many targets of the program explore at once, without Workers, if the target is
	// a target.Replicator and the exploration takes long; 0 means 1. The result does not depend on it.
	Processes int
	eager     bool // start them at once; for tests

	// Save receives the state of an exploration that Time, Runs or an interrupt ended after at
	// least one execution, if it found nothing or All is set. It may be nil.
	Save func(state []byte) error
	// Resume continues the exploration from such a state. Program and options must be the same
	// except for Time, Runs and Workers; otherwise Find fails with a strategy.ErrState. Findings,
	// races and leaks seen before are not reported again.
	Resume []byte
	// ExpectStatus is the exit status of a good execution; nil means 0.
	ExpectStatus *int32
	// Points are memory instructions that are scheduling points from the start.
	Points []trace.Site
	// MaxSteps is the step budget of an execution; 0 means the target's default.
	MaxSteps int

	// Cut is the number of scheduling points after which every execution is cut (schedule.Plan.Cut), the first one included; 0 means
	// that none is. If nil, the search cuts part of the executions if the first one is long, and in part of the others leaves decisions to
	// their policy only in some turns of loops.
	Cut *int

	// By default, timeouts, sleeps and timers may expire early and so overtake enabled threads,
	// within schedule.Slack in total. NoEarlyTimeouts rules this out; EarlyTimeouts removes the
	// bound.
	NoEarlyTimeouts bool
	EarlyTimeouts   bool
	// EarlyAside sets failures aside that need a timer to fire early (early.go): they are not findings, and listed in Report.Early.
	// EarlyTimeouts and NoEarlyTimeouts overrule it.
	EarlyAside bool

	// Races says what a data race is to the search. A race is seen only in a watched execution.
	Races Races
	// WatchMore watches about half of the executions where that is cheap, as Races == RacesFail does.
	WatchMore bool
	// Untold reports whether the library at path orders threads in a way that nothing tells the
	// analyses. While one is loaded, a race may be ordered after all: it is listed, with
	// Report.RacesUnconfirmed, but is not a finding. Nil means that no library does.
	Untold func(path string) bool
	// Suppressed reports whether a race, a deadlock or a misuse is not to be reported, by the name of a
	// race's object and the call stacks of those involved, innermost site first. Such findings are set
	// aside like those in Ignore, and such races are not in Report.Races. It may be nil.
	Suppressed func(kind trace.Kind, object string, stacks [][]trace.Site) bool
	// LeakFails reports whether a leaked goroutine is a failure, which it then is if nothing worse
	// is found. If nil, leaks are only listed in Report.Leaks.
	LeakFails func(Leak) bool
	// StopWhenSequential ends the exploration after the first execution if no other execution is
	// possible (Report.Sequential).
	StopWhenSequential bool
	// Spurious allows spurious wake-ups of condition and futex waits.
	Spurious bool

	// Explain fills in Report.Search. Measuring the time of each execution makes a search slower.
	Explain bool

	// Keep writes a trace as soon as it is available and returns the file name. original is empty
	// for the execution as found, and the name of that execution's file for the simplified one. If
	// nil, traces are not written.
	Keep func(t *trace.Trace, original string) (string, error)
	// NoSimplify skips simplification.
	NoSimplify bool
	Simplify   SimplifyOptions

	// Why names what the explanation of a finding speaks of. If nil, findings are not explained.
	Why *report.Running
	// KeepPassing writes the execution that does not fail beside the trace file of a finding, and returns its name.
	KeepPassing func(passing *trace.Trace, file string) (string, error)
	// SaveCause saves the explanation of a finding in its trace and in the file that Keep has written. If nil, only the trace in
	// memory has it.
	SaveCause func(t *trace.Trace, file string, c *Cause)

	// Where formats a site of the program for the report. Nil means module and offset.
	Where func(s trace.Site) string
	// Locate returns the location of a site, for keys and for the place of a finding. Nil means
	// Where.
	Locate finding.Locate
	// Objects names an object of a trace as of an event. Nil means region and offset.
	Objects func(t *trace.Trace, o trace.Object, size uint32, at int) string
}

// Races says what an execution that ends normally, or in a finding that was set aside, is if its
// accesses race. In every case Report.Races lists the races seen.
type Races int

const (
	RacesIgnored Races = iota // as good as one without a race
	// RacesReported makes the first race that reproduces the finding, of kind trace.Race, if the
	// search finds nothing worse. The search goes on as if it had not seen the race, except that it
	// ends after raceShare of Options.Time, which leaves time to simplify the race. With Options.All
	// it is the same as RacesFail.
	RacesReported
	RacesFail // a finding of kind trace.Race, like any other
)

// raceShare is the part of Options.Time after which a search for the consequences of a race ends.
const raceShare = 0.75

// After leakShare of Options.Time a search ends that has seen goroutines left behind: they are looked at once more, and are
// the finding if Options.LeakFails says so. Otherwise noteShare is enough.
const (
	leakShare = 0.75
	noteShare = 0.9
)

// MaxOutput is how many bytes of an execution's output are kept; of more, the beginning and the end.
const MaxOutput = ipc.OutputKept

func (o *Options) delays() schedule.Delays {
	switch {
	case o.NoEarlyTimeouts:
		return schedule.NoDelays
	case o.EarlyTimeouts:
		return schedule.AnyDelays
	}
	return schedule.ShortDelays
}

// SimplifyOptions configure a simplification.
type SimplifyOptions struct {
	Executions int           // 0 means the simplifier's default
	Time       time.Duration // 0 means no bound
	// ExtraTime bounds the further search, after no operation helps any more, for a simpler
	// execution or a proof that none exists: 0 means no bound but Time. NoExtra skips this
	// search, and Endless removes its bound on executions.
	ExtraTime time.Duration
	NoExtra   bool
	Endless   bool
	// Patience ends the search when long executions gain nothing, as tinertia.Options.Patience.
	Patience int
	MaxSteps int // step budget of an execution; 0 means the target's default
	// Suffix simplifies only the last context switches, of which there are that many, and keeps the schedule
	// before as it is (tinertia.Options.Kept); 0 means all. A trace that has no more is simplified whole.
	Suffix int
	// Whole does not search for the failure of a long execution in executions that are cut.
	Whole bool
	// Objects is like Options.Objects.
	Objects func(t *trace.Trace, o trace.Object, size uint32, at int) string
	// Processes is how many targets of the program execute candidates at once, if the target is a
	// target.Replicator and simplification takes long; 0 means 1. The result does not depend on it.
	Processes int
	Memory    int64 // bounds what is remembered, as tinertia.Options.Memory
	eager     bool  // start the targets at once; for tests
	// NoStatic skips reordering the independent operations of the recorded execution.
	NoStatic bool
	// Where and Locate are like those of Options; a search uses those instead.
	Where  func(s trace.Site) string
	Locate finding.Locate
}

// extra returns the bound on the executions of the further search, as tinertia.Options.Extra.
func (o *SimplifyOptions) extra() int {
	switch {
	case o.NoExtra:
		return -1
	case o.Endless:
		return math.MaxInt
	}
	return 0
}

// Progress is reported by Find and Simplify, from one goroutine at a time: during exploration at
// most ten times a second, and at every change of Phase.
type Progress struct {
	Phase      Phase
	Executions int // of this and earlier phases
	PerSecond  float64
	Behaviours int // distinct orders of conflicting operations seen
	Points     int // memory instructions that are scheduling points
	Round      int
	Elapsed    time.Duration
	// Length is the scheduling points of the last execution that ran to its end, 0 unless the first was long, and Cut the number of
	// executions that were cut.
	Length, Cut int
	// Cost is the cost of the simplest failing execution so far, while simplifying.
	Cost *trace.Cost
	// Race is the confirmed data race that is kept back while the search goes on for what it leads to, nil while no race has been.
	Race *Finding
	// Long is where an execution is that has run for several seconds. Progress with it may be reported at the same time as
	// other progress, and has the elapsed time besides.
	Long *target.Position
}

// Phase is what a search is doing.
type Phase string

const (
	Exploring   Phase = "explore"
	Confirming  Phase = "confirm"
	Simplifying Phase = "simplify"
)

// where formats a site with named, or as module and offset if named is nil.
func where(named func(trace.Site) string, modules []trace.Module, s trace.Site) string {
	if named != nil {
		return named(s)
	}
	return place(modules, s)
}

// caller formats the program's own call of a site with locate, or the site itself with named if locate
// is nil.
func caller(locate finding.Locate, named func(trace.Site) string, modules []trace.Module, s trace.Site, calls []trace.Site) string {
	if locate == nil {
		return where(named, modules, s)
	}
	return finding.Caller(s, calls, locate).Text
}

// callsOf returns the call stack of an access, innermost first, or nil if the trace does not have it.
func callsOf(t *trace.Trace, a *trace.Access) []trace.Site {
	if t == nil || int(a.Stack) >= len(t.Stacks) {
		return nil
	}
	return t.Stacks[a.Stack]
}

// place formats a site as module and offset.
func place(modules []trace.Module, s trace.Site) string {
	m := s.Module()
	switch {
	case s == 0:
		return "an unknown place"
	case m >= 0 && m < len(modules):
		return fmt.Sprintf("%s+%#x", filepath.Base(modules[m].Path), s.Offset())
	default:
		return fmt.Sprintf("module %d+%#x", m, s.Offset())
	}
}
