package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Necessity is what executions without an interleaving show of a failure that occurred with it: of those in which r
// comes before p, and of those in which it comes after c, how many passed and how many failed in the same way.
type Necessity struct {
	Passed, Failed [2]int
	found          *occurrence // without which the execution that has it passes; nil if none was found
}

// Without returns the executions that speak against the interleaving: it is to blame only if the failure is gone
// both with r before p and with r after c, as far as such executions could be made. Where p, r and c fail in
// one of these orders too, making p and c atomic would not prevent it.
func (n *Necessity) Without() int {
	for side := range n.Failed {
		if n.Failed[side] > 0 && n.Passed[side] == 0 {
			return n.Failed[side]
		}
	}
	return 0
}

// necessityRuns bounds the executions of Necessary on each side.
const necessityRuns = 48

// Necessary repeats the failing execution of the setting, which the seed's plan made, so that an interleaving which occurred in it does not: r comes
// before p, or after c, and the rest of the schedule is followed as closely as possible. Where it occurred several times, one
// occurrence after the other is removed.
//
// These executions do not count: those that pass although the same threads do the same in the order that failed
// (turn.control), because then another change did it; and those that fail after r's thread has acted on a read that
// was no longer true, because then r's own read and write are what c comes between.
func Necessary(ctx context.Context, s experiment.Setting, seed uint64, want *atomicity.Interleaving) (n Necessity, err error) {
	failing := s.Recorded
	s.Executions = necessityRuns
	for side := range n.Passed {
		x := &remover{Experiment: experiment.New(s).On(failing, schedule.Plan{Seed: seed, ExpectStatus: failing.Header.ExpectStatus, Points: failing.Header.Points}), want: want, side: side, n: &n}
		x.Plan = x.Reordered(experiment.First(len(failing.Events)), want.P.Site, want.R.Site, want.C.Site)
		x.seen = map[string]bool{x.order(failing): true}
		for at := failing; at != nil && err == nil; {
			at, err = x.remove(ctx, at)
		}
		if err = unlessLimit(err); err != nil {
			break
		}
	}
	return n, err
}

// remover removes occurrences of an interleaving from a failing execution.
type remover struct {
	*experiment.Experiment
	want *atomicity.Interleaving
	side int // 0: r comes before p; 1: after c
	n    *Necessity
	seen map[string]bool // orders of executions from which it went on
}

// order is the order of p, r and c in an execution.
func (x *remover) order(t *trace.Trace) string {
	var b strings.Builder
	for i := range t.Events {
		if ev := &t.Events[i]; is(ev, x.want.P) || is(ev, x.want.R) || is(ev, x.want.C) {
			fmt.Fprintf(&b, "%d %x,", ev.Thread, uint64(ev.Site))
		}
	}
	return b.String()
}

// remove removes one occurrence from an execution. It returns the execution in which others are left, nil if no
// execution does, or once the side is decided.
func (x *remover) remove(ctx context.Context, t *trace.Trace) (*trace.Trace, error) {
	base := decisive(t, []atomicity.Interleaving{*x.want})
	on := x.On(base, x.Plan)
	pairs := aroundRemote(base, x.want.Triple, x.side)
	for _, o := range pairs {
		first, second := o.side(x.side)
		first, second = sections(base, first, second)
		for _, turn := range on.Turns(first, second) {
			r, err := on.Run(ctx, on.Follow(turn.Turned()))
			if err != nil {
				return nil, err
			}
			switch {
			case r.Trace == nil:
			case r.Verdict == experiment.Passes:
				control, err := on.Run(ctx, on.Follow(turn.Control()))
				if err != nil {
					return nil, err
				}
				if control.Trace != nil && control.Verdict == experiment.Same {
					x.n.Passed[x.side]++
					if x.n.found == nil {
						x.n.found = o
					}
					return nil, nil
				}
			case r.Verdict != experiment.Same:
			case atomicity.Exercised(r.Trace, *x.want)[0]:
				// r may have passed one of several p or c: then it goes on from there.
				if left, order := len(aroundRemote(r.Trace, x.want.Triple, x.side)), x.order(r.Trace); left <= len(pairs) && !x.seen[order] {
					x.seen[order] = true
					return r.Trace, nil
				}
			default:
				remote := &base.Events[o.r]
				if first, size := remote.Object.Bytes(uint64(max(remote.Size, 1))); !atomicity.StaleRead(r.Trace, remote.Thread, first, size) {
					x.n.Failed[x.side]++
					return nil, nil
				}
			}
		}
	}
	return nil, nil
}

// is reports whether an event is of a statement's instruction.
func is(ev *trace.Event, s atomicity.Statement) bool { return ev.Site == s.Site && ev.Op == s.Op }

// aroundRemote returns the occurrences of the interleaving, the last first. Where the thread has not come to c, it counts as one for side 0.
func aroundRemote(t *trace.Trace, want atomicity.Triple, side int) (list []*occurrence) {
	for r := len(t.Events) - 1; r >= 0; r-- {
		remote := &t.Events[r]
		if !is(remote, want.R) {
			continue
		}
		before := map[trace.ThreadID]int{} // the last access of each other thread
		for i := range r {
			if ev := &t.Events[i]; ev.Thread != remote.Thread && atomicity.Accesses(ev) && race.Overlap(ev, remote) {
				before[ev.Thread] = i
			}
		}
		for _, thread := range slices.Sorted(maps.Keys(before)) {
			p := before[thread]
			if !is(&t.Events[p], want.P) {
				continue
			}
			c := r + 1
			for c < len(t.Events) && !(t.Events[c].Thread == thread && atomicity.Accesses(&t.Events[c]) && race.Overlap(&t.Events[c], remote)) {
				c++
			}
			switch {
			case c < len(t.Events) && !is(&t.Events[c], want.C):
			case c < len(t.Events):
				list = append(list, &occurrence{t, p, r, c})
			case side == 0:
				list = append(list, &occurrence{t, p, r, -1})
			}
		}
	}
	return list
}

// sections returns, for two events that critical sections of one lock keep apart, the acquisitions that begin their
// threads' outermost sections, and otherwise the events: only sections as a whole can change places.
func sections(t *trace.Trace, a, b int) (first, second int) {
	outerA, heldA := enclosing(t, a)
	outerB, heldB := enclosing(t, b)
	for lock := range heldA {
		if heldB[lock] && outerA < outerB {
			return outerA, outerB
		}
	}
	return a, b
}

// enclosing returns the locks that an event's thread holds there, and the first of their acquisitions.
func enclosing(t *trace.Trace, event int) (outermost int, locks map[trace.Object]bool) {
	outermost, locks = event, map[trace.Object]bool{}
	for i := range event {
		ev := &t.Events[i]
		if ev.Thread != t.Events[event].Thread {
			continue
		}
		for lock := range locks {
			if ops.Releases(ev) == lock && ops.Does(ev.Op) != ops.Wait { // a wait acquires it again
				delete(locks, lock)
			}
		}
		if len(locks) == 0 {
			outermost = event
		}
		if lock := ops.Acquires(ev); lock != 0 && ops.Of(ev.Op).Done(ev) {
			if len(locks) == 0 {
				outermost = i
			}
			locks[lock] = true
		}
	}
	return outermost, locks
}

// CheckBugs tells of the interleavings with which executions failed whether they are to blame, and which executions show it. If the
// context's time limit ends it, the others are Unchecked, without an error.
func CheckBugs(ctx context.Context, t target.Target, search *strategy.CTrigger, r *Report, tell func(done, of int)) error {
	if s := search.Sharing(); s != nil {
		t = narrowed{t, s}
	}
	h := t.Header()
	v := verdict{expect: r.ExpectStatus, outputs: outputsOf(&h)}
	targets := search.Targets()
	var all []atomicity.Interleaving
	for i := range targets {
		all = append(all, targets[i].Interleaving)
	}
	open := map[*strategy.Target]*blame{} // for an explanation to decide
	for i := range targets {
		x := &targets[i]
		if x.Failing == nil {
			continue
		}
		if x.Unchecked = true; ctx.Err() != nil {
			continue
		}
		tell(i, len(targets))
		b, err := checkBug(ctx, settingOf(t, x.Failing, v), x, all)
		if ctx.Err() != nil || errors.Is(err, errHasty) {
			continue
		}
		if err != nil {
			return err
		}
		x.Unchecked = false
		if x.With.Failed == 0 || x.Without.Passed == 0 {
			x.Unneeded = search.FailedWithout(&x.Interleaving, func(e *trace.Ending) bool {
				return finding.Of(*e, t.Modules()).Same(finding.Of(x.Failing.Ending, t.Modules()))
			})
		} else if b != nil && b.guarded == (x.With.Passed == 0) {
			open[x] = b
		}
	}
	for i := range targets {
		if x := &targets[i]; open[x] != nil {
			open[x].explain(ctx, t, x, r.ExpectStatus)
		}
	}
	return nil
}

// narrowed is a target whose recordings have only those accesses that are scheduling points or by some instructions: what access
// shared memory, so that programs that compute can be recorded.
type narrowed struct {
	target.Target
	sharing []trace.Site
}

// Unwrap implements target.Wrapper.
func (n narrowed) Unwrap() target.Target { return n.Target }

// Run implements target.Target.
func (n narrowed) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	return n.Target.Run(ctx, n.narrow(p))
}

// Stream implements target.Target.
func (n narrowed) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	return n.Target.Stream(ctx, func() (schedule.Plan, bool) {
		p, ok := next()
		return n.narrow(p), ok
	}, done)
}

func (n narrowed) narrow(p schedule.Plan) schedule.Plan {
	if p.Accesses && p.Watcher == nil {
		p.OnlyShared, p.Sharing, p.Known = true, n.sharing, true
	}
	return p
}

// blame is what an interleaving is blamed for.
type blame struct {
	*occurrence
	guarded bool // a lock is held at each of its accesses
}

// errHasty is the error of checkBug if executions are so long that too few were made in the time that one interleaving may take.
var errHasty = errors.New("too few schedules in the time")

// checkBug executes schedules near the failing execution of a target with the interleaving and without it. It returns the occurrence that it
// tried, nil for none.
func checkBug(ctx context.Context, s experiment.Setting, x *strategy.Target, all []atomicity.Interleaving) (*blame, error) {
	n, err := Necessary(ctx, s, x.FailingSeed, &x.Interleaving)
	if err != nil {
		return nil, err
	}
	if x.Needless = n.Without(); x.Needless > 0 {
		return nil, nil
	}
	s.Executions = nearbyRuns
	var end time.Time
	if limit, ok := ctx.Deadline(); ok {
		s.Time = max(time.Until(limit)/2, 1)
		end = time.Now().Add(s.Time)
	}
	c := counter{
		Experiment: experiment.New(s).On(x.Failing, schedule.Plan{Seed: x.FailingSeed, ExpectStatus: x.Failing.Header.ExpectStatus, Points: x.Failing.Header.Points}),
		related:    related(&x.Interleaving, all), seen: map[uint64]bool{},
	}
	var points []trace.Site
	for _, y := range c.related {
		points = append(points, y.P.Site, y.R.Site, y.C.Site)
	}
	c.Plan = c.Reordered(experiment.First(len(x.Failing.Events)), points...)
	o := n.found
	if o == nil {
		o, err = c.isolated(ctx, x.Failing)
	}
	late := func() bool { return errors.Is(err, experiment.ErrLimit) && !end.IsZero() && !time.Now().Before(end) }
	if o == nil && late() {
		return nil, errHasty
	}
	if o == nil || err != nil {
		return nil, unlessLimit(err)
	}
	if err = c.nearby(ctx, o); late() && c.with.Passed == 0 && (c.with.Failed < nearbyHasty || c.without.Passed < nearbyHasty) {
		return nil, errHasty
	}
	b := &blame{o, o.guarded(&x.Interleaving)}
	x.With, x.Without = c.with, c.without
	x.Few = b.guarded && !c.exhausted && c.with.Failed < nearbySchedules
	return b, unlessLimit(err)
}

// explain sets what the explanation of a target's failing execution says of the interleaving. It names the interleaving if it has the order of p
// and r, or that of r and c, by executions that all failed with it and all passed without. If a lock guards the interleaving, and it has an order of
// other objects, confirmed or not, it names something else. An explanation that is not found says nothing.
func (b *blame) explain(ctx context.Context, t target.Target, x *strategy.Target, expect int32) {
	opts := ExplainOptions{ExpectStatus: expect, Passes: true}
	if end, ok := ctx.Deadline(); ok {
		opts.Time = max(time.Until(end), 1)
	}
	cause, err := FindCause(ctx, t, x.Failing, opts)
	if x.Unchecked = ctx.Err() != nil; x.Unchecked || err != nil || cause.Cut {
		return
	}
	for i := range cause.InBase.Orders {
		o := &cause.InBase.Orders[i]
		if o.First < 0 || o.Waiting {
			continue
		}
		in, at := cause.Base, o.Second
		if at < 0 {
			if in, at = cause.PassingTrace, o.InPassing; in == nil {
				continue
			}
		}
		first, second := &cause.Base.Events[o.First], &in.Events[at]
		if b.guarded {
			x.Elsewhere = x.Elsewhere || !b.concerns(cause.Base, o.First) || !b.concerns(in, at)
		} else if !o.Doubtful() && o.KeptFailed == o.Kept {
			x.Explained = x.Explained || is(first, x.P) && is(second, x.R) || is(first, x.R) && is(second, x.C)
		}
	}
}

// concerns reports whether an event of an execution concerns the memory of the occurrence, or a lock that is held at r.
func (b *blame) concerns(t *trace.Trace, event int) bool {
	r := b.at(t).r
	if r < 0 {
		return true // not known
	}
	_, held := enclosing(t, r)
	return held[ops.AcquiresAt(t, event)] || atomicity.Accesses(&t.Events[event]) && race.Overlap(&t.Events[event], &t.Events[r])
}
