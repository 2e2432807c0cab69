package engine

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Leak is a goroutine that was left when a test ended. Goroutines that one go statement
// started are one leak.
type Leak struct {
	Created string `json:"created"` // the go statement
	Op      string `json:"op"`      // what it was about to do or blocked in
	Where   string `json:"where"`
	// Running says that it may still have gone on. Otherwise it could not: it was blocked, and
	// so was everything else.
	Running bool `json:"running"`
	// Executions of the exploration ended with a goroutine blocked in this place.
	Executions int `json:"executions"`
}

const (
	// maxAside bounds the executions that are kept to make sure of leaks.
	maxAside = 16
	// maxLingering is how many executions may take their time to tell that a goroutine is
	// still running after the test. That takes far longer than most tests.
	maxLingering = 4
	// leakTime bounds the time to make sure of leaks.
	leakTime = 10 * time.Second
)

// standing is where a goroutine was when its test ended. It is known without a recording,
// unlike the go statement that started it.
type standing struct {
	op   trace.Op
	site trace.Site
}

// leaks are the executions that ended well but for goroutines that were left. Anything is
// worse than a leak, so these count as good executions while the exploration lasts.
type leaks struct {
	lingering  int // executions that left goroutines which were still running
	executions map[standing]int
	aside      []*failure // each was the first with some standing
}

// setAside takes note of the goroutines that an execution left, which ended with trace.Leak, and
// makes it a good one. p is the plan of this execution alone, number that of the execution.
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
		l.executions = map[standing]int{}
	}
	for s := range met {
		l.executions[s]++
		fresh = fresh || l.executions[s] == 1
	}
	if fresh && len(l.aside) < maxAside {
		p.Haste = false
		l.aside = append(l.aside, &failure{plan: p, outcome: *o, number: number})
	}
	withoutLeak(&o.Ending)
	if o.Trace != nil {
		t := *o.Trace // the other is kept as it is
		withoutLeak(&t.Ending)
		o.Trace = &t
	}
}

// withoutLeak makes the ending that of a good execution, if a leak is all there was.
func withoutLeak(e *trace.Ending) {
	if e.Kind == trace.Leak {
		e.Kind, e.Waiters, e.Message = trace.Clean, nil, ""
	}
}

// reportLeaks runs the executions that were set aside once more, in processes of their own,
// and reports the goroutines that are left again: what earlier executions of a process left
// may have had a part in the first run. If nothing worse was found, the first leak that
// Options.LeakFails calls a failure is the finding.
func (s *search) reportLeaks(ctx context.Context) error {
	made := map[standing]bool{}
	byCreation := map[trace.Site]*Leak{}
	began := time.Now()
	for _, f := range s.leaks.aside {
		known := func(w trace.Waiter) bool { return made[standing{w.Op, w.Site}] }
		if !slices.ContainsFunc(f.outcome.Ending.Waiters, func(w trace.Waiter) bool { return !known(w) }) {
			continue
		}
		if time.Since(began) > leakTime {
			s.note("not all goroutines that were left are listed: making sure of them takes too long")
			break
		}
		p := f.plan
		p.Record, p.Haste = true, false
		o, err := s.target.Run(ctx, p)
		if err != nil {
			return err
		}
		if o.Ending.Kind != trace.Leak || o.Trace == nil {
			continue
		}
		fails := false
		for _, w := range o.Ending.Waiters {
			at := standing{w.Op, w.Site}
			if made[at] {
				continue
			}
			made[at] = true
			site := created(o.Trace, w.Thread)
			leak := byCreation[site]
			if leak == nil {
				leak = &Leak{Created: s.where(site, false), Op: w.Op.String(), Where: s.where(w.Site, false)}
				byCreation[site] = leak
				fails = fails || s.opts.LeakFails != nil && s.opts.LeakFails(*leak)
			}
			leak.Running = leak.Running || w.Ready
			leak.Executions = max(leak.Executions, s.leaks.executions[at])
		}
		if fails && s.report.Finding == nil {
			// The exploration may have used up its time already.
			bounded, cancel := limited(ctx, leakTime)
			_, err := s.confirm(bounded, f)
			cancel()
			if err != nil && !outOfTime(bounded) {
				return err
			}
		}
	}
	for _, l := range byCreation {
		s.report.Leaks = append(s.report.Leaks, *l)
	}
	slices.SortFunc(s.report.Leaks, func(a, b Leak) int { return cmp.Or(cmp.Compare(a.Created, b.Created), cmp.Compare(a.Where, b.Where)) })
	return nil
}

// created is the go statement that started a goroutine; 0 if it is not in the trace.
func created(t *trace.Trace, id trace.ThreadID) trace.Site {
	for i := range t.Events {
		e := &t.Events[i]
		if child, ok := e.Child(); ok && child == id && e.Op == trace.OpGo {
			return e.Site
		}
	}
	return 0
}
