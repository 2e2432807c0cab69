package ipc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Program is what a kind of target knows and the wire does not. The methods are called from
// the goroutine that called Stream.
type Program interface {
	// Launch gives a process that takes plans and that nobody else has.
	Launch(context.Context) (*Process, error)

	// Begin is called before anything of the next execution is named, also of one that is
	// not recorded.
	Begin()
	// PC is the address that a site has in the running process; Site is the inverse.
	PC(trace.Site) uint64
	Site(pc uint64) trace.Site
	// Object names what a runtime reports as an address; by is the thread that used it.
	Object(addr uint64, stacks *Stacks, by trace.ThreadID) trace.Object
	Header() trace.Header
	Modules() []trace.Module // that what was named since Begin refers to

	// Ended completes an ending with what the records do not say. If the process ends with
	// an execution that failed or was recorded, it has ended by now.
	Ended(*Process, *schedule.Plan, *trace.Ending)
}

// Loop runs plans in one process after the other. What a process was asked for and did not
// get to, because it ended, goes to the next one.
type Loop struct {
	Program  Program
	Watchdog time.Duration // without a sign of life until an execution is called a hang
	// Memory is what the recording of an execution may use, its watcher included, in bytes;
	// 0 for no bound. Accesses past it are left out, scheduling points never are.
	Memory int64
	// Drain is how many executions that nobody wants any more are waited for. If there are
	// more of them the process is ended instead.
	Drain int
	// Again, if it is set, is shown each result and its message before anything is made of
	// it. If it reports true the result is forgotten, and the next process runs the
	// execution again.
	Again func(p *Process, r *abi.Result, message string) bool

	proc   *Process
	nextID uint64
	x      execution    // the one that is under way
	still  atomic.Int64 // nanoseconds
}

// Still is how long the execution under way has given no sign of life, as the watchdog sees
// it; 0 if none exists. It may be called from any goroutine.
func (l *Loop) Still() time.Duration { return time.Duration(l.still.Load()) }

// Process is the one in use, nil if none exists.
func (l *Loop) Process() *Process { return l.proc }

// Renew gives up the process in use, if any, for one that has done nothing yet.
func (l *Loop) Renew(ctx context.Context) (err error) {
	l.Close()
	l.proc, err = l.Program.Launch(ctx)
	return err
}

// Close ends the process in use, if any. The loop remains usable.
func (l *Loop) Close() {
	if l.proc != nil {
		l.proc.Close()
		l.proc = nil
	}
}

// Run does one execution of p, as target.Target.
func (l *Loop) Run(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
	p.Repeat = 1
	var out schedule.Outcome
	got, sent := false, false
	err := l.Stream(ctx, func() (schedule.Plan, bool) {
		first := !sent
		sent = true
		return p, first
	}, func(_ schedule.Plan, o schedule.Outcome) bool {
		out, got = o, true
		return true
	})
	if err == nil && !got {
		err = errors.New("the runtime ended a plan without running it")
	}
	return out, err
}

const maxQueued = 64

// job is a plan that was taken and has not ended. A process is given it whole or, where the
// process may not do as many executions, a first part of what is left of it.
type job struct {
	plan schedule.Plan
	done int  // executions that have ended
	over bool // no more of them are wanted

	id    uint64 // of the part that was given last, or is to be
	first int    // its first execution
	given int    // how many it has
	bytes []byte // not given yet: its record
}

// stream is one call of Stream.
type stream struct {
	*Loop
	next    func() (schedule.Plan, bool)
	done    func(schedule.Plan, schedule.Outcome) bool
	queue   []job
	sent    int  // the process has been given the first so many
	more    bool // next may have a plan: it is asked after each outcome
	stopped bool // by done: what comes now is not wanted
	dog     watchdog
}

// Stream is that of target.Target. After an error there is no process in use.
func (l *Loop) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) (err error) {
	s := &stream{Loop: l, next: next, done: done, more: true, dog: watchdog{limit: l.Watchdog}}
	l.x.reset()
	defer func() {
		l.still.Store(0)
		if err != nil {
			l.Close() // whatever is queued must not run into the next call
		}
	}()
	for records := 0; ; {
		if err := s.feed(); err != nil {
			return err
		}
		if len(s.queue) == 0 {
			return nil
		}
		if s.sent == 0 && (l.proc == nil || !l.proc.Alive() || l.proc.spent()) {
			s.taken()
			if err := l.Renew(ctx); err != nil {
				return err
			}
			continue
		}
		kind, b, ok := l.proc.results.Next()
		// Records may come as fast as they are read, those of one execution for minutes.
		if records++; !ok || records%256 == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		if !ok {
			if hung, err := s.dog.look(l.proc); err != nil {
				return err
			} else if hung && s.sent > 0 {
				s.hang()
				continue
			}
			l.still.Store(int64(s.dog.after))
			l.proc.trim()
			l.proc.results.Wait(50 * time.Millisecond)
			continue
		}
		s.dog.seen()
		if l.still.Load() != 0 {
			l.still.Store(0)
		}
		if err := s.record(kind, b); err != nil {
			return err
		}
	}
}

// feed takes plans and gives them to the process, as far as there is room for them.
func (s *stream) feed() error {
	for {
		if s.sent == len(s.queue) {
			if !s.more || s.stopped || len(s.queue) == maxQueued {
				return nil
			}
			p, ok := s.next()
			if !ok {
				s.more = false
				return nil
			}
			s.queue = append(s.queue, job{plan: p})
		}
		if ok, err := s.give(&s.queue[s.sent]); !ok || err != nil {
			return err
		}
		s.sent++
	}
}

// give puts a job's next part into the plan ring. It reports false if that cannot be now.
func (s *stream) give(j *job) (bool, error) {
	p := s.proc
	if p == nil || p.spent() || s.sent == 0 && !p.Alive() {
		return false, nil
	}
	if j.bytes == nil {
		j.first, j.given = j.done, max(j.plan.Repeat, 1)-j.done
		if p.Budget > 0 {
			j.given = min(j.given, p.Budget-p.asked)
		}
		s.nextID++
		j.id = s.nextID
		b, err := encode(s.Program, j.id, &j.plan, j.first, j.given, s.Memory, &p.sent)
		if err != nil {
			return false, err
		}
		j.bytes = b
	}
	if !p.plans.Put(1, j.bytes) {
		return false, nil
	}
	p.asked += j.given
	p.sent = sentPoints{true, j.plan.Points}
	j.bytes = nil
	return true, nil
}

// record takes in one record of the result ring.
func (s *stream) record(kind uint32, b []byte) error {
	if kind == recDamaged {
		return errDamaged
	}
	if kind == abi.RecPlanEnd {
		s.proc.results.Release()
		if s.sent == 0 {
			return errors.New("the runtime ended a plan that it was not given")
		}
		// A part that was run to its end leaves the rest to the next process. One that was
		// not was stopped by the runtime, as the plan asked.
		if j := &s.queue[0]; s.stopped || j.over || j.done < j.first+j.given {
			s.queue = s.queue[1:]
		}
		s.sent--
		return nil
	}
	if s.sent > 0 && !s.x.begun {
		if s.stopped {
			s.x.begin(s.Program, &schedule.Plan{}, 0) // nobody wants it
		} else {
			s.x.begin(s.Program, &s.queue[0].plan, s.Memory)
		}
	}
	r, err := s.x.add(kind, b)
	s.proc.results.Release()
	if r == nil || err != nil {
		return err
	}
	if s.sent == 0 || r.Plan != s.queue[0].id {
		return fmt.Errorf("the runtime reported on plan %d, which was not asked for", r.Plan)
	}
	j := &s.queue[0]
	if !s.stopped && s.Again != nil && s.Again(s.proc, r, s.x.message) {
		s.x.reset()
		s.Close()
		s.dog.seen()
		s.taken()
		return nil
	}
	var o schedule.Outcome
	if !s.stopped {
		if r.Last != 0 && (j.plan.Record || r.Outcome != abi.OutClean) {
			s.proc.settle()
		}
		o = outcome(s.Program, s.proc, &j.plan, &s.x, r)
	}
	o.Index = j.first + int(r.Index)
	s.ended(o, r.Last != 0)
	return nil
}

// hang ends the execution of a process that does not answer. There is no record of it.
func (s *stream) hang() {
	s.proc.kill()
	j := &s.queue[0]
	o := schedule.Outcome{Index: j.done, Ending: trace.Ending{Kind: trace.Hang, Message: "watchdog: killed, because the program did not answer"}}
	s.Program.Ended(s.proc, &j.plan, &o.Ending)
	s.ended(o, true)
}

// ended reports an execution of the first job and finds out what is left to do. last says
// that the process ends with it.
func (s *stream) ended(o schedule.Outcome, last bool) {
	j := &s.queue[0]
	s.x.reset()
	s.more = true
	j.done = o.Index + 1
	j.over = j.plan.Ends(&o)
	if !s.stopped && !s.done(j.plan, o) {
		s.stopped = true
		s.queue = s.queue[:s.sent]
		if s.outstanding() > s.Drain {
			last = true
		}
	}
	if !last {
		return
	}
	s.Close()
	s.dog.seen()
	switch {
	case s.stopped:
		s.queue = nil
	case j.over:
		s.queue = s.queue[1:]
	}
	s.taken()
}

// taken marks all queued jobs as unsent.
func (s *stream) taken() {
	for i := range s.queue {
		s.queue[i].bytes = nil // it depends on what the process has been given before
	}
	s.sent = 0
}

// outstanding is how many executions the process has still to do.
func (s *stream) outstanding() int {
	n := 0
	for i := range s.queue[:s.sent] {
		n += s.queue[i].given
	}
	if j := &s.queue[0]; j.over {
		n -= j.given
	} else {
		n -= j.done - j.first
	}
	return n
}

// watchdog tells a program that computes or blocks without scheduling points.
type watchdog struct {
	limit time.Duration
	still stillness
	after time.Duration // that the last look found
	asked bool
}

// seen says that the program gave a sign of life.
func (w *watchdog) seen() { w.still, w.after, w.asked = stillness{}, 0, false }

// look is called when there is nothing to read. It reports that the process has to be
// ended, or an error if it was lost.
func (w *watchdog) look(p *Process) (hung bool, err error) {
	if !p.Alive() {
		// It may have written its last words before it went.
		if p.results.head() != p.results.tail() {
			return false, nil
		}
		if w.asked && p.quitEnds {
			return true, nil
		}
		return false, p.failure()
	}
	if s := p.state(); s == abi.StateRefused || s == abi.StateFatal {
		return false, p.Failure()
	}
	w.after = w.still.since(p)
	switch still := w.after; {
	case still == 0:
		w.asked = false
	case still > w.limit+2*time.Second:
		return true, nil
	case still > w.limit && !w.asked:
		// A runtime's handler ends the execution as a hang at the instruction it finds
		// running, if it is the program's; or the program ends, and says where it was.
		w.asked = true
		unix.Kill(p.Pid(), p.quit)
	}
	return false, nil
}
