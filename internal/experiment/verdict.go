package experiment

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Verdict is what an execution shows.
type Verdict uint8

const (
	// Unknown: the execution did not end within its budget, left its script, was cut before it had come to where the recorded one
	// failed, or could not be carried out.
	Unknown Verdict = iota
	Passes          // it ended cleanly
	Same            // it failed as the recorded execution did
	Other           // it failed in another way
)

// judge returns the verdict about an execution that ended so; t is its recording, nil for none.
func (x *Experiment) judge(e *trace.Ending, t *trace.Trace) Verdict {
	goal := trace.Clean
	if x.setting.Recorded != nil {
		goal = x.setting.Recorded.Ending.Kind
	}
	switch {
	case e.Kind == trace.Clean:
		return Passes
	case !e.Kind.Failed(), e.Kind.Endless() && e.Undecided():
		return Unknown
	case e.Kind == trace.Leak && goal.Failed() && goal != trace.Leak && x.bystanders(e, t):
		return Passes
	case goal.Failed() && SameFailure(x.setting.Recorded.Ending, *e, x.setting.Modules()):
		return Same
	case e.Kind.Endless() && !goal.Endless():
		return Unknown // nobody has examined whether it is a hang
	}
	return Other
}

// outlived reports whether the threads that have part in the recorded failure came, in an execution that was cut, beyond where they stand
// in it: each has done its last operation at that instruction as often, and another one since, or has ended.
func (x *Experiment) outlived(t *trace.Trace) bool {
	recorded := x.setting.Recorded
	if recorded == nil || t == nil {
		return false
	}
	e := &recorded.Ending
	part := map[trace.ThreadID]bool{}
	for _, w := range e.Waiters {
		if e.Kind == trace.Deadlock && !(w.Ready && e.Message == trace.GoesOn) || e.Kind.Endless() || e.Kind == trace.Leak {
			part[w.Thread] = true
		}
	}
	if len(part) == 0 {
		part[e.Thread] = true
	}
	for id := range part {
		if !beyond(recorded, t, id) {
			return false
		}
	}
	return true
}

// beyond reports whether a thread came, in an execution, beyond where it stands at the end of the recorded one.
func beyond(recorded, t *trace.Trace, id trace.ThreadID) bool {
	if id < 0 || int(id) >= len(recorded.Threads) {
		return false
	}
	var last *trace.Event
	times := 0
	for i := len(recorded.Events) - 1; i >= 0; i-- {
		ev := &recorded.Events[i]
		if ev.Thread != id || !counts(ev) {
			continue
		}
		if last == nil {
			last = ev
		}
		if ev.Op == last.Op && ev.Site == last.Site {
			times++
		}
	}
	own := slices.IndexFunc(t.Threads, func(th trace.Thread) bool { return th.Name == recorded.Threads[id].Name })
	if last == nil || own < 0 {
		return false
	}
	if t.Threads[own].Ended {
		return true
	}
	for i := range t.Events {
		switch ev := &t.Events[i]; {
		case ev.Thread != trace.ThreadID(own) || !counts(ev):
		case times == 0:
			return true
		case ev.Op == last.Op && ev.Site == last.Site:
			times--
		}
	}
	return false
}

// counts reports whether an event tells how far its thread came: not an access, of which another execution may have recorded more, nor the
// abort with which an execution fails.
func counts(ev *trace.Event) bool {
	return ev.Flags&trace.FlagNoDecision == 0 && !ev.Op.IsAccess() && ops.Of(ev.Op).Of != ops.Execution
}

// bystanders reports whether an execution left only threads behind that stand where some of the recorded one stand when it fails, or that
// go on beside its deadlock. They have no part in the failure. left is the recording of the execution, nil for none.
func (x *Experiment) bystanders(leak *trace.Ending, left *trace.Trace) bool {
	t := x.setting.Recorded
	at := map[trace.Site]bool{}
	beside := map[uint64]bool{} // by their names
	for _, w := range t.Ending.Waiters {
		at[w.Site] = true
		if w.Ready && t.Ending.Message == trace.GoesOn && int(w.Thread) < len(t.Threads) {
			beside[t.Threads[w.Thread].Name] = true
		}
	}
	seen := map[trace.ThreadID]bool{t.Ending.Thread: true}
	for _, e := range slices.Backward(t.Events) {
		if !seen[e.Thread] && e.Op != trace.OpThreadEnd {
			at[e.Site] = true
		}
		seen[e.Thread] = true
	}
	return !slices.ContainsFunc(leak.Waiters, func(w trace.Waiter) bool {
		return !at[w.Site] && !(left != nil && int(w.Thread) < len(left.Threads) && beside[left.Threads[w.Thread].Name])
	})
}

// SameFailure reports whether two executions failed in the same way, whether or not the access that faults is a
// scheduling point: the hook of one that is may read the memory, and then faults before the instruction does.
func SameFailure(a, b trace.Ending, modules []trace.Module) bool {
	if finding.Of(a, modules).Same(finding.Of(b, modules)) {
		return true
	}
	const near = 32 // bytes from the hook's return address to the end of the instruction
	return a.Kind == trace.Signal && b.Kind == trace.Signal && a.Status == b.Status &&
		a.Site.Module() == b.Site.Module() && max(a.Site.Offset(), b.Site.Offset())-min(a.Site.Offset(), b.Site.Offset()) <= near
}
