package engine

import "time"

// ahead is about how much work a worker has in hand if it is one of several: enough not to wait for
// heddle, and little, because no other worker can take it over.
const ahead = time.Millisecond

// load is what a worker has in hand.
type load struct {
	plans, executions int       // taken and not ended; a plan's executions count until all have ended
	since             time.Time // when the plan that is executed now began
}

// begin is called when the worker, which has nothing in hand, begins to take plans.
func (l *load) begin() { l.since = time.Now() }

// full reports whether a worker should leave further plans to others; pace is how long an execution takes,
// 0 if that is not known. One plan is executed while the next waits for it.
func (l *load) full(pace time.Duration) bool {
	return l.plans >= 2 && (pace == 0 || time.Duration(l.executions)*pace >= ahead)
}

func (l *load) took(executions int) {
	l.plans++
	l.executions += executions
}

// done says that the worker has ended a plan of so many executions, and moves pace, an average over
// the last plans, towards what this one took.
func (l *load) done(executions int, pace *time.Duration) {
	const inertia = 8
	l.plans--
	l.executions -= executions
	now := time.Now()
	took := now.Sub(l.since) / time.Duration(max(1, executions))
	l.since = now
	if *pace == 0 {
		*pace = took
	}
	*pace += (took - *pace) / inertia
}
