package simprog

import (
	"slices"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// script follows a plan's script.
type script struct {
	mode       schedule.Mode
	steps      []schedule.Step
	names      []trace.Thread
	at         int // next step
	deviations int
	off        int // operations since the present interval was left
	waking     *schedule.Step
}

// patience is how many operations a thread may do off its interval before the next
// interval's turn comes.
const patience = 200

func newScript(p schedule.Plan) script {
	return script{mode: p.Mode, steps: p.Script, names: p.Threads}
}

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

// wake is the thread that the present step wakes, nil if it says none.
func (s *script) wake(x *execution) *Thread {
	if s.waking == nil {
		return nil
	}
	return s.thread(x, s.waking.Wake)
}

// choose is the script's choice, if it has one. A nil thread means that the execution has
// ended: it diverged.
func (s *script) choose(x *execution, can, timed []*Thread) (t *Thread, decided bool) {
	s.waking = nil
	if s.mode == schedule.Strict {
		return s.strict(x, can, timed), true
	}
	t = s.tolerant(x, can, timed)
	return t, t != nil
}

func (s *script) strict(x *execution, can, timed []*Thread) *Thread {
	if s.at < len(s.steps) {
		step := &s.steps[s.at]
		t := s.thread(x, step.Thread)
		ready := can
		if step.Timeout {
			ready = timed
		}
		if t != nil && slices.Contains(ready, t) && matches(t, step) {
			s.at++
			s.waking = step
			return t
		}
	}
	// What would have come instead: the expected thread's operation if it is another
	// one, else that of a thread that can run.
	d := &schedule.Divergence{Step: s.at, Met: schedule.Step{Thread: -1, Wake: -1}}
	if s.at < len(s.steps) {
		d.Expected = s.steps[s.at]
		if t := s.thread(x, d.Expected.Thread); t != nil && slices.Contains(can, t) {
			d.Met = met(t)
		} else if len(can) > 0 {
			d.Met = met(can[0])
		}
	} else if len(can) > 0 {
		d.Met = met(can[0])
	}
	x.over = true
	x.ending = trace.Ending{Kind: trace.Diverged, Status: int32(s.at), Waiters: x.waiters()}
	x.outcome.Diverged = d
	return nil
}

func met(t *Thread) schedule.Step {
	return schedule.Step{Thread: t.id, Op: t.next.op, Site: t.next.site, Wake: -1}
}

func matches(t *Thread, step *schedule.Step) bool {
	return t.next.op == step.Op && t.next.site == step.Site
}

// tolerant follows the script interval by interval (FSE'10 §4.2.1): a thread that does
// something else runs on until it rejoins its interval; one that is blocked, gone, or does
// not rejoin yields to the next interval. It returns nil at the script's end.
func (s *script) tolerant(x *execution, can, timed []*Thread) *Thread {
	for s.at < len(s.steps) {
		end := s.at + 1
		for end < len(s.steps) && s.steps[end].Thread == s.steps[s.at].Thread {
			end++
		}
		t := s.thread(x, s.steps[s.at].Thread)
		if t != nil && s.off < patience {
			for i := s.at; i < end; i++ {
				step := &s.steps[i]
				ready := can
				if step.Timeout {
					ready = timed
				}
				if matches(t, step) && slices.Contains(ready, t) {
					s.deviations += i - s.at
					s.at, s.off = i+1, 0
					s.waking = step
					return t
				}
			}
			if slices.Contains(can, t) {
				s.off++
				s.deviations++
				return t
			}
		}
		s.deviations += end - s.at
		s.at, s.off = end, 0
	}
	return nil
}
