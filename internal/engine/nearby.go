package engine

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const (
	// nearbySchedules is how many schedules that differ outside an interleaving it is tried in, at least.
	nearbySchedules = 20
	// nearbyHasty is how many there must be with the interleaving, and without it, where the time ends before enough were tried.
	nearbyHasty = 8
	// nearbyPairs is how many other pairs of events of its two threads are turned in any case.
	nearbyPairs = 24
	// nearbyTries bounds the executions that look for these schedules, and nearbyRuns those that undo the interleaving in them, too.
	nearbyTries, nearbyRuns = 160, 400
)

// occurrence is one occurrence of an interleaving in an execution.
type occurrence struct {
	t       *trace.Trace
	p, r, c int // events; c is -1 if the thread has not come to it
}

// side returns the pair of events to turn: p and r, or r and c.
func (o *occurrence) side(side int) (first, second int) {
	if side == 0 {
		return o.p, o.r
	}
	return o.r, o.c
}

// at returns where another execution has the three events, whatever their order; -1 for those that it lacks.
func (o *occurrence) at(t *trace.Trace) *occurrence {
	m := experiment.Match(o.t, t)
	at := &occurrence{t, m.Of(o.p), m.Of(o.r), -1}
	if o.c >= 0 {
		at.c = m.Of(o.c)
	}
	return at
}

// in returns the occurrence in another execution, nil if that lacks it: the same threads do p, r and c as often as before, in this order.
func (o *occurrence) in(t *trace.Trace) *occurrence {
	at := o.at(t)
	if at.p < 0 || at.r < at.p || at.c >= 0 && at.c < at.r {
		return nil
	}
	if o.c < 0 { // what the thread does next to the memory is c
		for i := at.p + 1; i < at.r; i++ {
			if ev := &t.Events[i]; ev.Thread == t.Events[at.p].Thread && atomicity.Accesses(ev) && race.Overlap(ev, &t.Events[at.r]) {
				return nil
			}
		}
	}
	return at
}

// guarded reports whether one lock is held at each access by the interleaving's instructions to the memory of its occurrence.
func (o *occurrence) guarded(want *atomicity.Interleaving) bool {
	var common map[trace.Object]bool
	held := map[trace.ThreadID]map[trace.Object]bool{}
	current := false // an access by c was seen
	for i := range o.t.Events {
		ev := &o.t.Events[i]
		if c := is(ev, want.C); (c || is(ev, want.P) || is(ev, want.R)) && race.Overlap(ev, &o.t.Events[o.r]) {
			current = current || c
			if common == nil {
				common = maps.Clone(held[ev.Thread])
			}
			maps.DeleteFunc(common, func(lock trace.Object, _ bool) bool { return !held[ev.Thread][lock] })
			if len(common) == 0 {
				return false
			}
		}
		if lock := ops.Releases(ev); lock != 0 && ops.Does(ev.Op) != ops.Wait { // a wait acquires it again
			delete(held[ev.Thread], lock)
		}
		if lock := ops.Acquires(ev); lock != 0 && ops.Of(ev.Op).Done(ev) {
			if held[ev.Thread] == nil {
				held[ev.Thread] = map[trace.Object]bool{}
			}
			held[ev.Thread][lock] = true
		}
	}
	return len(common) > 0 && (current || want.Outer[0] != 0)
}

// counter counts how schedules end that differ from that of an occurrence in other places.
type counter struct {
	*experiment.Experiment
	related       []atomicity.Interleaving // the interleaving, and those that share an instruction with it
	with, without strategy.Ended           // of the schedules that have the occurrence, and of those in which it is undone
	seen          map[uint64]bool          // orders of the executions that were counted
	exhausted     bool                     // no other schedule is left to try
}

// nearby counts schedules near that of an occurrence until there are enough. One that has it and passes ends the count: then something else
// decides whether the execution fails.
func (x *counter) nearby(ctx context.Context, o *occurrence) error {
	next, least := x.variations(o)
	for try := 0; try < nearbyTries && (try < least || x.with.Failed < nearbySchedules) && x.with.Passed == 0; try++ {
		script := next()
		if script == nil {
			x.exhausted = true
			break
		}
		r, err := x.Run(ctx, x.On(o.t, x.Plan).Follow(script()))
		if err != nil {
			return err
		}
		if !x.fresh(r) {
			continue
		}
		at := o.in(r.Trace)
		switch {
		case at == nil:
			continue
		case r.Verdict == experiment.Passes:
			x.with.Passed++
			continue
		}
		if x.with.Failed++; x.without.Passed < nearbySchedules {
			if err := x.undo(ctx, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// fresh reports whether an execution says something that no other has said.
func (x *counter) fresh(r *experiment.Result) bool {
	if r.Trace == nil || r.Verdict != experiment.Same && r.Verdict != experiment.Passes {
		return false
	}
	order := orderOf(r.Trace)
	known := x.seen[order]
	x.seen[order] = true
	return !known
}

// undo counts executions in which an occurrence is undone: r comes before p, or after c, or if none of these passes, as where two threads lose each
// other's updates, nothing comes between the instructions of the related interleavings.
func (x *counter) undo(ctx context.Context, at *occurrence) error {
	passed := x.without.Passed
	y := x.On(decisive(at.t, x.related), x.Plan)
	for side := range 2 {
		first, second := at.side(side)
		if second < 0 {
			continue
		}
		first, second = sections(y.Base, first, second)
		for _, turn := range y.Turns(first, second) {
			r, err := y.Run(ctx, y.Follow(turn.Turned()))
			if err != nil {
				return err
			}
			if r.Trace == nil || at.in(r.Trace) != nil {
				continue
			}
			x.countWithout(r, &at.t.Events[at.r])
			break
		}
	}
	for _, late := range []bool{true, false} {
		if x.without.Passed > passed {
			break
		}
		r, err := x.makeApart(ctx, at.t, x.related, late)
		if err != nil {
			return err
		}
		if r != nil {
			x.countWithout(r, &at.t.Events[at.r])
		}
	}
	return nil
}

// countWithout counts an execution in which r was undone. If it fails, a related interleaving or a read that was no longer true may have
// brought that about.
func (x *counter) countWithout(r *experiment.Result, remote *trace.Event) {
	switch {
	case !x.fresh(r):
	case r.Verdict == experiment.Passes:
		x.without.Passed++
	default:
		bytes, size := remote.Object.Bytes(uint64(max(remote.Size, 1)))
		if !slices.Contains(atomicity.Exercised(r.Trace, x.related...), true) && !atomicity.StaleRead(r.Trace, remote.Thread, bytes, size) {
			x.without.Failed++
		}
	}
}

// variations returns the scripts that differ from that of an occurrence outside it, one with each call, nil after the last: first its own, then
// those without the related interleavings and those that turn another pair of events of its threads, and then, in turn, those that turn
// a pair of any threads and those in which a context switch comes a little earlier or later. The first least of them have to be tried.
func (x *counter) variations(o *occurrence) (next func() experiment.Script, least int) {
	on := x.On(decisive(o.t, x.related), x.Plan)
	list := []experiment.Script{func() []schedule.Step { return experiment.Steps(on.Base.Events) }}
	if others := x.related[1:]; len(others) > 0 {
		for _, late := range []bool{false, true} {
			list = append(list, func() []schedule.Step { return apart(on.Base, others, late) })
		}
	}
	own := map[[2]int]bool{}
	for side := range 2 {
		if first, second := o.side(side); second >= 0 {
			own[[2]int{first, second}] = true
			first, second = sections(on.Base, first, second)
			own[[2]int{first, second}] = true
		}
	}
	turn := func(pairs [][2]int) {
		for _, p := range pairs {
			if own[p] {
				continue
			}
			own[p] = true
			for _, turn := range on.Turns(p[0], p[1]) {
				list = append(list, turn.Turned)
			}
		}
	}
	turn(some(o.pairs(on.Base), 2*nearbyPairs))
	least = len(list)
	pairs, _ := experiment.Dependent(on.Base)
	shifted := spread(on.Shifted(confirmShift))
	return func() experiment.Script {
		for len(list) == 0 && len(pairs)+len(shifted) > 0 {
			turn(some(pairs, 1))
			pairs = pairs[min(1, len(pairs)):]
			if len(shifted) > 0 {
				list = append(list, shifted[0])
				shifted = shifted[1:]
			}
		}
		if len(list) == 0 {
			return nil
		}
		script := list[0]
		list = list[1:]
		return script
	}, least
}

// pairs returns the pairs of events of which one at least is of an occurrence's two threads, and which depend on one another, and of critical sections
// of one lock all: first those of both threads, and of these the nearest to r.
func (o *occurrence) pairs(t *trace.Trace) [][2]int {
	threads := [2]trace.ThreadID{t.Events[o.p].Thread, t.Events[o.r].Thread}
	foreign := func(e int) int { // 1 for an event of another thread
		if th := t.Events[e].Thread; th == threads[0] || th == threads[1] {
			return 0
		}
		return 1
	}
	out := experiment.Conflicts(t, func(ev *trace.Event) bool {
		return ev.Flags&trace.FlagNoDecision == 0 && ops.Of(ev.Op).Of != ops.Thread && ops.Of(ev.Op).Of != ops.Execution
	})
	acquired := map[trace.Object][]int{}
	for i := range t.Events {
		ev := &t.Events[i]
		lock := ops.AcquiresAt(t, i)
		if lock == 0 || ev.Flags&trace.FlagNoDecision != 0 || !ops.Of(ev.Op).Done(ev) {
			continue
		}
		before := acquired[lock]
		for _, e := range before[max(0, len(before)-nearbyPairs):] {
			if t.Events[e].Thread != ev.Thread {
				out = append(out, [2]int{e, i})
			}
		}
		acquired[lock] = append(before, i)
	}
	out = slices.DeleteFunc(out, func(p [2]int) bool { return foreign(p[0])+foreign(p[1]) == 2 })
	distance := func(p [2]int) int { return max(p[0], p[1], o.r) - min(p[0], p[1], o.r) }
	slices.SortStableFunc(out, func(a, b [2]int) int {
		return cmp.Or(cmp.Compare(foreign(a[0])+foreign(a[1]), foreign(b[0])+foreign(b[1])), cmp.Compare(distance(a), distance(b)))
	})
	return slices.Compact(out)
}

// related returns an interleaving, and then those of a list that share an instruction with it: they may bring a failure about instead.
func related(x *atomicity.Interleaving, all []atomicity.Interleaving) []atomicity.Interleaving {
	out := []atomicity.Interleaving{*x}
	for i := range all {
		y := &all[i]
		if y.Triple != x.Triple && (y.R == x.R || y.C == x.C || y.P == x.P || y.R == x.C || y.C == x.R) {
			out = append(out, *y)
		}
	}
	return out
}

// decisive returns an execution in which the events of interleavings are scheduling points, as they are in the plan.
func decisive(t *trace.Trace, list []atomicity.Interleaving) *trace.Trace {
	base := *t
	base.Events = slices.Clone(t.Events)
	for i := range base.Events {
		ev := &base.Events[i]
		for k := range list {
			if is(ev, list[k].P) || is(ev, list[k].R) || is(ev, list[k].C) {
				ev.Flags &^= trace.FlagNoDecision
			}
		}
	}
	return &base
}
