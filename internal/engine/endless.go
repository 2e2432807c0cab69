package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/waiting"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol/valueflow"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// An execution that did not end may be a hang, a livelock, or one that needs more time or another schedule. continued
// decides: it goes on under strongly fair schedules, seeds of them, for fairSteps points each and until each loop has made
// fairTurns turns. What none of them ends is recorded in part, and internal/analysis/waiting says what it is.
const (
	seeds     = 3
	fairTurns = 1000
	fairSteps = 1 << 18
	// recordedSteps is how many points of the fair phase are looked at, for each thread. Where threads still do something
	// new in it, recordedMore times as many are, repeatedly, up to recordedMost.
	recordedSteps = 4096
	recordedMore  = 8
	recordedMost  = 1 << 20
	// keptTurns is how often each loop is in the trace of a hang, about.
	keptTurns = 4
)

// continuation is what strongly fair continuations of an execution show.
type continuation struct {
	kind    trace.Kind // Hang, Livelock, Unfinished; Clean if one ended; another if one failed so
	plan    schedule.Plan
	outcome schedule.Outcome // of plan; of a hang or livelock a recording with keptTurns of each loop, and without a verdict
	verdict waiting.Verdict
	hides   string // of Unfinished: what keeps a thread's loop from being called endless, as "T1's loop calls arc4random"
}

// cutByWatchdog reports whether the watchdog ended an execution.
func cutByWatchdog(e *trace.Ending) bool { return strings.HasPrefix(e.Message, trace.CutByWatchdog) }

// silent reports whether an execution was cut off where threads reached no scheduling point.
func silent(e *trace.Ending) bool { return cutByWatchdog(e) || e.Message == trace.CutByThreads }

// continued decides about an execution of p that did not end.
func continued(ctx context.Context, t target.Target, p schedule.Plan, o *schedule.Outcome) (continuation, error) {
	c, err := fairly(ctx, t, p, o)
	if err != nil || c.kind != trace.Hang && c.kind != trace.Livelock {
		return c, err
	}
	ended, err := c.bursts(ctx, t.Run)
	if ended != nil {
		return *ended, err
	}
	return c, err
}

// fairly is continued under strongly fair schedules alone.
func fairly(ctx context.Context, t target.Target, p schedule.Plan, o *schedule.Outcome) (continuation, error) {
	p.Repeat, p.Stop, p.Record, p.Watch, p.Watcher, p.Accesses, p.Values = 1, false, false, false, nil, false, false
	x := continuer{ctx: ctx, target: t, header: t.Header(), plan: p}
	if over, err := x.begin(cmp.Or(o.FairAt, max(o.Points, 1))); over || err != nil {
		return x.continuation, err
	}
	sure, over, err := x.goOn()
	if over || err != nil {
		return x.continuation, err
	}
	kind, first := trace.Hang, continuation{}
	for seed := range uint64(seeds) {
		if over, err := x.look(seed+1, sure); over || err != nil {
			return x.continuation, err
		}
		if x.verdict.Kind == trace.Livelock {
			kind = trace.Livelock
		}
		if seed == 0 {
			first = x.continuation
		}
	}
	c := first
	c.kind, c.verdict.Kind = kind, kind
	repeated, err := c.shorten(ctx, t.Run)
	if err == nil && !repeated {
		c.kind = trace.Unfinished // a hang that heddle cannot show is none
	}
	return c, err
}

// Where threads change what others look at, chance may end an execution that switches between them often enough, or seldom enough. A machine
// lets threads run alone for very different times. So a livelock must also last under random schedules, each of which stays with the running
// thread for another time on average, for livelockSteps points; a hang of several threads that can run, for hangSteps.
const (
	livelockSteps = 1 << 22
	hangSteps     = 1 << 15
)

var stays = []float64{0.75, 0.9, 0.5, 0.98, 0.999}

// bursts returns a continuation that ends, nil if none does. Its script is that of c, a livelock or hang.
func (c *continuation) bursts(ctx context.Context, run schedule.Executor) (*continuation, error) {
	steps := livelockSteps
	if c.kind == trace.Hang {
		if steps = hangSteps; ready(&c.outcome.Ending) < 2 {
			return nil, nil
		}
	}
	for i, stay := range stays {
		q := c.plan
		q.Record, q.Accesses, q.Values, q.States, q.Watcher, q.Timeouts = false, false, false, false, nil, false
		q.Policy, q.Stay, q.Seed, q.FairAfter = schedule.Random, stay, q.Seed+uint64(i), schedule.Never
		q.MaxSteps = len(q.Script) + steps
		o, err := run(ctx, q)
		if err != nil {
			return nil, err
		}
		if kind := o.Ending.Kind; kind == trace.Clean || kind.Failed() && !kind.Endless() {
			return &continuation{kind: kind, plan: q, outcome: o}, nil
		}
	}
	return nil, nil
}

// continuer is what continued does, and what its last continuation shows. Its methods report whether that decides alone.
type continuer struct {
	ctx    context.Context
	target target.Target
	header trace.Header
	plan   schedule.Plan
	at     int // points after which the fair phase begins
	continuation
}

// run executes a continuation whose fair phase begins after so many points and has so many. It decides if it ended, failed, or
// cannot be told.
func (x *continuer) run(at, steps int, seed uint64, recorded *waiting.Recogniser) (over bool, err error) {
	q := x.plan
	q.FairAfter, q.FairSeed, q.MaxSteps = at, seed, min(at+steps, firstSteps*2)
	if recorded != nil {
		q.Record, q.Watcher, q.Values, q.States = true, recorded, x.header.Instrumented, true
	}
	x.continuation.plan = q
	if x.outcome, err = x.target.Run(x.ctx, q); err != nil {
		return true, err
	}
	x.kind = x.outcome.Ending.Kind
	if x.kind.Endless() && x.header.Target == "go" && x.outcome.External {
		if w := inKernel(&x.outcome.Ending); w != nil {
			x.outcome.Ending.Kind, x.outcome.Ending.Message = trace.Unfinished, fmt.Sprintf("%s: T%d is in a system call", trace.CutByOthers, w.Thread)
		}
	}
	if x.kind.Endless() && x.outcome.Ending.Undecided() {
		x.kind = trace.Unfinished
		return true, nil
	}
	return !x.kind.Endless(), nil
}

// inKernel returns a goroutine that can do nothing although no operation of the program's keeps it waiting: it is in a system call, as one
// that waits for a child process. nil for none.
func inKernel(e *trace.Ending) *trace.Waiter {
	for i := range e.Waiters {
		if w := &e.Waiters[i]; !w.Ready && (w.Op == trace.OpExternal || !ops.Of(w.Op).KeepsGoroutines()) {
			return w
		}
	}
	return nil
}

// begin decides when the fair phase begins: after so many points, or before if that leads to the same. Then the trace is short.
func (x *continuer) begin(at int) (over bool, err error) {
	x.at = at
	for early := max(1<<10, len(x.plan.Script)+1); early < at; early *= 4 {
		over, err := x.run(early, fairSteps, 1, nil)
		if err != nil || over && x.kind != trace.Clean {
			return true, err
		}
		if !over {
			x.at = early
			return false, nil
		}
	}
	return false, nil
}

// goOn makes the continuations. sure says that the runtime saw no progress in any of them.
func (x *continuer) goOn() (sure, over bool, err error) {
	sure = true
	for seed := range uint64(seeds) {
		if over, err := x.run(x.at, fairSteps, seed+1, nil); over || err != nil {
			return false, true, err
		}
		sure = sure && x.kind == trace.Hang
	}
	return sure, false, nil
}

// look records as much of a continuation as it takes to decide what its threads do, and lets it go on until their loops have
// made enough turns. It decides if that is nothing that lasts forever.
func (x *continuer) look(seed uint64, sure bool) (over bool, err error) {
	steps := recordedSteps * max(1, ready(&x.outcome.Ending))
	if sure {
		steps = recordedSteps / 8
	}
	for {
		watch := waiting.New(x.at, &x.header, true)
		if over, err := x.run(x.at, steps, seed, watch); over || err != nil {
			return true, err
		}
		x.verdict = watch.Verdict(&x.outcome.Ending)
		if len(x.verdict.Counting) > 0 && !x.verdict.Outside {
			endless, err := x.endless(x.verdict.Counting)
			if err != nil {
				return true, err
			}
			if endless {
				x.verdict = watch.Verdict(&x.outcome.Ending, x.verdict.Counting...)
			} else if sure {
				break // the runtime sees no progress where a thread counts
			}
		}
		if sure && x.verdict.Kind == trace.Unfinished && !x.verdict.Outside {
			// The runtime sees no progress in a walk round a list that is too long for its states to recur here: it may count.
			if x.header.Target == "c" && computes(&x.outcome.Ending) {
				break
			}
			x.verdict = waiting.Verdict{Kind: trace.Hang, From: x.at}
		}
		if x.verdict.Kind != trace.Unfinished || x.verdict.Outside || steps*recordedMore > recordedMost {
			break
		}
		steps *= recordedMore
	}
	if x.verdict.Kind != trace.Unfinished && x.header.Target == "c" {
		what, err := x.hidden()
		if err != nil {
			return true, err
		}
		if what != "" {
			x.hides, x.verdict.Kind = what, trace.Unfinished
		}
	}
	if x.verdict.Kind == trace.Unfinished {
		x.kind = trace.Unfinished
		return true, nil
	}
	if n := x.verdict.Turns; n > 0 && n*(fairSteps/steps) < fairTurns {
		recorded := x.continuation
		if over, err := x.run(x.at, min(steps*fairTurns/n, firstSteps), seed, nil); over || err != nil {
			return true, err
		}
		x.continuation = recorded
	}
	return false, nil
}

// countedStates is how many states of each thread are looked at in order to tell whether it can end its loop by what it counts.
// Of a walk round a long list, moreStates times as many are.
const (
	countedStates = 48
	moreStates    = 8
)

// endless reports whether no thread that counts can end its loop by that.
func (x *continuer) endless(counting []trace.ThreadID) (is bool, err error) {
	err = x.words(func(watch *waiting.Words, code *valueflow.Code) (again bool) {
		why := ""
		for _, id := range counting {
			if why = watch.Ends(id, code); why != "" {
				break
			}
		}
		is = why == ""
		return why == waiting.NotAgain
	})
	return is, err
}

// hidden says what a thread that repeats itself changes that no event tells; "" for nothing, as far as is known.
func (x *continuer) hidden() (what string, err error) {
	err = x.words(func(watch *waiting.Words, code *valueflow.Code) (again bool) {
		for _, w := range x.outcome.Ending.Waiters {
			if does := watch.Hides(w.Thread, code); does != "" {
				what = fmt.Sprintf("T%d's loop %s", w.Thread, does)
				return false
			}
		}
		return false
	})
	return what, err
}

// words looks at the states of the threads that repeat themselves, and at more of them as long as visit asks for that.
func (x *continuer) words(visit func(*waiting.Words, *valueflow.Code) (again bool)) error {
	looked := x.continuation
	// Not every point is a decision, so up to so many more have passed when the threads begin to repeat themselves.
	more := max(0, looked.outcome.Points-looked.verdict.Decisions) + len(looked.outcome.Ending.Waiters)
	for states := countedStates; states <= countedStates*moreStates; states *= moreStates {
		watch := &waiting.Words{}
		q := looked.plan
		q.Record, q.Watcher, q.Values, q.States, q.Functions = true, watch, true, true, true
		q.WordsFrom = looked.verdict.From + more + 1
		q.MaxSteps = q.WordsFrom + states*max(1, ready(&looked.outcome.Ending))
		o, err := x.target.Run(x.ctx, q)
		if err != nil || !o.Ending.Kind.Endless() || o.Trace == nil {
			return err
		}
		if !visit(watch, valueflow.NewCode(o.Trace.Modules)) {
			return nil
		}
	}
	return nil
}

// computes reports whether a thread of an execution reads memory without a scheduling point of its own.
func computes(e *trace.Ending) bool {
	return slices.ContainsFunc(e.Waiters, func(w trace.Waiter) bool {
		return w.Ready && (w.Op == trace.OpNone || w.Op == trace.OpYield && w.Object != 0)
	})
}

// nextDecision returns the event of the scheduling decision after so many, or the number of events without one.
func nextDecision(t *trace.Trace, decisions int) int {
	for i := range t.Events {
		if t.Events[i].Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if decisions--; decisions < 0 {
			return i
		}
	}
	return len(t.Events)
}

// ready returns how many threads could run when an execution was cut off.
func ready(e *trace.Ending) (n int) {
	for _, w := range e.Waiters {
		if w.Ready {
			n++
		}
	}
	return n
}

// shorten replaces the recording by one that goes on for keptTurns of each loop only. What the threads do from a decision on may have
// occurred before although it is not yet decided that the execution does not end: then a later beginning is tried. It reports
// whether one of them repeats what the threads do.
func (c *continuation) shorten(ctx context.Context, run schedule.Executor) (repeated bool, err error) {
	script := schedule.ScriptOf(c.outcome.Trace)
	begins := []int{min(c.verdict.From, waiting.Examine(c.outcome.Trace, 0).From)}
	for n := c.verdict.From; n < len(script); n = 2*n + 1 {
		begins = append(begins, n)
	}
	alone := len(c.outcome.Ending.Waiters) == 1
	for _, from := range slices.Compact(append(begins, len(script))) {
		from = min(from, len(script))
		p := c.plan
		p.Record, p.Watcher, p.Values = true, nil, false
		p.Accesses = slices.ContainsFunc(c.verdict.Waits, func(w waiting.Wait) bool {
			return ops.Of(w.Op).Does == ops.Read && !(c.verdict.Counted && slices.Contains(p.Points, w.Site))
		})
		p.Values = p.Accesses && (c.verdict.Counted || alone) // without, a thread that is alone has none
		if from > 0 {
			p.Mode, p.Script, p.Threads = schedule.Strict, script[:from], c.outcome.Trace.Threads
		}
		p.Policy, p.FairAfter = schedule.Fair, schedule.Never
		if at := c.outcome.FairAt; at > 0 && at <= from {
			p.FairAfter = at
		}
		p.Points = p.Sites() // those of the holds are scheduling points of the script, too
		p.Holds, p.Timeouts = nil, hasTimeouts(c.outcome.Trace)
		p.MaxSteps = from + 1 + keptTurns*8*max(1, ready(&c.outcome.Ending))
		o, err := run(ctx, p)
		if err != nil {
			return false, err
		}
		if c.repeated(o) {
			c.verdict.From = from
			c.plan, c.outcome = p, o
			if o.Trace.Header.Target == "go" {
				renumber(c.verdict.Waits, o.Trace)
			}
			return true, nil
		}
	}
	return false, nil
}

// repeated reports whether an execution did not end, either, and its threads look at what they look at in the recording.
func (c *continuation) repeated(o schedule.Outcome) bool {
	if !o.Ending.Kind.Endless() || o.Trace == nil {
		return false
	}
	return !slices.ContainsFunc(c.verdict.Waits, func(w waiting.Wait) bool {
		return !slices.ContainsFunc(o.Trace.Events, func(e trace.Event) bool { return e.Thread == w.Thread && e.Op == w.Op && e.Site == w.Site })
	})
}

// renumber gives what threads look at the objects that the recording has there. Go's are numbered in the order in which an
// execution meets them, and fewer accesses are recorded now.
func renumber(waits []waiting.Wait, t *trace.Trace) {
	for i := range waits {
		w := &waits[i]
		for _, e := range slices.Backward(t.Events) {
			if e.Thread == w.Thread && e.Op == w.Op && e.Site == w.Site {
				w.Object = e.Object
				break
			}
		}
		for _, e := range slices.Backward(t.Events) {
			if l := &w.With; e.Thread == w.Thread && e.Op == l.Op && e.Site == l.Site {
				l.Object = e.Object
				break
			}
		}
	}
}

func hasTimeouts(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.Flags&trace.FlagTimeout != 0 })
}

// names say how messages name places and objects.
type names struct {
	where  func(s trace.Site, calls []trace.Site) string
	object func(t *trace.Trace, o trace.Object, size uint32, at int) string // nil for objectText
	locate finding.Locate                                                   // nil if unknown
}

// of names what a thread looks at: one object, or two.
func (n *names) of(t *trace.Trace, w *waiting.Wait, at int) string {
	name := func(o trace.Object, size uint32) string {
		if n.object == nil {
			return objectText(t, o)
		}
		return n.object(t, o, size, at)
	}
	if w.With.Op == trace.OpNone {
		return name(w.Object, w.Size)
	}
	return name(w.With.Object, w.With.Size) + " and " + name(w.Object, w.Size)
}

// countsInMemory is in the message of a hang whose thread counts in memory, and in no other message.
const countsInMemory = ", and nothing that it counts in memory ends that"

// wokenByNone is in the message of a hang beside threads that only repeat themselves, and in no other message.
const wokenByNone = ": no thread that still runs will end the wait"

// told makes the ending of a recording that of a hang or livelock: with the place of each thread's loop, which does not depend
// on where in the loop the execution was cut off, and a message that names each waiting thread and what it waits for.
func told(t *trace.Trace, v *waiting.Verdict, n names) {
	e := &t.Ending
	e.Kind = v.Kind
	e.Waiters = slices.Clone(e.Waiters)
	begin := 0 // the event after v.From decisions
	for n := 0; begin < len(t.Events) && n < v.From; begin++ {
		if t.Events[begin].Flags&trace.FlagNoDecision == 0 {
			n++
		}
	}
	var parts []string
	changed := "it"
	for k, w := range v.Waits {
		last, since := -1, -1 // the loop's last look, and the first of the looks that told the same
		for i := len(t.Events) - 1; i >= 0 && (i >= begin || !w.Changing); i-- {
			x := &t.Events[i]
			if x.Thread != w.Thread || x.Op != w.Op || x.Site != w.Site || x.Object != w.Object {
				continue
			}
			if last < 0 {
				last = i
			} else if y := &t.Events[last]; !w.Changing && (x.Value != y.Value || x.Result != y.Result) {
				break
			}
			since = i
		}
		i := slices.IndexFunc(e.Waiters, func(x trace.Waiter) bool { return x.Thread == w.Thread })
		if i < 0 {
			continue
		}
		x := &e.Waiters[i]
		x.Op, x.Site, x.Object, x.Holder, x.Ready = w.Op, w.Site, w.Object, -1, true
		var calls []trace.Site
		if last >= 0 {
			x.Stack = t.Events[last].Stack
			calls = stackOf(t, x.Stack)
		}
		if k == 0 {
			e.Thread, e.Site, e.Object, e.Stack = w.Thread, w.Site, w.Object, append([]trace.Site{w.Site}, calls...)
		}
		text := fmt.Sprintf("T%d %s", w.Thread, looksAt(w))
		call := ""
		if of := ops.Of(w.Op).Of; n.locate != nil && t.Header.Target != "go" && (of == ops.Memory || of == ops.Futex) {
			call = finding.Waits(w.Site, calls, n.locate)
		}
		switch does := ops.Does(w.Op); {
		case call != "":
			text = fmt.Sprintf("T%d waits in %s", w.Thread, call)
			// What the library has allocated, or its own variables say nothing.
			if name := n.of(t, &w, max(last, 0)); w.Object.Region() == trace.RegionGlobal && !strings.Contains(name, "__") {
				text += " on " + name
			}
		case does == ops.Join && last >= 0:
			text += fmt.Sprintf(" T%d", t.Events[last].Value)
		case does == ops.Join:
			text += " another thread"
		case w.Object != 0 && does != ops.Take:
			text += " " + n.of(t, &w, max(last, 0))
			if does == ops.Poll && last >= 0 && t.Events[last].Value > 0 {
				text += ", which is ready,"
			}
		}
		if w.With.Op != trace.OpNone {
			changed = "them"
		}
		text += " at " + n.where(w.Site, calls) + " again and again"
		if since >= 0 {
			text += fmt.Sprintf(" since event %d", since)
		}
		parts = append(parts, text)
	}
	for _, id := range v.Idle {
		if i := slices.IndexFunc(e.Waiters, func(x trace.Waiter) bool { return x.Thread == id }); i >= 0 {
			first := loopsFrom(t, id, begin)
			x := &e.Waiters[i]
			x.Op, x.Site, x.Object, x.Stack, x.Holder, x.Ready = first.Op, first.Site, first.Object, first.Stack, -1, true
		}
	}
	if len(v.Idle) > 0 {
		for i := range e.Waiters {
			if w := &e.Waiters[i]; !w.Ready && w.Op != trace.OpThreadJoin {
				parts = append(parts, fmt.Sprintf("T%d never returns from %s", w.Thread, finding.Call(w.Op)))
				if e.Site == 0 || !slices.ContainsFunc(v.Waits, func(x waiting.Wait) bool { return x.Thread == e.Thread }) {
					e.Thread, e.Site, e.Object, e.Stack = w.Thread, w.Site, w.Object, append([]trace.Site{w.Site}, stackOf(t, w.Stack)...)
				}
			}
		}
	}
	const most = 3
	if more := len(parts) - most; more > 0 {
		parts = append(parts[:most], fmt.Sprintf("%d other threads wait so, too", more))
	}
	switch {
	case len(parts) == 0:
		e.Message = trace.NoProgress
	case len(v.Idle) > 0:
		var idle []string
		for _, id := range v.Idle {
			idle = append(idle, fmt.Sprintf("T%d", id))
		}
		repeat := "repeats itself"
		if len(idle) > 1 {
			repeat = "repeat themselves"
		}
		e.Message = fmt.Sprintf("%s%s (%s %s)", strings.Join(parts, "; "), wokenByNone, strings.Join(idle, " and "), repeat)
	case v.Kind == trace.Livelock:
		e.Message = strings.Join(parts, "; ") + ": the threads run, and their states recur"
	case v.Counted:
		e.Message = parts[0] + countsInMemory
	case len(parts) == 1:
		e.Message = parts[0] + ", and no other thread that is left changes " + changed
	default:
		e.Message = strings.Join(parts, "; ") + ", and no thread that is left changes what they wait for"
	}
}

// loopsFrom returns the event of a thread's loop behind an event that has the lowest place: it does not depend on where in the loop the
// recording ends.
func loopsFrom(t *trace.Trace, th trace.ThreadID, begin int) (first trace.Event) {
	for i := begin; i < len(t.Events); i++ {
		if e := &t.Events[i]; e.Thread == th && e.Flags&trace.FlagNoDecision == 0 && (first.Site == 0 || e.Site < first.Site || e.Site == first.Site && e.Op < first.Op) {
			first = *e
		}
	}
	return first
}

func stackOf(t *trace.Trace, stack uint32) []trace.Site {
	if int(stack) < len(t.Stacks) {
		return t.Stacks[stack]
	}
	return nil
}

// looksAt returns the verb for what a thread does again and again.
func looksAt(w waiting.Wait) string {
	if w.Alone {
		return "changes and restores"
	}
	switch ops.Of(w.Op).Does {
	case ops.Read, ops.AtomicRead:
		return "reads"
	case ops.Exchange, ops.Compare:
		return "tries to change"
	case ops.Acquire, ops.AcquireShared, ops.Down:
		return "tries to take"
	case ops.Resume:
		return "waits for"
	case ops.Join:
		return "waits for the end of"
	case ops.Take:
		return "waits for a signal"
	case ops.Poll:
		return "polls"
	}
	if w.Op == trace.OpYield {
		return "reads" // between two points (runtime/c/core/computation.c)
	}
	return "looks at"
}

// settle decides whether an execution that did not end is a finding, which f then holds. Otherwise the search goes on.
func (s *search) settle(ctx context.Context, f *failure) (bool, error) {
	e := &f.outcome.Ending
	if !e.Kind.Endless() || e.Kind == trace.Hang && e.Message != trace.NoProgress {
		return true, nil // the runtime knows: a handler returns again and again to the instruction that faults
	}
	f.plan = s.uncut(f.plan)
	if closed, err := s.closed(ctx, f); closed || err != nil {
		return closed, err
	}
	at, silent := s.loops(e), silent(e)
	if key, ok := s.aside.endless[at]; ok && key == "" || silent && !(cutByWatchdog(e) && walks(s.target, e)) {
		s.unfinished(&f.outcome)
		return false, nil
	}
	var c continuation
	var err error
	if silent {
		c, err = s.walked(ctx, s.target, f.plan, e.Waiters)
	} else {
		c, err = continued(ctx, s.target, f.plan, &f.outcome)
	}
	switch {
	case err != nil && outOfTime(ctx):
		if e.Kind == trace.Hang {
			e.Message = trace.CutByTime
			for i := range e.Waiters {
				if w := &e.Waiters[i]; w.Op == trace.OpYield && w.Object != 0 {
					w.Op = trace.OpNone // heddle's yield: the thread reads
				}
			}
		}
		s.unfinished(&f.outcome)
		return false, nil
	case err != nil:
		return false, err
	}
	switch kind := c.kind; {
	case kind == trace.Hang || kind == trace.Livelock:
		told(c.outcome.Trace, &c.verdict, s.names())
		c.outcome.Ending, c.outcome.Shared = c.outcome.Trace.Ending, false
		f.plan, f.outcome = c.plan, c.outcome
		s.aside.endless[at], _ = s.key(&f.outcome.Ending, f.outcome.Trace)
		return true, nil
	case silent:
		s.aside.endless[at] = ""
		s.unfinished(&f.outcome)
		if s.report.Executions == 1 {
			return false, errFirst
		}
		return false, nil
	case kind == trace.Unfinished:
		o, p, err := s.long(ctx, f)
		if err != nil && !outOfTime(ctx) {
			return false, err
		}
		if o != nil {
			if s.report.Executions == 1 {
				s.opts.MaxSteps = room(o.Points)
			}
			c.plan, c.outcome = p, *o
			break
		}
		s.aside.endless[at] = ""
		if c.hides != "" && s.report.Unfinished == nil {
			s.note("%s: heddle does not see what that changes, so whether the execution ends is not known", c.hides)
		}
		c.outcome.Points = f.outcome.Points
		if e.Kind == trace.Hang {
			c.outcome.Ending.Message = trace.NoProgress // no budget ended it
		}
		s.unfinished(&c.outcome)
		if s.roomy && s.report.Executions == 1 {
			return false, errFirst
		}
		return false, nil
	}
	if err := judgeBoth(ctx, &c.outcome, s.expect, s.outputs); err != nil {
		return false, err
	}
	if c.outcome.Ending.Kind.Failed() {
		f.plan, f.outcome = c.plan, c.outcome
		return true, nil
	}
	// It ends under a fair schedule. Executions that are cut off later may need as much.
	switch {
	case e.Kind == trace.Hang:
		s.patient = true
	case s.shaping.MaxSteps == 0:
		s.opts.MaxSteps = max(s.opts.MaxSteps, f.plan.MaxSteps, firstSteps)
	case s.cramped(f):
		s.memoryBudget = s.largest(f)
	default: // the user's budget
		s.unfinished(&f.outcome)
	}
	return false, nil
}

// long repeats an execution that did not end with the largest budget, and returns its outcome if it ends. Instructions that
// turn out to race become scheduling points, which the first execution did not count. What has not ended with the largest budget
// once may have no end, and then no other execution of the search is repeated so.
func (s *search) long(ctx context.Context, f *failure) (*schedule.Outcome, schedule.Plan, error) {
	p := f.plan
	p.MaxSteps, p.Record = s.largest(f), false
	if p.MaxSteps == 0 || s.endlessly {
		return nil, p, nil
	}
	o, err := s.target.Run(ctx, p)
	if err != nil || o.Ending.Kind.Endless() {
		s.endlessly = true
		return nil, p, err
	}
	return &o, p, nil
}

// loops says where the threads of an execution were when it was cut off: in which functions, and in which operations if they were
// blocked. Executions that end up in the same loops have it in common, wherever they were cut off.
func (s *search) loops(e *trace.Ending) string {
	var at []string
	for _, w := range e.Waiters {
		l := s.locate(w.Site)
		place := cmp.Or(l.Func, l.Place)
		if w.Ready {
			at = append(at, place)
		} else {
			at = append(at, fmt.Sprintf("%v %s", w.Op, place))
		}
	}
	slices.Sort(at)
	return strings.Join(slices.Compact(at), "\n")
}

func (s *search) names() names {
	return names{s.caller, s.opts.Objects, s.opts.Locate}
}

// A candidate of the simplification of a hang goes on after its script for looseSteps under the fair policy, which makes few switches,
// and then under a strongly fair schedule, in which the threads must do nothing new: a schedule that only starves a thread
// is not a hang.
const (
	looseSteps = 64
	tightSteps = 600
)

// remains reports whether a recorded hang or livelock is one under other fair schedules, too.
func remains(ctx context.Context, t target.Target, recorded *trace.Trace) (bool, error) {
	p := replayPlan(recorded)
	c, err := fairly(ctx, t, p, &schedule.Outcome{Points: len(p.Script) + 1})
	return c.kind == trace.Hang || c.kind == trace.Livelock, err
}

// endless reports whether the verdict is to recognise a hang or livelock.
func (v *verdict) endless() bool {
	return v.like != nil && (v.like.Kind == trace.Hang || v.like.Kind == trace.Livelock) && len(v.like.Waiters) > 0
}

// idles reports whether a thread of a hang looks at nothing: only its states tell that it goes on so.
func idles(e *trace.Ending) bool {
	return e.Kind.Endless() && strings.Contains(e.Message, wokenByNone)
}

// counts reports whether the thread of a hang counts in memory.
func counts(e *trace.Ending) bool { return strings.Contains(e.Message, countsInMemory) }

// reads reports whether a hang's loop reads memory without a scheduling point: only accesses tell that it waits.
func reads(e *trace.Ending) bool {
	return e.Kind.Endless() && slices.ContainsFunc(e.Waiters, func(w trace.Waiter) bool { return w.Ready && ops.Of(w.Op).Does == ops.Read })
}

// expires reports whether a hang's loop makes a call that ends in vain: its time limit, which has passed, may be on the thread's stack.
func expires(e *trace.Ending) bool {
	return e.Kind.Endless() && slices.ContainsFunc(e.Waiters, func(w trace.Waiter) bool {
		switch ops.Does(w.Op) {
		case ops.Resume, ops.Acquire, ops.AcquireShared, ops.Down, ops.Join, ops.Take, ops.Poll:
			return w.Ready
		}
		return false
	})
}

// preparedEndless makes p a plan of which one can tell whether it ends like v.like.
func (v *verdict) preparedEndless(p *schedule.Plan) {
	if p.Mode == schedule.Strict && p.MaxSteps == len(p.Script) || !p.Record {
		return
	}
	if v.header != nil && p.Watcher == nil {
		// A recorded access of Go has no value, and is not recorded again and again. What C writes to its stack may be a time, which the
		// state tells relative to now.
		recorded := v.header.Target != "go" && p.Accesses
		values := v.header.Instrumented && !recorded && reads(v.like)
		states := idles(v.like) || recorded && expires(v.like)
		if values || states {
			p.Watcher, p.Values, p.States = waiting.New(0, v.header, states), p.Values || values, states
		}
	}
	if p.Mode != schedule.Tolerant || p.FairAfter != 0 {
		return
	}
	n := len(p.Script)
	loose := looseSteps + 16*len(v.like.Waiters)
	p.FairAfter = n + loose
	tight := tightSteps
	if slices.ContainsFunc(v.like.Waiters, func(w trace.Waiter) bool { return w.Op == trace.OpYield && w.Ready }) {
		tight /= 10 // a point is a long stretch of the same reads (runtime/c/core/computation.c)
	}
	p.MaxSteps = 2*n + loose + max(tight*max(1, ready(v.like)), 2*n)
}

// judgeEndless decides whether an execution that did not end is a hang or livelock.
func (v *verdict) judgeEndless(p schedule.Plan, o *schedule.Outcome) {
	e := &o.Ending
	if !e.Kind.Endless() || e.Undecided() || o.Trace == nil {
		return
	}
	if p.Mode == schedule.Strict && p.MaxSteps == len(p.Script) {
		// A replay that ended where the recording ends. Its events decide whether it is the same.
		*e = withOutput(*v.like, e)
	} else {
		var w waiting.Verdict
		watch, ok := p.Watcher.(*waiting.Recogniser)
		if !ok {
			watch = waiting.Examined(o.Trace, 0)
		}
		w = watch.Verdict(e)
		if counts(v.like) { // that it still does not end is decided at last (remains)
			if len(w.Counting) > 0 {
				w = watch.Verdict(e, w.Counting...)
			}
			w.Counted = len(w.Waits) == 1
		}
		if w.Kind == trace.Unfinished || o.FairAt > 0 && w.Acted > o.FairAt {
			if e.Kind == trace.Hang && e.Message == trace.NoProgress {
				return
			}
			e.Kind, o.Trace.Ending.Kind = trace.Unfinished, trace.Unfinished
			return
		}
		w.From = w.Acted // the recording is to be short
		o.Trace.Events = o.Trace.Events[:nextDecision(o.Trace, w.From+keptTurns*8*max(1, ready(e)))]
		told(o.Trace, &w, names{v.where, v.objects, v.locate})
		*e = o.Trace.Ending
	}
	o.Trace.Ending = *e
}

// withOutput is e with what is not part of the verdict from the execution itself.
func withOutput(e trace.Ending, own *trace.Ending) trace.Ending {
	e.Output = own.Output
	return e
}
