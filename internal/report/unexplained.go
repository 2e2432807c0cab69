package report

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/wording"
)

// Unexplained says why an explanation names no ordering.
type Unexplained string

// The reasons.
const (
	// OutOfTime: the limit on the time was reached first.
	OutOfTime Unexplained = "limit"
	// OutOfRuns: the limit on the executions was reached first.
	OutOfRuns Unexplained = "executions"
	// AlwaysFails: every schedule that was tried fails in the same way.
	AlwaysFails Unexplained = "always"
	// OneThread: the execution has one thread, and nothing in it that a schedule decides.
	OneThread Unexplained = "single"
	// FailsOtherwise: every schedule that was tried fails, some in another way.
	FailsOtherwise Unexplained = "otherwise"
	// NotEnded: no schedule that was tried passes, and some executions did not end within their budget.
	NotEnded Unexplained = "unfinished"
	// NoOrder: schedules pass, but no ordering of two events, nor two such orderings together, decides.
	NoOrder Unexplained = "none"
	// StartsTooLate: the failure vanishes only if a thread is created so late that it hardly runs at the same time as others.
	StartsTooLate Unexplained = "start"
	// WaitsOutside: executions waited for something that heddle does not control, so they may fail or pass for other reasons.
	WaitsOutside Unexplained = "outside"
)

// Says is the reason in words; passed of the executions did not fail.
func (r Unexplained) Says(executions, passed int) string {
	n := wording.Count(executions, "execution")
	switch r {
	case OutOfTime:
		return "not known: its time limit was reached after " + n
	case OutOfRuns:
		return "not known: its limit of executions was reached after " + n
	case AlwaysFails:
		return "the failure does not depend on the schedule as far as tried: " + n + " failed in the same way"
	case OneThread:
		return "the failure does not depend on the schedule: the execution has only one thread"
	case FailsOtherwise:
		return "not known: none of " + n + " passed, and some failed in another way"
	case NotEnded:
		return "not known: none of " + n + " passed, and some did not end"
	case NoOrder:
		if passed == 0 { // others are known to
			return "no order of events was found on which it depends, in " + n
		}
		return fmt.Sprintf("no order of events was found on which it depends; %d of %s did not fail", passed, n)
	case StartsTooLate:
		return "no order of events was found on which it depends, only when a thread is created"
	case WaitsOutside:
		return "not known: the program waits for something outside heddle's control"
	}
	return ""
}

// Always reports whether the failure does not depend on the schedule, as far as that was tried.
func (r Unexplained) Always() bool { return r == AlwaysFails || r == OneThread }

// unexplained says why an explanation names no ordering.
func (x *explaining) unexplained(e *Explanation) string {
	if said := e.Reason.Says(e.Executions, e.Passed); said != "" {
		if e.Reason.Always() {
			return "T" + said[1:] + "."
		}
		return "The cause: " + said + "."
	}
	return "No single ordering of two events was found whose turning makes the failure vanish."
}
