package engine

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/partners"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Leak is a goroutine that still existed when a test ended. Goroutines started by the same go
// statement are one leak.
type Leak struct {
	Created string `json:"created"` // the go statement
	// Statement identifies the go statement: a line may have several. It is 0 if unknown.
	Statement trace.Site `json:"-"`
	Op        string     `json:"op"` // the operation it blocked on or was about to perform
	Where     string     `json:"where"`
	// Running means that the goroutine could still make progress. If false, it was blocked, and so
	// was every other goroutine.
	Running bool `json:"running"`
	// Executions is the number of executions of the exploration that ended with a goroutine blocked
	// here.
	Executions int `json:"executions"`
	// Kept says that a global variable, a timer or something that goes on leads to what it waits for, or that it goes on itself: it may be
	// kept on purpose. Such leaks come last.
	Kept bool `json:"kept,omitempty"`
	// Partners say which goroutines used what it waits for and how they ended, and whether anything leads to that.
	Partners []string `json:"partners,omitempty"`
}

const (
	// maxAside bounds the executions kept for confirming leaks.
	maxAside = 16
	// maxAlike is how many of these may have left the same goroutines: what one plan shows may not come again.
	maxAlike = 3
	// newTriesOfLeak is how many executions in new processes look for what one of them left, within leakTime.
	newTriesOfLeak = 3 * newTries
	// maxLingering is how many executions may wait to find out whether a goroutine is still running
	// after the test. The wait takes far longer than most tests.
	maxLingering = 4
	// leakTime bounds the time for confirming leaks.
	leakTime = 10 * time.Second
)

// standing is where a goroutine was when its test ended. Unlike the go statement that started it,
// it is known without a recording.
type standing struct {
	op   trace.Op
	site trace.Site
}

// leaks collects executions whose only fault is leftover goroutines. Any other failure is worse
// than a leak, so these count as good executions during the exploration.
type leaks struct {
	lingering  int // executions that left running goroutines behind
	executions map[standing]int
	prompt     map[standing]bool // an execution of aside showed it in which no timer could fire early
	// aside has the first executions that showed some standing, and the first in which no timer could fire early.
	aside []*failure
}

// setAside records the goroutines left by an execution that ended with trace.Leak, and turns its
// ending into a good one. p is the plan of this execution alone, and number is the execution's
// number.
func (l *leaks) setAside(p schedule.Plan, o *schedule.Outcome, number int) {
	fresh := false
	met := map[standing]bool{}
	running := false
	for _, w := range o.Ending.Waiters {
		met[standing{w.Op, w.Site}] = true
		running = running || w.Ready
	}
	if running {
		l.lingering++
	}
	if l.executions == nil {
		l.executions, l.prompt = map[standing]int{}, map[standing]bool{}
	}
	prompt := !overtakes(&p)
	for s := range met {
		l.executions[s]++
		n := l.executions[s]
		fresh = fresh || n == 1 || n <= maxAlike && len(l.aside) < maxAside/2 || prompt && !l.prompt[s]
		l.prompt[s] = l.prompt[s] || prompt
	}
	if fresh && len(l.aside) < maxAside {
		p.Haste = false
		l.aside = append(l.aside, &failure{plan: p, outcome: *o, number: number})
	}
	withoutLeak(&o.Ending)
	if o.Trace != nil {
		t := *o.Trace // the kept trace must not change
		withoutLeak(&t.Ending)
		o.Trace = &t
	}
}

// withoutLeak turns an ending of kind trace.Leak into a clean one.
func withoutLeak(e *trace.Ending) {
	if e.Kind == trace.Leak {
		e.Kind, e.Waiters, e.Message = trace.Clean, nil, ""
	}
}

// reportLeaks runs the executions set aside again, each in its own process, and reports the
// goroutines that are left again: in the first run, leftovers of earlier executions of the process
// may have contributed. If nothing worse was found, the first leak that Options.LeakFails calls a
// failure is the finding.
func (s *search) reportLeaks(ctx context.Context) error {
	made := map[standing]bool{}
	byCreation := map[trace.Site]*Leak{}
	most := leakTime
	if s.opts.Time > 0 {
		most = min(most, max(s.opts.Time-time.Since(s.began), Grace))
	}
	bounded, cancel := limited(ctx, most)
	defer cancel()
	var gone []*failure
	var failing []leaving
	tooLong := func() { s.note("not all goroutines that were left are listed: confirming them takes too long") }
	if s.opts.SetsEarlyAside() {
		slices.SortStableFunc(s.leaks.aside, func(a, b *failure) int {
			switch x, y := overtakes(&a.plan), overtakes(&b.plan); {
			case x == y:
				return 0
			case x:
				return 1
			}
			return -1
		})
	}
	for _, f := range s.leaks.aside {
		known := func(w trace.Waiter) bool { return made[standing{w.Op, w.Site}] }
		if !slices.ContainsFunc(f.outcome.Ending.Waiters, func(w trace.Waiter) bool { return !known(w) }) {
			continue
		}
		if outOfTime(bounded) {
			tooLong()
			break
		}
		o, again, err := s.leftAgain(bounded, f, known)
		if overdue(bounded, err) {
			tooLong()
			break
		}
		if err != nil {
			return err
		}
		if again == nil {
			gone = append(gone, f)
			continue
		}
		if early, err := s.leaksEarly(bounded, again, &o); early || overdue(bounded, err) {
			continue
		} else if err != nil {
			return err
		}
		fails, kept := false, true
		statements := created(o.Trace)
		for _, w := range o.Ending.Waiters {
			at := standing{w.Op, w.Site}
			made[at] = true
			site := statements[w.Thread]
			leak := byCreation[site]
			if leak == nil || leak.Kept && w.Reach != trace.ReachKept {
				first := leak == nil
				if first {
					leak = &Leak{}
					byCreation[site] = leak
				}
				leak.Created, leak.Statement, leak.Op, leak.Where = s.where(site), site, w.Op.String(), s.where(w.Site)
				leak.Kept, leak.Partners = w.Reach == trace.ReachKept, s.partners(o.Trace, &w)
				if s.opts.LeakFails != nil && (first || !leak.Kept) && s.opts.LeakFails(*leak) {
					fails, kept = true, kept && leak.Kept
				}
			}
			leak.Running = leak.Running || w.MayGoOn()
			leak.Executions = max(leak.Executions, s.leaks.executions[at])
		}
		if fails {
			whole := *again // the exploration may not have waited for those that are still running
			whole.outcome.Ending, whole.outcome.Trace = o.Ending, nil
			failing = append(failing, leaving{&whole, kept})
		}
	}
	slices.SortStableFunc(failing, func(a, b leaving) int { return boolean(a.kept) - boolean(b.kept) })
	for _, f := range failing {
		if !s.opts.All && s.report.Finding != nil {
			break
		}
		// The exploration may have reached its time limit already.
		found, err := s.confirm(bounded, f.failure)
		if found && s.opts.All {
			s.collect()
		}
		if err != nil && !overdue(bounded, err) {
			return err
		}
	}
	s.noteGone(gone, made)
	for _, l := range byCreation {
		s.report.Leaks = append(s.report.Leaks, *l)
	}
	slices.SortFunc(s.report.Leaks, func(a, b Leak) int {
		return cmp.Or(boolean(a.Kept)-boolean(b.Kept), cmp.Compare(a.Created, b.Created), cmp.Compare(a.Where, b.Where))
	})
	return nil
}

// leaving is an execution that leaves a goroutine of a leak that fails; kept says that all those may be kept on purpose.
type leaving struct {
	*failure
	kept bool
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// function returns the name of the function that a goroutine runs, or the goroutine's number.
func (s *search) function(t *trace.Trace, th trace.ThreadID) string {
	number := fmt.Sprintf("T%d", th)
	if th < 0 || int(th) >= len(t.Threads) || s.opts.Locate == nil {
		return number
	}
	name := s.opts.Locate(t.Threads[th].Entry + 1).Func // it locates the instruction before
	if !goname.Wrapper(name) {
		return cmp.Or(name, number)
	}
	for i := range t.Events {
		ev := &t.Events[i]
		if ev.Thread != th || ops.Does(ev.Op) == ops.Begin || ops.Does(ev.Op) == ops.Start || ev.Site == 0 {
			continue
		}
		sites := []trace.Site{ev.Site}
		if int(ev.Stack) < len(t.Stacks) {
			sites = append(sites, t.Stacks[ev.Stack]...)
		}
		for _, site := range slices.Backward(sites) {
			if own := s.opts.Locate(site).Func; own != "" && !goname.Wrapper(own) {
				return own
			}
		}
	}
	return name
}

// partners says who used what a goroutine that is left waits for.
func (s *search) partners(t *trace.Trace, w *trace.Waiter) (out []string) {
	name := func(th trace.ThreadID) string { return s.function(t, th) }
	uses := partners.Of(t, w)
	for i := range uses {
		u := &uses[i]
		text := u.Text(name)
		if w.Op == trace.OpSelect && text != "" {
			text = u.Op.String() + ": " + text
		}
		if text != "" {
			out = append(out, text)
		}
	}
	if text := partners.Reached(t, w, uses); text != "" {
		out = append(out, text)
	}
	return out
}

// leftAgain runs an execution that was set aside once more. If it leaves no goroutine, and the failed one had a process
// in which others had run, new processes look for one: what the package fills on first use may have made the plan
// another execution. again is the failure with the plan that left the goroutines, or nil.
func (s *search) leftAgain(ctx context.Context, f *failure, known func(trace.Waiter) bool) (o schedule.Outcome, again *failure, err error) {
	run := func(p schedule.Plan) (bool, error) {
		p.Record, p.Haste = true, false
		o, err = s.target.Run(ctx, p)
		return err == nil && o.Ending.Kind == trace.Leak && o.Trace != nil, err
	}
	restore := s.isolated(f)
	left, err := run(f.plan)
	restore()
	if left || err != nil {
		return o, f, err
	}
	isolator, ok := target.As[target.Isolator](s.target)
	if !ok || !f.outcome.Shared || isolator.Isolation() == target.EachNew {
		return o, nil, nil
	}
	defer target.Isolate(s.target, target.EachNew)()
	for _, p := range s.plansInNew(f, newTriesOfLeak) {
		left, err := run(p)
		if err != nil {
			return o, nil, err
		}
		if left && slices.ContainsFunc(o.Ending.Waiters, func(w trace.Waiter) bool { return !known(w) }) {
			alone := *f
			alone.plan, alone.outcome = p, o
			alone.outcome.Trace = nil
			return o, &alone, nil
		}
	}
	return o, nil, nil
}

// noteGone tells of the goroutines that were left in executions, and not when those were run again.
func (s *search) noteGone(gone []*failure, made map[standing]bool) {
	told := map[standing]bool{}
	for _, f := range gone {
		for _, w := range f.outcome.Ending.Waiters {
			at := standing{w.Op, w.Site}
			if w.Ready || made[at] || told[at] {
				continue
			}
			told[at] = true
			s.note("not reported: a goroutine was left in %d of %d executions (%s at %s), and in none of those that were run again",
				s.leaks.executions[at], s.report.Executions, w.Op, s.where(w.Site))
		}
	}
}

// leakShare returns the part of Options.Time after which a search that has seen leaks ends.
func (s *search) leakShare() float64 {
	if s.opts.LeakFails == nil {
		return noteShare
	}
	return leakShare
}

// leaksEarly reports whether a goroutine is left only where a timer fires early.
func (s *search) leaksEarly(ctx context.Context, f *failure, o *schedule.Outcome) (bool, error) {
	if !s.hurried(f, o) {
		return false, nil
	}
	defer s.isolated(f)()
	slower := *f
	o.Trace.Header.Strategy, o.Trace.Header.ExpectStatus = strategy.Describe(f.plan), s.expect
	now, err := s.briefly(ctx, &slower, o)
	if err != nil || now != nil {
		return false, err
	}
	if s.opts.LeakFails != nil {
		s.setEarlyAside(o)
	}
	return true, nil
}

// created returns the go statements that started goroutines, as far as the trace has them.
func created(t *trace.Trace) map[trace.ThreadID]trace.Site {
	sites := map[trace.ThreadID]trace.Site{}
	for i := range t.Events {
		e := &t.Events[i]
		if child, ok := e.Child(); ok && e.Op == trace.OpGo {
			sites[child] = e.Site
		}
	}
	return sites
}
