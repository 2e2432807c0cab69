package simprog

import (
	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// script follows a plan's script, as specified in docs/scheduler.md.
type script struct {
	mode       schedule.Mode
	steps      []schedule.Step
	names      []trace.Thread
	at         int // next step
	deviations int
	off        int     // operations in a row off the path of the present interval
	wake       *Thread // that a signal in the present step wakes; nil if the step names none
}

func newScript(p schedule.Plan) script {
	s := script{mode: p.Mode, steps: p.Script, names: p.Threads}
	if p.Mode == schedule.NoScript {
		s.steps = nil
	}
	return s
}

// endsWithScript reports whether the step budget is as long as the strict script: the
// execution ends with it. The number of points does not show it, since not every step has an arrival.
func (s *script) endsWithScript(p *schedule.Plan) bool {
	return s.mode == schedule.Strict && len(s.steps) > 0 && p.MaxSteps == len(s.steps)
}

// remains reports whether steps are left, so that the execution is not a hang yet.
func (s *script) remains() bool { return s.at < len(s.steps) }

// thread is the one that a step names, nil if it has not been created.
func (s *script) thread(x *execution, id trace.ThreadID) *Thread {
	if id < 0 || int(id) >= len(s.names) {
		return nil
	}
	for _, t := range x.threads {
		if t.info.Name == s.names[id].Name {
			return t
		}
	}
	return nil
}

// choose returns the script's decision, nil if it has none: the script has ended, or, with x.over
// set, the execution has diverged.
func (s *script) choose(x *execution) *Thread {
	if s.at == len(s.steps) {
		return nil
	}
	if s.mode == schedule.Strict {
		return s.strict(x)
	}
	return s.tolerant(x)
}

// matches reports whether a step may be what t does next: its pending operation, or a detour.
func (s *script) matches(x *execution, t *Thread, step *schedule.Step) bool {
	return t.next.site == step.Site && (t.next.op == step.Op || x.detourPossible(t, step.Op))
}

// overtakes reports whether the time of t's wait may come now, though it has not.
func (s *script) overtakes(x *execution, t *Thread, step *schedule.Step) bool {
	if step.Timeout && s.mode == schedule.Strict {
		return true
	}
	if !step.Timeout && t.next.op != trace.OpSleep {
		return false
	}
	return x.mayOvertake(t)
}

// take makes t perform a matching step, if t is enabled.
func (s *script) take(x *execution, t *Thread, step *schedule.Step) bool {
	if t.next.op != step.Op {
		if step.Op == trace.OpCondTimeout && !t.due {
			if !s.overtakes(x, t, step) {
				return false
			}
			x.overtaken(t)
		}
		t.detour = step.Op
		return true
	}
	if !x.possible(t) {
		if !t.timed || t.next.op == trace.OpCondWake || !s.overtakes(x, t, step) {
			return false
		}
		x.overtaken(t)
		x.early(t)
	}
	t.detour = trace.OpNone
	s.wake = s.thread(x, step.Wake)
	return true
}

func (s *script) strict(x *execution) *Thread {
	step := &s.steps[s.at]
	t := s.thread(x, step.Thread)
	if t == nil || t.ended {
		s.diverge(x, nil)
		return nil
	}
	if !s.matches(x, t, step) || !s.take(x, t, step) {
		s.diverge(x, t)
		return nil
	}
	if s.at++; s.at == len(s.steps) && s.endsWithScript(&x.plan) {
		x.budget = x.points
	}
	return t
}

// diverge ends the execution at the present step. t is the step's thread, nil if it is not
// there.
func (s *script) diverge(x *execution, t *Thread) {
	d := &schedule.Divergence{Step: s.at, Expected: s.steps[s.at], Met: schedule.Step{Thread: -1, Wake: -1}}
	if t != nil {
		d.Met = schedule.Step{Thread: t.id, Op: t.next.op, Site: t.next.site, Wake: -1}
	}
	x.over = true
	x.ending = trace.Ending{Kind: trace.Diverged, Status: int32(s.at), Waiters: x.waiters()}
	x.outcome.Diverged = d
}

// nextInterval abandons the rest of the present interval.
func (s *script) nextInterval() {
	thread := s.steps[s.at].Thread
	for s.at < len(s.steps) && s.steps[s.at].Thread == thread {
		s.at++
		s.deviations++
	}
	s.off = 0
}

// tolerant follows the script interval by interval (FSE'10 §4.2.1).
func (s *script) tolerant(x *execution) *Thread {
	for s.at < len(s.steps) {
		step := &s.steps[s.at]
		t := s.thread(x, step.Thread)
		if t == nil || t.ended {
			s.nextInterval()
			continue
		}
		if s.matches(x, t, step) && s.take(x, t, step) {
			s.at++
			s.off = 0
			return t
		}
		if !x.decision.Has(t.id) {
			s.nextInterval()
			continue
		}
		// Off the path. Does the rest of the interval expect this operation?
		for i := s.at + 1; i < len(s.steps) && i < s.at+abi.LookAhead && s.steps[i].Thread == step.Thread; i++ {
			if s.matches(x, t, &s.steps[i]) && s.take(x, t, &s.steps[i]) {
				s.deviations += i - s.at
				s.at, s.off = i+1, 0
				return t
			}
		}
		if step.Op == trace.OpYield || step.Op == trace.OpGosched { // orders nothing
			s.deviations++
			if s.at++; s.at < len(s.steps) && s.steps[s.at].Thread != step.Thread {
				s.off = 0
			}
			continue
		}
		if t.computes {
			if s.off += abi.Patience / 4; s.off <= abi.Patience {
				t.detour = x.detourNeeded(t)
				return t
			}
		}
		// Yielding or sleeping off its path, it waits for another thread.
		waits := t.next.op == trace.OpYield || t.next.op == trace.OpSleep || t.spinning()
		if !waits {
			s.off++
		}
		if waits || s.off > abi.Patience {
			s.nextInterval()
			continue
		}
		s.deviations++
		t.detour = x.detourNeeded(t)
		return t
	}
	return nil
}
