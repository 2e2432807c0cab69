package simprog

import (
	"math"
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Virtual time, in ns since the execution began; docs/scheduler.md defines when it passes.

const (
	forever = math.MaxInt64

	drift         = 10_000  // ns of the first step of time while every thread only waits
	largestDrift  = 1 << 42 // up to which the steps double
	shortestSleep = 50_000  // ns, as on Linux
)

func slackOf(d schedule.Delays) int64 {
	switch d {
	case schedule.ShortDelays:
		return abi.SlackNs
	case schedule.BriefDelays:
		return int64(schedule.Brief)
	case schedule.AnyDelays:
		return forever
	}
	return 0
}

// timeOut sets when t's pending wait, sleep or timer is over.
func (t *Thread) timeOut(deadline int64) {
	t.timed, t.timedOut, t.deadline = true, false, deadline
}

// runOut is called when the deadline of u's wait has passed. A condition wait is not over by
// that: timing out is an event of its own, which needs no lock.
func (x *execution) runOut(u *Thread) {
	u.idle, u.futile = 0, 0
	u.ran = x.points
	u.timed = false
	if u.next.op == trace.OpCondWake {
		u.due = true
	} else {
		u.timedOut = true
	}
}

// timeExpires ends the waits whose deadlines have passed, and reports whether there were any.
func (x *execution) timeExpires() (any bool) {
	for _, t := range x.threads {
		if t.timed && t.deadline <= x.time {
			x.runOut(t)
			any = true
		}
	}
	return any
}

// timePasses moves time to the next deadline; it reports false if no deadline is due by until.
func (x *execution) timePasses(until int64) bool {
	var first *Thread
	for _, t := range x.threads {
		if t.timed && (first == nil || t.deadline < first.deadline) {
			first = t
		}
	}
	if first == nil || first.deadline > until {
		return false
	}
	x.time = max(x.time, first.deadline)
	x.runOut(first)
	return true
}

// timeDrifts lets time pass while nothing changes: in steps, since a thread that spins may
// look at a clock. It reports whether that ended a wait.
func (x *execution) timeDrifts() bool {
	if x.driftAt != x.progressAt || x.drift == 0 {
		x.driftAt, x.drift = x.progressAt, drift
	}
	until := x.time + x.drift
	if x.drift < largestDrift {
		x.drift *= 2
	}
	if x.timePasses(until) {
		return true
	}
	x.time = until
	return false
}

// timeLong lets time pass although threads are at work, in steps that grow: what waits for a time
// is not stuck.
func (x *execution) timeLong() {
	if x.points%abi.LongEvery != 0 {
		return
	}
	if x.longSince == 0 {
		x.longSince = x.time
	}
	if x.time>>abi.LongBits == 0 {
		x.time += (x.time - x.longSince) / abi.LongShare
	}
	x.time += abi.LongNs
}

// mayOvertake reports whether the slack is enough for u's time to come now.
func (x *execution) mayOvertake(u *Thread) bool {
	return x.slack == forever || u.deadline-x.time <= x.slack
}

// overtaken takes that from the slack.
func (x *execution) overtaken(u *Thread) {
	if x.slack != forever && u.deadline > x.time {
		x.slack -= min(u.deadline-x.time, x.slack)
	}
}

// early ends u's wait before its time.
func (x *execution) early(u *Thread) {
	u.idle, u.futile = 0, 0
	u.ran = x.points
	u.timed, u.timedOut = false, true
	x.time = max(x.time, u.deadline)
}

// timerBefore reports whether a timer is set to a time before that and has not expired.
func (x *execution) timerBefore(time int64) bool {
	for _, t := range x.threads {
		if t.timer && (t.timed || t.timedOut) && t.deadline < time {
			return true
		}
	}
	return false
}

// offerSleepers adds sleepers whose time may come early to the threads that can run.
func (x *execution) offerSleepers(can []*Thread) (all, offered []*Thread) {
	for _, t := range x.threads {
		if t.timed && t.next.op == trace.OpSleep && !x.decision.Has(t.id) && x.mayOvertake(t) && !x.timerBefore(t.deadline) {
			offered = append(offered, t)
		}
	}
	if offered == nil {
		return can, nil
	}
	for _, t := range x.threads {
		if slices.Contains(can, t) || slices.Contains(offered, t) {
			all = append(all, t)
		}
	}
	return all, offered
}

// takeOffer ends a sleep that was chosen before its time.
func (x *execution) takeOffer(t *Thread, offered []*Thread) {
	if slices.Contains(offered, t) {
		x.overtaken(t)
		x.early(t)
	}
}
