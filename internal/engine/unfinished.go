package engine

import (
	"errors"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// UnfinishedExecutions are the executions of a search that heddle ended before they were over. What they would have shown
// is not known.
type UnfinishedExecutions struct {
	Executions int `json:"executions"`
	// The others describe the first of them.
	Execution int    `json:"execution"` // its number in the exploration, from 1
	Why       string `json:"why"`       // trace.Ending.Message
	Points    int    `json:"points"`    // scheduling points that it had passed
	// Longest is the number of scheduling points of the longest execution that ended by then, 0 if none had.
	Longest int               `json:"longest,omitempty"`
	Threads []report.Position `json:"threads"`
}

// unfinished counts an execution that heddle ended before it was over.
func (s *search) unfinished(o *schedule.Outcome) {
	if s.report.Unfinished != nil {
		s.report.Unfinished.Executions++
		return
	}
	u := unfinishedExecution(o, s.caller, func(t *trace.Trace, x trace.Object) string { return s.object(t, x, 0) })
	u.Execution, u.Longest = s.report.Executions, s.longest
	s.report.Unfinished = u
}

// UnfinishedExecution describes an execution that heddle ended before it was over; locate and objects are like those of Options.
func UnfinishedExecution(o *schedule.Outcome, locate finding.Locate, objects func(t *trace.Trace, o trace.Object, size uint32, at int) string) *UnfinishedExecutions {
	where := func(s trace.Site, calls []trace.Site) string { return finding.Caller(s, calls, locate).Text }
	return unfinishedExecution(o, where, func(t *trace.Trace, x trace.Object) string { return objects(t, x, 0, 0) })
}

// passed returns how many scheduling points an execution passed. The one at which its budget was exhausted it only reached.
func passed(o *schedule.Outcome) int {
	if o.Ending.OutOfSteps() {
		return max(0, o.Points-1)
	}
	return o.Points
}

// unfinishedExecution is UnfinishedExecution with the names of a search.
func unfinishedExecution(o *schedule.Outcome, where func(trace.Site, []trace.Site) string, object func(*trace.Trace, trace.Object) string) *UnfinishedExecutions {
	t := o.Trace
	if t == nil {
		t = &trace.Trace{}
	}
	return &UnfinishedExecutions{
		Executions: 1, Execution: 1, Why: o.Ending.Message, Points: passed(o),
		Threads: report.Positions(&o.Ending, t.Stacks, where, func(x trace.Object) string { return object(t, x) }),
	}
}

// An execution that runs when the search ends is the last one of a search, and no more is known of it than of those that
// were never begun; unless it has gone on for farLonger times as many scheduling points as the longest execution that ended, and
// surelyLong at least, has passed as many times as many quiet stretches, and surelyQuiet at least, or has given no
// sign of life for stillLong.
const (
	farLonger   = 8
	surelyLong  = 10_000
	surelyQuiet = 10 // 2 * 10^5 accesses without a scheduling point of the program's
	stillLong   = time.Second
)

// cutShort sees the error of an exploration, and counts the execution that ran when it ended if that was far longer than the others.
func (s *search) cutShort(err error) {
	var cut *target.CutError
	if !errors.As(err, &cut) {
		return
	}
	o := &cut.Outcome
	none := s.report.Executions == 0 || s.report.Unfinished != nil && s.report.Unfinished.Executions == s.report.Executions
	if !none && o.Points <= max(farLonger*s.longest, surelyLong) && o.Stretches <= max(farLonger*s.quiet, surelyQuiet) && cut.Still < stillLong {
		return
	}
	s.report.Executions++
	s.unfinished(o)
}

// further reports whether both errors are of executions that ran when the context ended, and the first had gone on for longer.
func further(a, b error) bool {
	var x, y *target.CutError
	return errors.As(a, &x) && errors.As(b, &y) && (x.Still > y.Still || x.Still == y.Still && x.Outcome.Points > y.Outcome.Points)
}

// errFirst ends a search whose first execution did not end: the others would not, either.
var errFirst = errors.New("the first execution did not end")

// Advice says what a user can do about executions that did not end.
func (u *UnfinishedExecutions) Advice() string {
	if why, _, _ := strings.Cut(u.Why, ":"); why == trace.CutBySteps {
		return "give the program less work, or an end, or raise the budget with --max-steps, or let executions end early with --cut"
	} else if why == trace.NoProgress {
		return "give the program less work, or an end: no larger budget decides whether it goes on"
	} else if why == trace.CutByThreads {
		return "give the program less work, or an end: no flag lets an execution create more threads"
	} else if why == trace.CutByWatchdog {
		return "give the program less work, or an end, or more time between two scheduling points with --watchdog"
	} else if why == trace.CutByOthers {
		return "make the other process end, answer or send what the program waits for within some seconds"
	}
	return "give the program less work, or an end, or raise --time, or let executions end early with --cut"
}
