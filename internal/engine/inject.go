package engine

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/experiment"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// InjectOptions say which faults to inject.
type InjectOptions struct {
	Model        trace.FaultModel
	Seed         uint64 // of the faults, not of the schedule: that is fair and always the same
	ExpectStatus int32
	// At restricts the occasions to instructions; nil for all.
	At func(trace.Site) bool
	// Amount replaces the drawn trace.Fault.Amount, unless it is nil.
	Amount *uint64
	Memory int64 // bytes for a sanitised execution
}

// Injector compares executions with a fault to the golden one, which has none (TraceSanitizer, DSN'20).
type Injector struct {
	Golden *trace.Trace

	opts      InjectOptions
	sanitized *canonical.Execution
	occasions []occasion
	until     []int // for each occasion, how many faults there are at it and those before
	limit     int   // of the accesses of an execution
	targets   []target.Target
	others    *replicas
}

// occasion is where a fault may be injected. For some models these are more than the runtime counts.
type occasion struct {
	thread uint64 // its name
	site   trace.Site
	index  uint64 // among the occasions of the thread at the site
	event  int    // of the golden execution
	bits   uint64 // of the access
}

// Injected is an execution with a fault.
type Injected struct {
	Fault      trace.Fault
	Trace      *trace.Trace          // nil if the execution could not be recorded
	Comparison *canonical.Comparison // with the golden execution; nil without a trace
	Outcome    canonical.Outcome
	Ending     trace.Ending
	// Unknown says why nothing is known of the outcome: heddle itself could not go on.
	Unknown string
}

const (
	// faultSlack is how many more accesses than the golden execution one with a fault may have, so that an
	// endless loop does not fill the memory.
	faultSlack, faultLeast = 4, 10_000
	// faultDraws is how many faults One tries, at most, until the runtime has an occasion.
	faultDraws = 50
	// faultShortest and faultLongest bound the amount of trace.FaultShort, FaultOverrun and FaultDelayed.
	faultShortest, faultLongest = 1, 64
	argumentBits                = 64 // of a size that is passed
)

// CheckAmount returns an error if no fault of a model can have an amount.
func CheckAmount(m trace.FaultModel, amount uint64) error {
	least, most, what := uint64(0), uint64(math.MaxUint32), "the number of a bit"
	switch m {
	case trace.FaultRead, trace.FaultWrite:
	case trace.FaultArgument:
		most = argumentBits - 1
	case trace.FaultShort, trace.FaultOverrun:
		least, most, what = faultShortest, faultLongest, "a number of bytes"
	case trace.FaultDelayed:
		least, most, what = faultShortest, faultLongest, "a number of events"
	default:
		return errors.New("a fault of this model has no amount")
	}
	if amount < least || amount > most {
		return fmt.Errorf("it is %s from %d to %d", what, least, most)
	}
	return nil
}

// ErrNoOccasion means that the golden execution has no event that a fault of the model could change.
var ErrNoOccasion = errors.New("the execution has no occasion for a fault of this model")

// NewInjector records the golden execution, which must be clean, and one more, to see that it is the same.
// The caller closes the Injector before the target.
func NewInjector(ctx context.Context, t target.Target, opts InjectOptions) (*Injector, error) {
	x := &Injector{opts: opts, targets: []target.Target{t}}
	for range 2 {
		o, err := traced(ctx, t, t.Run, x.plan(nil))
		if err == nil {
			err = judge(ctx, &o.Trace.Ending, opts.ExpectStatus, outputsOf(&o.Trace.Header))
		}
		if err != nil {
			return nil, err
		}
		if o.Trace.Ending.Kind == trace.Unfinished {
			return nil, fmt.Errorf("the program does not end without a fault (%s)", o.Trace.Ending.Message)
		}
		if o.Trace.Ending.Kind.Failed() {
			return nil, fmt.Errorf("the program fails without a fault: %v", o.Trace.Ending.Kind)
		}
		if x.Golden == nil {
			x.Golden = o.Trace
			if x.sanitized, err = canonical.Sanitize(canonical.Whole(o.Trace), opts.Memory); err != nil {
				return nil, err
			}
			continue
		}
		c, err := x.compare(ctx, o.Trace)
		if err != nil {
			return nil, err
		}
		if c.Deviation != canonical.Same || c.Outcome != canonical.Benign {
			x.Close()
			return nil, fmt.Errorf("two executions without a fault differ in %v: a fault's effect cannot be told from that", c.Deviation)
		}
	}
	if !x.Golden.Header.Instrumented {
		x.Close()
		return nil, errors.New("the program was not compiled with heddle cc, so its accesses to memory are not seen")
	}
	x.limit = faultSlack*len(x.Golden.Events) + faultLeast
	x.occasions = x.find()
	n := 0
	for i := range x.occasions {
		n += x.amounts(&x.occasions[i])
		x.until = append(x.until, n)
	}
	if len(x.occasions) == 0 {
		x.Close()
		return nil, ErrNoOccasion
	}
	return x, nil
}

// Close removes temporary files and ends the targets that Campaign started.
func (x *Injector) Close() error {
	if x.others != nil {
		x.others.close()
	}
	return x.sanitized.Close()
}

func (x *Injector) plan(f *trace.Fault) schedule.Plan {
	p := experiment.Everything(schedule.Plan{Repeat: 1, Policy: schedule.Fair, Delays: schedule.NoDelays, ExpectStatus: x.opts.ExpectStatus, Fault: f})
	if f == nil {
		p.MaxSteps = firstSteps
		if x.Golden != nil {
			p.MaxSteps = stepsFor(x.Golden, nil)
		}
		return p
	}
	p.MaxAccesses, p.MaxSteps = x.limit, stepsFor(x.Golden, nil)
	if f.Model == trace.FaultDelayed {
		p.Threads, p.Holds = x.Golden.Threads, []schedule.Hold{x.delay(f)}
	}
	return p
}

// delay returns the hold that delays the event before which f is.
func (x *Injector) delay(f *trace.Fault) schedule.Hold {
	h := experiment.HoldBefore(x.Golden, f.Event, 0)
	h.Steps = int(f.Amount)
	return h
}

// find returns the occasions of the golden execution.
func (x *Injector) find() (all []occasion) {
	type place struct {
		thread uint64
		site   trace.Site
	}
	counts := map[place]uint64{}
	for i := range x.Golden.Events {
		ev := &x.Golden.Events[i]
		if !occasionOf(x.opts.Model, ev) || ev.Thread < 0 || int(ev.Thread) >= len(x.Golden.Threads) {
			continue
		}
		at := place{x.Golden.Threads[ev.Thread].Name, ev.Site}
		if o := (occasion{thread: at.thread, site: at.site, index: counts[at], event: i, bits: max(uint64(ev.Size), 1) * 8}); (x.opts.At == nil || x.opts.At(ev.Site)) && x.has(&o) {
			all = append(all, o)
		}
		counts[at]++
	}
	return all
}

// has reports whether a fault at an occasion can have the amount that the options give, if they do.
func (x *Injector) has(o *occasion) bool {
	if x.opts.Amount == nil {
		return true
	}
	switch x.opts.Model {
	case trace.FaultRead, trace.FaultWrite:
		return *x.opts.Amount < o.bits
	case trace.FaultShort:
		return *x.opts.Amount <= o.bits/8
	}
	return true
}

// occasionOf reports whether an event may be an occasion. Not every range that is written is one of a call of
// memcpy, memmove or memset, and not every synchronisation call can be omitted; the runtime decides.
func occasionOf(m trace.FaultModel, ev *trace.Event) bool {
	reads := ev.Op == trace.OpRead || ev.Op == trace.OpReadRange
	writes := ev.Op == trace.OpWrite || ev.Op == trace.OpWriteRange
	switch m {
	case trace.FaultRead:
		return reads
	case trace.FaultWrite:
		return writes
	case trace.FaultKilled:
		return reads || writes
	case trace.FaultShort, trace.FaultPointer:
		return ev.Op == trace.OpMalloc
	case trace.FaultOverrun:
		return ev.Op == trace.OpWriteRange
	case trace.FaultArgument:
		return ev.Op == trace.OpWriteRange || ev.Op == trace.OpMalloc
	case trace.FaultDropped, trace.FaultDelayed:
		switch ops.Does(ev.Op) {
		case ops.Join, ops.Acquire, ops.AcquireShared, ops.Release, ops.WakeOne, ops.WakeAll, ops.Up, ops.Down, ops.Arrive:
			return true
		}
	}
	return false
}

// Occasions returns how many events of the golden execution a fault may be injected at.
func (x *Injector) Occasions() int { return len(x.occasions) }

// Faults returns how many different faults there are: an occasion, and an amount where the model has one. At some of
// these occasions the runtime injects none.
func (x *Injector) Faults() int { return x.until[len(x.until)-1] }

// amounts returns how many amounts a fault at an occasion can have.
func (x *Injector) amounts(o *occasion) int {
	if x.opts.Amount != nil {
		return 1
	}
	switch x.opts.Model {
	case trace.FaultRead, trace.FaultWrite:
		return int(o.bits)
	case trace.FaultShort: // a block that is shorter by more has no bytes, either
		return int(min(faultLongest, o.bits/8))
	case trace.FaultOverrun, trace.FaultDelayed:
		return faultLongest
	case trace.FaultArgument:
		return argumentBits
	}
	return 1
}

// at returns the fault at an occasion with the nth amount, from 0.
func (x *Injector) at(o *occasion, nth int) trace.Fault {
	f := trace.Fault{Model: x.opts.Model, Thread: o.thread, Site: o.site, Index: o.index, Event: o.event, Amount: uint64(nth)}
	switch f.Model {
	case trace.FaultShort, trace.FaultOverrun, trace.FaultDelayed:
		f.Amount += faultShortest
	}
	if x.opts.Amount != nil {
		f.Amount = *x.opts.Amount
	}
	return f
}

// fault returns fault number n, from 0: the seed orders all possible ones.
func (x *Injector) fault(n int) trace.Fault {
	n = permuted(n, x.Faults(), x.opts.Seed)
	i, ok := slices.BinarySearch(x.until, n)
	if ok {
		i++
	}
	o := &x.occasions[i]
	return x.at(o, n-(x.until[i]-x.amounts(o)))
}

// One injects a fault at an occasion of the golden execution, or, if that is negative, the first fault of all for which the
// runtime has an occasion. It returns ErrNoOccasion if the runtime has none.
func (x *Injector) One(ctx context.Context, only int) (*Injected, error) {
	if only >= 0 {
		o := &x.occasions[only]
		in, err := x.inject(ctx, x.targets[0], x.at(o, permuted(0, x.amounts(o), x.opts.Seed)))
		if err == nil && in == nil {
			err = ErrNoOccasion
		}
		return in, err
	}
	for n := range min(faultDraws, x.Faults()) {
		if in, err := x.inject(ctx, x.targets[0], x.fault(n)); err != nil || in != nil {
			return in, err
		}
	}
	return nil, ErrNoOccasion
}

// inject executes the program with a fault. It returns nil if the runtime had no occasion for it.
func (x *Injector) inject(ctx context.Context, t target.Target, f trace.Fault) (*Injected, error) {
	o, err := t.Run(ctx, x.plan(&f))
	if f.Model == trace.FaultDelayed && o.Trace != nil && len(o.Holds) == 1 && o.Holds[0].Held > 0 {
		o.Trace.Header.Fault = &f // until the hold began, the execution was the golden one
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return &Injected{Fault: f, Unknown: err.Error()}, nil
	case o.Trace != nil && o.Trace.Header.Fault == nil:
		return nil, nil
	}
	in := &Injected{Fault: f, Trace: o.Trace, Ending: o.Ending}
	switch o.Ending.Kind {
	case trace.Unsupported:
		in.Unknown = o.Ending.Message
		return in, nil
	case trace.Unfinished:
		in.Unknown = "it did not end: " + o.Ending.Message
		return in, nil
	}
	if o.Trace == nil {
		in.Outcome = canonical.OutcomeOf(&x.Golden.Ending, &o.Ending)
		return in, nil
	}
	in.Fault = *o.Trace.Header.Fault
	// A replica's header does not say how the program was started.
	h := x.Golden.Header
	h.Fault, h.MaxAccesses, h.Surroundings = o.Trace.Header.Fault, o.Trace.Header.MaxAccesses, o.Trace.Header.Surroundings
	o.Trace.Header = h
	if err := judge(ctx, &o.Trace.Ending, x.opts.ExpectStatus, outputsOf(&o.Trace.Header)); err != nil {
		return nil, err
	}
	in.Ending = o.Trace.Ending
	if in.Comparison, err = x.compare(ctx, o.Trace); err != nil {
		return nil, err
	}
	in.Outcome = in.Comparison.Outcome
	return in, nil
}

func (x *Injector) compare(ctx context.Context, t *trace.Trace) (*canonical.Comparison, error) {
	other, err := canonical.Sanitize(canonical.Whole(t), x.opts.Memory)
	if err != nil {
		return nil, err
	}
	defer other.Close()
	return canonical.Compare(ctx, x.sanitized, other, nil, nil)
}

// Campaign injects the faults from number 0 on that are not known, until so many had an occasion or all have been tried, on
// so many processes at once if the program's executions share nothing. each is called with every result, from
// one goroutine at a time, as they come, with nil for a fault without an occasion; its error ends the campaign. Which
// faults are injected does not depend on the number of processes.
func (x *Injector) Campaign(ctx context.Context, known func(n int) bool, most, processes int, each func(n int, in *Injected) error) error {
	if others := min(processes, most, x.Faults()) - 1; others > 0 && x.others == nil {
		if x.others = startReplicas(x.targets[0], others); x.others != nil {
			x.others.collect(true)
			x.targets = append(x.targets, x.others.targets...)
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var mu sync.Mutex
	changed := sync.NewCond(&mu)
	next, had, flying := 0, 0, 0
	// take returns the next fault, once it is certain that it is needed.
	take := func() (n int, ok bool) {
		mu.Lock()
		defer mu.Unlock()
		for {
			for next < x.Faults() && known(next) {
				next++
			}
			switch {
			case had >= most, next == x.Faults(), ctx.Err() != nil:
				return 0, false
			case had+flying < most:
				flying++
				next++
				return next - 1, true
			}
			changed.Wait()
		}
	}
	var group sync.WaitGroup
	for _, t := range x.targets {
		group.Go(func() {
			for {
				n, ok := take()
				if !ok {
					return
				}
				in, err := x.inject(ctx, t, x.fault(n))
				mu.Lock()
				flying--
				if err == nil {
					if in != nil {
						had++
					}
					err = each(n, in)
				}
				if err != nil {
					cancel(err)
				}
				changed.Broadcast()
				mu.Unlock()
			}
		})
	}
	group.Wait()
	return context.Cause(ctx)
}
