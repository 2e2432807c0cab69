package tinertia

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// ErrNotReproduced means that the schedule of the input no longer leads to its bug.
var ErrNotReproduced = errors.New("the recorded schedule no longer reproduces the recorded bug")

// ErrUndecided means that the schedule of the input, which is a hang, leads to an execution that does not end within its budget, and
// that does not show yet that its threads wait.
var ErrUndecided = errors.New("a few turns of each loop do not show yet that the threads wait; the execution is kept as it was found")

const (
	// DefaultMaxExecutions is the default of Options.MaxExecutions.
	DefaultMaxExecutions = 100_000
	// DefaultExtra is the default of Options.Extra.
	DefaultExtra = 5_000
)

// Batch executes plans, several at a time if it can. It calls done with the number of each plan and
// its outcome, in the order of the plans, until done returns false. Before that it calls look, if not
// nil, with each outcome: in any order, and from several goroutines. An outcome that look was called
// with may be replaced by that of another execution of the same plan; look is called with that one,
// too. An error is heddle's own failure.
type Batch func(ctx context.Context, plans []schedule.Plan, look func(int, *schedule.Outcome), done func(int, schedule.Outcome) bool) error

// Input is the trace to simplify and the oracle for its bug.
type Input struct {
	// Trace is a recorded execution that shows the bug. Its events must include every
	// scheduling point, with the enabled threads.
	Trace *trace.Trace
	// Same reports whether an execution with this ending shows the same bug. It is called from one
	// goroutine at a time.
	Same func(trace.Ending) bool
}

// Options configure Simplify; the zero value selects the defaults.
type Options struct {
	// Seed is the seed of every plan. It must be the one the trace was recorded with if
	// the program draws random numbers from heddle.
	Seed uint64
	// MaxSteps is the step budget of every execution; 0 means the target's default.
	MaxSteps int
	// Cut cuts an execution at the end of its budget (schedule.Plan.Cut): whether it would have failed later is not known.
	Cut bool
	// Delays applies to every execution. A sleep that has been moved may overtake other threads
	// within its bound; waits and timers overtake only where they did in the input.
	Delays schedule.Delays
	// MaxExecutions bounds the executions, including the one that checks the input; 0 means
	// DefaultMaxExecutions.
	MaxExecutions int
	// Extra bounds the executions of Restart after no operation helps any more, until it has
	// shown that no schedule costs less: 0 means DefaultExtra, and a negative number none.
	Extra int
	// ExtraTime bounds the time of these executions; 0 means no bound.
	ExtraTime time.Duration
	// Patience ends the search when the executions since the last gain have this many events in all,
	// and more than twice as many as those before it; 0 means no bound.
	Patience int
	// Kept is the number of scheduling decisions at the start of the trace that every execution begins with:
	// only those after them are simplified, without Restart and Elsewhere, which begin anew (FSE'10, §5.4).
	// Kept of a trace gives it for a number of context switches.
	Kept int
	// Batch executes the prefixes of Restart, if not nil, and the candidates of the other
	// operations while Width is more than 1. The result does not depend on how many plans it
	// executes at a time: candidates after an accepted one are executed in vain.
	Batch Batch
	// Width returns how many plans Batch executes at a time at present; nil means 1.
	Width func() int
	// Memory bounds about how many bytes executions and schedules may take that are remembered; 0
	// means no bound. Beyond it, fewer results are shown to be minimal.
	Memory int64
	// Accesses records every access to memory, so that Restart recognises executions that only order
	// independent operations differently. Executions with far more accesses than scheduling decisions
	// are recorded without.
	Accesses bool
	// Reorder returns an execution that orders the independent operations of t after its first kept scheduling
	// decisions for few context switches, or t itself where that gains nothing; nil for no StaticMerge.
	Reorder func(ctx context.Context, t *trace.Trace, kept int) (*trace.Trace, error)
	// Operations are the operations to use; nil means all. The published algorithm has RemoveLast,
	// MoveUp, MoveUpActions and MoveDown.
	Operations []Operation
	// room bounds the events kept in memory; 0 means remembered. For tests.
	room int
	// History keeps the trace of every accepted candidate in Result.Steps.
	History bool
	// Progress is called after every execution, if not nil.
	Progress func(Progress)
}

// Simplify searches for a simpler execution (see trace.Cost) that shows the same bug.
//
// The result is not nil unless the input is unusable. If an error of exec or the context cuts
// simplification short, Simplify returns that error, and the result holds the simplest execution
// found so far. Reaching MaxExecutions is not an error. If the input's own schedule does not show
// the bug, the error is ErrNotReproduced or ErrUndecided, and the result holds the input.
func Simplify(ctx context.Context, in Input, exec schedule.Executor, opts Options) (*Result, error) {
	if in.Trace == nil || in.Same == nil {
		return nil, errors.New("simplify: Input has no trace or no predicate")
	}
	if len(schedule.ScriptOf(in.Trace)) == 0 {
		return nil, errors.New("simplify: the trace has no scheduling decisions; record the execution with every scheduling point")
	}
	if v := in.Trace.Header.PointsVersion; v != 0 && v != schedule.PointsVersion {
		return nil, fmt.Errorf("simplify: the trace has scheduling points of version %d and this heddle has version %d; record the bug again, or use the heddle that recorded it (%s)", v, schedule.PointsVersion, in.Trace.Header.Heddle)
	}
	for _, op := range opts.Operations {
		if !op.Known() {
			return nil, fmt.Errorf("simplify: unknown operation %q; want one of %q", op, All())
		}
	}
	if opts.MaxExecutions == 0 {
		opts.MaxExecutions = DefaultMaxExecutions
		if opts.Extra > DefaultMaxExecutions {
			opts.MaxExecutions = opts.Extra
		}
	}
	if opts.Operations == nil {
		opts.Operations = All()
	}
	if opts.Kept < 0 || opts.Kept > 0 && opts.Kept >= len(choices(in.Trace.Events)) {
		return nil, fmt.Errorf("simplify: %d scheduling decisions cannot be kept of %d", opts.Kept, len(choices(in.Trace.Events)))
	}
	if opts.Kept > 0 {
		opts.Operations = slices.DeleteFunc(slices.Clone(opts.Operations), func(op Operation) bool { return op == Restart || op == Elsewhere })
	}
	if opts.Extra == 0 {
		opts.Extra = DefaultExtra
	}

	s := &search{
		ctx:  ctx,
		exec: exec,
		same: in.Same,
		opts: &opts,
		plan: schedule.Plan{
			Seed:         opts.Seed,
			Mode:         schedule.Tolerant,
			Policy:       schedule.Fair,
			Points:       in.Trace.Header.Points,
			MaxSteps:     opts.MaxSteps,
			Cut:          opts.Cut,
			Delays:       opts.Delays,
			Record:       true,
			Cycles:       in.Trace.Ending.BesideOthers(),
			ExpectStatus: in.Trace.Header.ExpectStatus,
		},
		header:  in.Trace.Header,
		memory:  newMemory(),
		batch:   opts.Batch,
		extra:   opts.Extra,
		visited: map[uint64]bool{},
		stats:   newStats(),
	}
	if opts.Memory > 0 {
		s.memory.room = int(min(remembered, opts.Memory/4/rememberedSize))
	}
	if opts.room > 0 {
		s.memory.room = opts.room
	}
	if opts.Kept > 0 {
		s.kept = schedule.Steps(choices(in.Trace.Events)[:opts.Kept])
		s.keptHash = hashSchedule(s.kept, in.Trace.Threads)
	}
	s.setCurrent(in.Trace)

	began := time.Now()
	before, drift := in.Trace, -1
	first, err := s.begin()
	if err == nil {
		drift = firstDifference(s.cur.steps, newSequence(first, opts.Kept).steps)
		if drift >= 0 {
			drift += opts.Kept
			// The recording does not replay, so it cannot be the result.
			before = first
			s.setCurrent(first)
		}
		err = s.simplify()
		if err == nil || errors.Is(err, errEnough) {
			err = cmp.Or(s.finish(), err)
		}
	}
	complete, reason := s.shown(err)
	cut := err != nil && !s.tried
	if errors.Is(err, errEnough) {
		err = nil
	}

	r := &Result{
		Trace:    s.cur.trace,
		Before:   trace.CostOf(before.Events),
		After:    s.cur.cost,
		Drift:    drift,
		Complete: complete,
		Unproven: reason,
		Kept:     opts.Kept,
		Cut:      cut,
		LastGain: s.gained, Afterwards: s.made - s.gained,
		GaveUp: cut && s.outOfPatience(),
		Table1: newTable1(ShapeOf(before), ShapeOf(s.cur.trace)),
		Table2: Table2{
			Bug:        in.Trace.Ending.Kind.String(),
			Iterations: s.iteration,
			Executions: s.made,
			Seconds:    time.Since(began).Seconds(),
		},
		Steps: append([]Accepted{}, s.steps...), // not nil: JSON has [], not null
	}
	for _, op := range All() {
		if slices.Contains(opts.Operations, op) {
			r.Operations = append(r.Operations, *s.stats[op])
		}
	}
	return r, err
}

// fewAccesses is how many accesses an execution may have, besides four for each of its scheduling
// decisions, to be recorded with its accesses.
const fewAccesses = 4000

// begin runs the input's schedule.
func (s *search) begin() (*trace.Trace, error) {
	s.plan.Accesses = s.opts.Accesses
	if s.plan.Accesses {
		s.plan.MaxAccesses = 4*(s.opts.Kept+len(s.cur.steps)) + fewAccesses
	}
	v, err := s.execute(s.cur.steps, s.cur.trace.Threads)
	if err != nil {
		return nil, err
	}
	if s.plan.Accesses && (s.gap == gapAccesses || !v.same) {
		// Its trace has some of the accesses, and must not become the result; or in each turn of a hang's loop they have other
		// values, as those of a deadline.
		s.plan.Accesses, s.plan.MaxAccesses = false, 0
		if v, err = s.execute(s.cur.steps, s.cur.trace.Threads); err != nil {
			return nil, err
		}
	}
	if s.opts.Progress != nil {
		s.opts.Progress(Progress{Executions: s.made, Cost: v.cost})
	}
	if v.strayed {
		return nil, fmt.Errorf("simplify: %w: it leaves the recorded execution in the part that is to be kept; was the program rebuilt or its input changed?", ErrNotReproduced)
	}
	if !v.same && v.trace.Ending.Kind == trace.Unfinished && s.cur.trace.Ending.Kind.Endless() {
		return nil, fmt.Errorf("not simplified: %w", ErrUndecided)
	}
	if !v.same {
		return nil, fmt.Errorf("simplify: %w: it ended with %v, and the recording with %v; was the program rebuilt or its input changed?",
			ErrNotReproduced, v.trace.Ending.Kind, s.cur.trace.Ending.Kind)
	}
	return v.trace, nil
}

// simplify runs until no operation succeeds.
func (s *search) simplify() error {
	if s.has(Coarsen) && len(s.cur.teis) > coarseAbove {
		for at := coarsenStart; ; {
			c, err := s.firstAcceptable(coarsen(s.cur, at), unlimited)
			if err != nil {
				return err
			}
			if c == nil {
				break
			}
			at = c.resume
			if err := s.staticMerge(); err != nil {
				return err
			}
		}
	}
	for {
		if err := s.algorithm1(); err != nil {
			return err
		}
		better, err := s.beyond()
		if err != nil || !better {
			return err
		}
	}
}

// tryRestart is restart as an operation of beyond.
func (s *search) tryRestart(limit int) (bool, error) {
	if !s.has(Restart) || s.exhausted || limit <= 0 {
		return false, nil
	}
	if s.atFloor() {
		s.exhausted = true
		return false, nil
	}
	better, exhausted, err := s.restart(limit)
	// A simpler execution only removes prefixes from those to be tried.
	s.exhausted = exhausted
	return better, err
}

// finish records the result without the accesses if the input has none.
func (s *search) finish() error {
	if !s.plan.Accesses || s.gained == 0 {
		return nil
	}
	s.plan.Accesses = false
	if err := s.ctx.Err(); err != nil {
		return err
	}
	out, err := s.exec(s.ctx, s.planOf(s.cur.steps, s.cur.trace.Threads))
	if err != nil {
		return err
	}
	s.made++
	if out.Trace == nil || !s.same(out.Ending) || trace.CostOf(out.Trace.Events) != s.cur.cost {
		return nil // the recording with accesses serves as well
	}
	t := *out.Trace
	t.Header = s.header.Executed(t.Header)
	s.cur = newSequence(&t, len(s.kept))
	return nil
}

// atFloor reports whether no execution at all can show the bug with fewer switches, or as many and fewer
// preemptions: a data race takes two threads, so both must have run.
func (s *search) atFloor() bool {
	c := s.cur.cost
	return c.Switches == 0 || c.Switches == 1 && c.Preemptions == 0 && s.cur.trace.Ending.Kind == trace.Race
}

// shown reports whether no schedule has fewer context switches than the current execution, or as
// many and fewer preemptions; if that is not shown, why states the reason.
func (s *search) shown(err error) (ok bool, why string) {
	switch gap := s.gap; {
	case s.atFloor():
		return true, ""
	case s.opts.Cut:
		return false, gapCut
	case s.opts.Kept > 0 && (err == nil || errors.Is(err, errEnough)):
		return false, gapKept(len(s.kept))
	case !s.exhausted && err != nil && !errors.Is(err, errEnough):
		return false, "simplification was cut short"
	case !s.exhausted:
		return false, "there are too many schedules with a lower cost to try them all"
	case s.apart != nil && s.apart.exhausted:
		gap = cmp.Or(gap, s.apart.frontier.gap)
		return gap == "", gap
	default:
		gap = cmp.Or(gap, s.frontier.gap)
		if gap == "" && s.shared {
			gap = gapShared
		}
		return gap == "", gap
	}
}

// gapKept is the reason why a trace of which n decisions were kept is not shown to be minimal.
func gapKept(n int) string {
	return fmt.Sprintf("its first %s scheduling decisions were kept as they are", wording.Thousands(n))
}

// algorithm1 is the main loop of FSE'10's Algorithm 1, with trace.Cost as the cost in line 23. It ends within an
// iteration if none of the passes since the last gain has gained anything: those that are left have seen the
// current execution.
func (s *search) algorithm1() error {
	passes := []struct {
		op    Operation
		gen   generator
		start int
	}{
		{RemoveLast, removeLast, math.MaxInt},
		{StaticMerge, nil, 0},
		{MoveUp, consolidateUp(s.has(MoveUpActions)), 0},
		{MoveDown, consolidateDown, math.MaxInt},
	}
	for idle := 0; ; {
		s.iteration++
		for _, p := range passes {
			before := s.cur.cost
			var err error
			switch {
			case p.op == StaticMerge:
				err = s.staticMerge()
			case s.has(p.op):
				_, err = s.pass(p.gen, p.start, unlimited)
			}
			if err != nil {
				return err
			}
			if s.cur.cost.Compare(before) < 0 {
				idle = 0
			} else if idle++; idle == len(passes) {
				return nil
			}
		}
	}
}

// extraOver reports whether ExtraTime has elapsed.
func (s *search) extraOver() bool { return !s.extraEnd.IsZero() && time.Now().After(s.extraEnd) }

// extraRound is the number of executions after which ExtraTime is checked.
const extraRound = 8 * restartBatch

// hopeless is the number of open prefixes per execution left from which Restart is taken to prove
// nothing within Options.Extra. It is more than one because an open prefix needs no execution if a
// cheaper one to the same state is found first.
const hopeless = 3

// rounds are the limits of the passes of beyond, which grow until passLimit: what helps often helps early in a
// pass, and then the rest of a costly pass before it would be in vain.
const firstRound, roundGrowth = 8, 4

// beyond tries the operations beyond the paper until one succeeds: each for a few executions, then each for
// more. A candidate of an earlier round is known and costs nothing. If Restart shows that no schedule has fewer
// switches and preemptions, the others only remove threads and events. If there are too many schedules
// for that, Restart continues after the others.
func (s *search) beyond() (bool, error) {
	if better, err := s.orTakeRejected(false, nil); better || err != nil {
		return better, err
	}
	restarted := 0 // executions of Restart in this call
	for round, last := firstRound, false; !last; round *= roundGrowth {
		limit := s.passLimit()
		last = round >= limit
		limit = min(limit, round)
		for _, p := range []struct {
			op  Operation
			gen generator
		}{
			{Cut, cut(s.has(RunOn))},
			{Restart, nil},
			{MoveTEI, moveTEI},
			{Shift, shift},
		} {
			var better bool
			var err error
			switch {
			case p.op == Restart:
				before := s.made
				better, err = s.tryRestart(limit - restarted)
				restarted += s.made - before
			case s.has(p.op) && !(p.op == MoveTEI && s.exhausted):
				better, err = s.orTakeRejected(s.pass(p.gen, 0, limit))
			}
			if better || err != nil {
				return better, err
			}
		}
		if round >= len(s.cur.teis)/4 && s.frontier != nil && !s.exhausted && len(s.frontier.open) > round*roundGrowth {
			// Restart is far from having tried them all.
			if better, err := s.elsewhere(); better || err != nil {
				return better, err
			}
		}
	}
	s.tried = true
	if s.gap != "" || s.opts.Cut || s.frontier != nil && s.frontier.gap != "" {
		s.extra = min(s.extra, s.opts.Extra/10) // it can prove nothing, only find a simpler execution
	}
	if s.opts.ExtraTime > 0 && s.extraEnd.IsZero() {
		s.extraEnd = time.Now().Add(s.opts.ExtraTime)
	}
	if s.exhausted {
		return s.restartApart()
	}
	if better, err := s.elsewhere(); better || err != nil {
		return better, err
	}
	for s.extra > 0 && !s.exhausted && !s.extraOver() {
		if s.frontier != nil && len(s.frontier.open) > hopeless*s.extra {
			s.extra = min(s.extra, s.opts.Extra/10)
		}
		if s.frontier != nil && s.frontier.gap != "" {
			s.extra = min(s.extra, s.affordable()) // it can prove nothing
		}
		before := s.made
		better, err := s.tryRestart(min(s.extra, extraRound))
		s.extra -= s.made - before
		if better || err != nil {
			return better, err
		}
		if s.made == before {
			break
		}
	}
	if s.exhausted {
		return s.restartApart()
	}
	return false, nil
}

// orTakeRejected returns the result of a pass. If that accepted nothing, it takes an execution that is simpler
// than the current one and that only the paper's test rejected.
func (s *search) orTakeRejected(better bool, err error) (bool, error) {
	if better || err != nil || !s.has(TakeRejected) {
		return better, err
	}
	return s.takeRejected()
}

func (s *search) has(op Operation) bool { return slices.Contains(s.opts.Operations, op) }

// firstDifference returns the index of the first step in which two scripts differ, or -1 if they
// are the same.
func firstDifference(a, b []schedule.Step) int {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	if len(a) != len(b) {
		return min(len(a), len(b))
	}
	return -1
}
