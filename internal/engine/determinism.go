package engine

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/analysis/reversible"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Determinism is the answer to whether an execution satisfies the pseudo-deterministic condition
// (TraceSanitizer, DSN 2020, Definition 1): whatever the schedule, each thread has the same events.
type Determinism struct {
	Answer reversible.Answer
	Why    string // of Undecided

	// Golden is the execution that was checked, with all accesses.
	Golden *trace.Trace
	// Reversal is the result for reversibility. Its events are Golden's.
	Reversal *reversible.Result
	// Reordered is an execution in which the reversible pair has the other order, in which a thread has other events, or
	// which has another output; nil unless the condition fails.
	Reordered *trace.Trace
	// Difference is the first difference between Golden and Reordered, if the condition fails because
	// no dependent pair is reversible and yet a thread had other events.
	Difference *ThreadDifference
	// Output is the first difference between the outputs of Golden and Reordered, if the condition fails because only these differ.
	Output *OutputDifference
	// Waits are of threads that wait for each other: in Reordered, which ends in a deadlock, or if the answer is Undecided, in
	// Golden, where they did not have to.
	Waits []DeadlockWait
	// Executions were made with other schedules, for local determinism, and to find a deadlock.
	Executions int
}

// ThreadDifference is an event of a thread that was another one in another execution.
type ThreadDifference struct {
	Thread trace.ThreadID // in the golden execution; -1 for a thread that it did not have
	// Golden and Other are indices of events, -1 if the thread had no more.
	Golden, Other int
	// GoldenValue and OtherValue are set if the events only differ in what they read, wrote or returned, or in where:
	// the canonical values, or places, as of a sanitised trace.
	GoldenValue, OtherValue string
	// Moved is true if Other is of an execution at other addresses, which a replay does not repeat.
	Moved bool
}

// DeadlockWait is what a thread of a deadlock waits for.
type DeadlockWait struct {
	Thread trace.ThreadID
	Op     trace.Op
	Object trace.Object
	Site   trace.Site
	// Holder holds Held meanwhile: Thread, or a thread that waits for it. Held is 0 if nothing is known to be held.
	Holder trace.ThreadID
	Held   trace.Object
	HeldAt trace.Site
}

// OutputDifference is the first line that differs between the outputs of two executions.
type OutputDifference struct {
	Line          int    // from 1
	Golden, Other string // the line in each, without its end; empty if the output has no more
	Moved         bool   // as in ThreadDifference
}

// DeterminismOptions bound a check.
type DeterminismOptions struct {
	// Solve is as in reversible.Options.
	Solve func(ctx context.Context, formula string) (string, error)
	// Steps is as in reversible.Options.
	Steps int
	// Executions with other schedules are compared with the recorded one.
	Executions int
	Seed       uint64
	// Moved starts the program at other addresses, for half of these executions. It may be nil.
	Moved func(ctx context.Context) (target.Target, error)
}

// CheckDeterminism decides whether a recorded execution of t's program satisfies the pseudo-deterministic
// condition. Reversibility is decided for all schedules, local determinism by comparing
// executions. A reversal is reported only if an execution shows it.
func CheckDeterminism(ctx context.Context, t target.Target, recorded *trace.Trace, opts DeterminismOptions) (*Determinism, error) {
	d := &Determinism{Answer: reversible.Undecided}
	if !t.Header().Instrumented {
		d.Why = "the program was not compiled with heddle cc, so its memory accesses are not seen"
		return d, nil
	}
	if slices.ContainsFunc(recorded.Modules, func(m trace.Module) bool { return strings.HasPrefix(path.Base(m.Path), "libomp") }) {
		d.Why = "what LLVM's library for OpenMP does for itself depends on the schedule: compile the program with gcc"
		return d, nil
	}
	plan, err := ReplayPlan(t, recorded)
	if err != nil {
		return nil, err
	}
	x := experiment.New(settingOf(t, recorded, verdict{expect: recorded.Header.ExpectStatus}))
	// Without the values, which of a thread's repeated accesses are recorded depends on the schedule.
	r, err := repeated(ctx, x, t, plan)
	if err != nil {
		return nil, err
	}
	o := r.Outcome
	if o.Ending.Kind == trace.Diverged {
		return nil, differs(recorded, o)
	}
	if err := judgeBoth(ctx, &o, recorded.Header.ExpectStatus, outputsOf(&recorded.Header)); err != nil {
		return nil, err
	}
	d.Golden = x.Base
	switch {
	case o.Cut:
		d.Why = "the execution was cut before it was over"
		return d, nil
	case o.Ending.Kind != trace.Clean:
		d.Why = fmt.Sprintf("the execution did not end cleanly (%v), so other schedules may have gone on", o.Ending.Kind)
		return d, nil
	case o.External:
		d.Why = "the execution waited for something outside heddle's control, so another one may differ for that reason"
		return d, nil
	}
	shown := func(tr *trace.Trace, err error) (bool, error) {
		if tr != nil {
			d.Reordered = tr
		}
		return tr != nil, err
	}
	confirm := func(ctx context.Context, p reversible.Pair, order []int) (bool, error) {
		return shown(reorder(ctx, x, p, order))
	}
	deadlock := func(ctx context.Context, found *reversible.Deadlock) (bool, error) {
		return shown(deadlockAfter(ctx, x, found.Order))
	}
	if d.Reversal, err = reversible.Check(ctx, d.Golden, reversible.Options{Steps: opts.Steps, Solve: opts.Solve, Confirm: confirm, ConfirmDeadlock: deadlock}); err != nil {
		return nil, err
	}
	d.Answer, d.Why = d.Reversal.Answer, d.Reversal.Why
	if found := d.Reversal.Deadlock; found != nil {
		if d.Answer == reversible.Undecided {
			if err := d.findDeadlock(ctx, x.Plan, t, opts); err != nil {
				return nil, err
			}
		}
		if d.Answer == reversible.Fails {
			d.Waits = deadlockWaits(d.Reordered)
			return d, nil
		}
		d.Waits = possibleWaits(d.Golden, found)
	} else if d.Answer != reversible.Holds {
		return d, nil
	}
	return d, d.compareSchedules(ctx, x.Plan, t, opts)
}

// reorder executes a reordering, and returns the execution if it reverses the pair, else nil.
func reorder(ctx context.Context, x *experiment.Experiment, p reversible.Pair, order []int) (*trace.Trace, error) {
	plan := x.Reordered(order)
	plan.Mode = schedule.Strict
	r, err := x.Run(ctx, plan)
	if err != nil || r.Trace == nil || r.Ending.Kind == trace.Unsupported || r.Ending.Kind == trace.Diverged || r.Ending.Kind == trace.Unfinished {
		return nil, err
	}
	before, after := threadEvents(x.Base), threadEvents(r.Trace)
	first := counterpart(after, before, x.Base, p.First)
	second := counterpart(after, before, x.Base, p.Second)
	if second < 0 || !sameOperation(&x.Base.Events[p.Second], &r.Trace.Events[second]) || first >= 0 && first < second {
		return nil, nil
	}
	return r.Trace, nil
}

// threadEvents returns the events of each thread that do not depend on how it was scheduled, by the thread's
// stable name. Accesses while all other threads have been joined are not among them: a trace has those only
// where they are scheduling points.
func threadEvents(t *trace.Trace) map[uint64][]int {
	out := map[uint64][]int{}
	unjoined := 0
	for i := range t.Events {
		ev := &t.Events[i]
		switch ops.Does(ev.Op) {
		case ops.None, ops.Announce, ops.Continue: // yields, queueing for a lock, and whether a goroutine waits, depend on the schedule
			continue
		case ops.Finish: // main may end the program first
			if t.Header.Target == "go" {
				continue
			}
		case ops.Join:
			if ops.Of(ev.Op).Done(ev) {
				unjoined--
			}
		}
		switch ops.Of(ev.Op).Of {
		case ops.SyncVar, ops.Futex: // what a goroutine that waits does for the other; whether a library had to wait
			continue
		}
		if _, ok := ev.Child(); ok {
			unjoined++
		}
		if unjoined == 0 && ev.Op.IsAccess() {
			continue
		}
		name := t.Threads[ev.Thread].Name
		out[name] = append(out[name], i)
	}
	return out
}

// counterpart returns the index in another execution of the event that stands where event e of golden does
// in its thread, or -1.
func counterpart(other, own map[uint64][]int, golden *trace.Trace, e int) int {
	name := golden.Threads[golden.Events[e].Thread].Name
	n, ok := slices.BinarySearch(own[name], e)
	if !ok || n >= len(other[name]) {
		return -1
	}
	return other[name][n]
}

func sameOperation(a, b *trace.Event) bool {
	return a.Op == b.Op && a.Site == b.Site && a.Size == b.Size
}

// compareSchedules executes the program under other schedules and compares each thread's events.
func (d *Determinism) compareSchedules(ctx context.Context, plan schedule.Plan, t target.Target, opts DeterminismOptions) error {
	plan.Points = experiment.SharedSites(d.Golden)
	seen := map[trace.Site]bool{}
	for _, s := range plan.Points {
		seen[s] = true
	}
	for i := range d.Golden.Events {
		// Accesses by a thread after it synchronised are where another schedule can differ.
		if ev := &d.Golden.Events[i]; ev.Op.IsAccess() && !seen[ev.Site] && i > 0 && !d.Golden.Events[i-1].Op.IsAccess() {
			seen[ev.Site] = true
			plan.Points = append(plan.Points, ev.Site)
		}
	}
	golden, err := canonical.Sanitize(canonical.Whole(d.Golden), sanitizedMemory)
	if err != nil {
		return err
	}
	defer golden.Close()
	var moved target.Target
	if opts.Moved != nil && opts.Executions > 1 {
		if moved, err = opts.Moved(ctx); err != nil {
			return err
		}
		defer moved.Close()
	}
	elsewhere := func(n int) bool {
		if opts.Executions < 4 {
			return moved != nil && n&1 != 0
		}
		return moved != nil && n&2 != 0
	}
	on := func(n int) target.Target {
		if elsewhere(n) {
			return moved
		}
		return t
	}
	return d.refute(ctx, plan, experiment.Everything, opts.Seed, opts.Executions, on, func(n int, other *trace.Trace) (bool, error) {
		if other.Ending.Kind == trace.Deadlock {
			d.Waits = deadlockWaits(other)
			return true, nil
		}
		diff := firstDifference(d.Golden, other)
		if diff == nil {
			if diff, err = otherValue(ctx, golden, d.Golden, other); err != nil {
				return false, err
			}
		}
		if diff == nil {
			if d.Output = otherOutput(d.Golden.Ending.Output, other.Ending.Output); d.Output == nil {
				return false, nil
			}
			d.Output.Moved = elsewhere(n)
		} else {
			diff.Moved = elsewhere(n)
		}
		d.Difference, d.Waits = diff, nil
		return true, nil
	})
}

// refute executes the program under at most limit other schedules until fails returns true for an execution: the condition then
// fails, and d.Reordered is that execution. Of plan, the scheduling points and the bits of the seed count. Execution n, of which
// see says what is recorded, runs on the target that on returns.
func (d *Determinism) refute(ctx context.Context, plan schedule.Plan, see func(schedule.Plan) schedule.Plan, seed uint64, limit int, on func(n int) target.Target, fails func(n int, other *trace.Trace) (bool, error)) error {
	n, unfinished := 0, 0
	s := settingOf(on(0), nil, verdict{})
	s.Run = func(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
		t := on(n)
		return traced(ctx, t, judged(t, verdict{expect: p.ExpectStatus}), p)
	}
	x := experiment.New(s).On(d.Golden, plan)
	for ; n < limit; n++ {
		r, err := x.Run(ctx, see(x.Sample(n, seed)))
		if err != nil {
			return err
		}
		d.Executions++
		if r.Verdict == experiment.Unknown {
			unfinished++
			continue
		}
		found, err := fails(n, r.Trace)
		if err != nil {
			return err
		}
		if found {
			d.Answer, d.Why, d.Reordered = reversible.Fails, "", r.Trace
			r.Trace.Header.Strategy = strategy.Describe(r.Plan)
			return nil
		}
	}
	if unfinished > 0 && d.Answer == reversible.Holds {
		d.Answer = reversible.Undecided
		d.Why = fmt.Sprintf("%s with another schedule had not ended after %s", wording.Count(unfinished, "execution"), wording.Count(x.Sample(0, 0).MaxSteps, "scheduling point"))
	}
	return nil
}

// sanitizedMemory is how much of a sanitised execution is kept in memory, in bytes.
const sanitizedMemory = 64 << 20

// otherValue returns the first event of another execution with the same operations, in its order, that has another value
// or accesses another place than the golden execution's, or nil. Names that depend on which thread used a page first are
// not compared, nor are the contents of ranges, which include what nobody has written.
func otherValue(ctx context.Context, golden *canonical.Execution, goldenTrace, otherTrace *trace.Trace) (*ThreadDifference, error) {
	other, err := canonical.Sanitize(canonical.Whole(otherTrace), sanitizedMemory)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	other.Ending = golden.Ending // see otherOutput
	c, err := canonical.Compare(ctx, golden, other, nil, nil)
	if err != nil {
		return nil, err
	}
	var first *canonical.Difference
	for i := range c.Threads {
		x := c.Threads[i].First
		if x == nil || x.Kind == canonical.Control || x.Index < 0 || pageNamed(&x.Golden) || pageNamed(&x.Other) {
			continue
		}
		if first == nil || x.Index < first.Index {
			first = x
		}
	}
	if first == nil {
		return nil, nil
	}
	d := &ThreadDifference{Thread: -1, Golden: experiment.Match(otherTrace, goldenTrace).Of(first.Index), Other: first.Index, GoldenValue: first.Golden.Value, OtherValue: first.Other.Value}
	if first.Kind == canonical.Address {
		d.GoldenValue, d.OtherValue = first.Golden.Place, first.Other.Place
	}
	if d.Golden < 0 {
		return nil, nil
	}
	d.Thread = goldenTrace.Events[d.Golden].Thread
	return d, nil
}

// otherOutput returns the first line that differs, or nil.
func otherOutput(golden, other []byte) *OutputDifference {
	if bytes.Equal(golden, other) {
		return nil
	}
	for n := 1; ; n++ {
		a, restA, moreA := bytes.Cut(golden, []byte{'\n'})
		b, restB, moreB := bytes.Cut(other, []byte{'\n'})
		if !bytes.Equal(a, b) || moreA != moreB {
			return &OutputDifference{Line: n, Golden: string(a), Other: string(b)}
		}
		golden, other = restA, restB
	}
}

// pageNamed reports whether an event's place or value is named by the thread that used its page first.
func pageNamed(e *canonical.Event) bool {
	return strings.Contains(e.Place, ":p") || strings.Contains(e.Value, ":p")
}

// firstDifference returns the first event of golden's threads, in its order, that is another one in the
// other execution, or nil.
func firstDifference(golden, other *trace.Trace) *ThreadDifference {
	own, theirs := threadEvents(golden), threadEvents(other)
	var first *ThreadDifference
	consider := func(d ThreadDifference) {
		if first == nil || d.Golden >= 0 && (first.Golden < 0 || d.Golden < first.Golden) {
			first = &d
		}
	}
	for id := range golden.Threads {
		name := golden.Threads[id].Name
		a, b := own[name], theirs[name]
		n := 0
		for n < len(a) && n < len(b) && sameShown(&golden.Events[a[n]], &other.Events[b[n]]) {
			n++
		}
		d := ThreadDifference{Thread: trace.ThreadID(id), Golden: -1, Other: -1}
		if n < len(a) {
			d.Golden = a[n]
		}
		if n < len(b) {
			d.Other = b[n]
		}
		if d.Golden >= 0 || d.Other >= 0 {
			consider(d)
		}
		delete(theirs, name)
	}
	for _, list := range theirs {
		consider(ThreadDifference{Thread: -1, Golden: -1, Other: list[0]})
	}
	return first
}

// sameShown reports whether a thread could tell two of its events apart: by the instruction, or by the
// result of a call.
func sameShown(a, b *trace.Event) bool {
	return sameOperation(a, b) && (a.Result == b.Result || ops.Of(a.Op).Of == ops.Barrier)
}
