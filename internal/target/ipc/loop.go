package ipc

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// Program is what a kind of target knows and the protocol does not. Its methods are called from the
// goroutine that called Stream.
type Program interface {
	// Launch returns a process that takes plans. The caller owns it.
	Launch(context.Context) (*Process, error)

	// Begin is called before anything of the next execution is named, even if the execution is not
	// recorded.
	Begin()
	// PC returns the address of a site in the running process; Site is its inverse.
	PC(trace.Site) uint64
	Site(pc uint64) trace.Site
	// MarkVisited marks the modules to which schedule.Plan.Visits applies. It is called before such a plan is sent.
	MarkVisited()
	// Object names what a runtime reports as an address; by is the thread that used it.
	Object(addr uint64, stacks *Stacks, by trace.ThreadID) trace.Object
	// Pointer names the place that the value of an access points to. It returns false for a value that is
	// not an address of the program's memory, and if the runtime names such values itself.
	Pointer(value uint64, stacks *Stacks, by trace.ThreadID) (trace.Object, bool)
	Header() trace.Header
	Modules() []trace.Module // those that names given since Begin refer to

	// Ended completes an outcome with what the records do not contain. If the process ends together
	// with an execution that failed or was recorded, it has ended by now.
	Ended(*Process, *schedule.Plan, *trace.Ending)
}

// Loop runs plans in one process after the other. If a process ends before it has run all it was
// given, the next one runs the rest.
type Loop struct {
	Program  Program
	Watchdog time.Duration // time without a sign of life after which an execution is ended as trace.Unfinished
	// Memory bounds the memory for recording an execution, its watcher and the runtime's watching
	// included, in bytes; 0 for no bound. Beyond it, accesses are dropped; scheduling points never are.
	Memory int64
	// Drain is how many executions that are no longer wanted may run to their end. If more are
	// queued, the process is ended instead.
	Drain int
	// Again, if not nil, sees each result and its message first. If it reports true the result is
	// dropped, and the next process repeats the execution.
	Again func(p *Process, r *abi.Result, message string) bool
	// Stale, if not nil, sees each result that is not dropped. If it reports true, the next execution gets a new process.
	Stale func(r *abi.Result) bool

	proc   *Process
	nextID uint64
	x      execution // the current one
	// position is where the running execution is, nil unless it has taken long.
	position atomic.Pointer[target.Position]
	over     uint64        // how many executions have ended
	expired  atomic.Uint64 // the execution, numbered from 1, that is to be ended like one that gives no sign of life
	relaxed  relaxed
}

// Process returns the process in use, nil if none is.
func (l *Loop) Process() *Process { return l.proc }

// Renew replaces the process in use, if any, by one that has not run anything yet.
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

// Run runs one execution of p; see target.Target.
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

// job is a plan that was taken and has not ended. A process gets the rest of it at once or, if the
// process may not run as many executions, the first part of the rest.
type job struct {
	plan schedule.Plan
	done int  // executions that have ended
	over bool // its remaining executions are not wanted

	id    uint64 // of the part given last, or of the next one
	first int    // its first execution
	given int    // how many executions it has
	bytes []byte // its record, until it is given
	far   bool   // which lies in the memory for long plans already
}

// stream is one call of Stream.
type stream struct {
	*Loop
	next    func() (schedule.Plan, bool)
	done    func(schedule.Plan, schedule.Outcome) bool
	queue   []job
	sent    int  // the process has been given this many jobs of queue
	more    bool // next may have a plan: it is asked after each outcome
	stopped bool // done returned false: results from now on are not wanted
	dog     watchdog
	began   time.Time        // of the execution that runs
	cutting bool             // the context has ended: results are not told
	last    *target.CutError // the execution that ran then
}

// Stream implements target.Target. After an error no process is in use.
func (l *Loop) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) (err error) {
	s := &stream{Loop: l, next: next, done: done, more: true, dog: watchdog{limit: l.Watchdog}, began: time.Now()}
	l.x.reset()
	defer func() {
		l.position.Store(nil)
		if err != nil {
			l.Close() // plans still queued must not run into the next call
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
			s.began = time.Now()
			continue
		}
		kind, b, ok := l.proc.results.Next()
		// Records may arrive as fast as they are read, and those of one execution for minutes.
		if records++; !ok || records%256 == 0 {
			if ctx.Err() != nil {
				return s.cut(ctx)
			}
			s.follow()
		}
		if !ok {
			if hung, err := s.dog.look(l.proc, l.expired.Load() == s.running()); err != nil {
				return err
			} else if hung && s.sent > 0 {
				s.hang()
				continue
			}
			l.proc.trim()
			l.proc.results.Wait(50 * time.Millisecond)
			continue
		}
		if s.alive(kind) {
			s.dog.seen()
		}
		if err := s.record(kind, b); err != nil {
			return err
		}
	}
}

// alive reports whether a record shows that the program gets on. The yields that a Go program's hooks
// put into a long computation are scheduling points, and so events, but no sign of life; nor is an answer.
func (s *stream) alive(kind uint32) bool {
	if kind == abi.RecWhere {
		return false
	}
	return kind != abi.RecEvents || !s.proc.quitEnds || s.sent > 0 && s.queue[0].plan.Accesses
}

// feed takes plans and gives them to the process, as long as the ring has room.
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

// give puts a job's next part into the plan ring. It reports false if the ring has no room now.
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
		var room []byte
		if j.far = long(&j.plan); j.far {
			if p.far != 0 {
				return false, nil // until that plan has ended
			}
			room = p.mem[p.shm.FarOff : p.shm.FarOff+p.shm.FarSize]
		}
		b, err := encode(s.Program, j.id, &j.plan, j.first, j.given, s.Memory, &p.sent, room)
		if err != nil {
			return false, err
		}
		j.bytes = b
		if j.far {
			p.far = j.id
		}
	}
	if j.far && !p.plans.Put(abi.PlanFar, nil) || !j.far && !p.plans.Put(abi.PlanHere, j.bytes) {
		return false, nil
	}
	p.asked += j.given
	p.sent = sentPoints{true, j.plan.Sites()}
	j.bytes = nil
	return true, nil
}

// record handles one record of the result ring.
func (s *stream) record(kind uint32, b []byte) error {
	if kind == recDamaged {
		return errDamaged
	}
	if kind == abi.RecPlanEnd {
		s.proc.planEnded(b)
		s.proc.results.Release()
		if s.sent == 0 {
			return errors.New("the runtime ended a plan that it was not given")
		}
		// A part that ran to its end leaves the rest to the next process. One that did not was
		// stopped by the runtime, as the plan asked.
		if j := &s.queue[0]; s.stopped || j.over || j.done < j.first+j.given {
			s.queue = s.queue[1:]
		}
		s.sent--
		return nil
	}
	if s.sent > 0 && !s.x.begun {
		if s.stopped {
			s.x.begin(s.Program, &schedule.Plan{}, 0) // its records are not wanted
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
		o.Relaxed, o.RelaxedCut = s.relaxed.read(s.Program, s.proc)
	}
	if o.Ending.Kind == trace.Unfinished {
		o.Ending.Message += s.dog.call
		if o.Trace != nil {
			o.Trace.Ending.Message = o.Ending.Message
		}
	}
	s.dog.call = ""
	s.proc.answered()
	o.Index = j.first + int(r.Index)
	s.ended(o, r.Last != 0 || s.Stale != nil && s.Stale(r))
	return nil
}

// hang ends the execution of a process that does not answer. It leaves no records.
func (s *stream) hang() {
	s.ended(s.killed(trace.CutByWatchdog+": killed, because the program did not answer"+s.dog.call), true)
	s.dog.call = ""
}

// ended reports an execution of the first job and works out what remains to be run. last says that
// the process ends with it.
func (s *stream) ended(o schedule.Outcome, last bool) {
	j := &s.queue[0]
	s.x.reset()
	s.more = true
	s.began = time.Now()
	s.over++
	if s.position.Load() != nil {
		s.position.Store(nil)
	}
	j.done = o.Index + 1
	j.over = j.plan.Ends(&o)
	if s.cutting {
		// Another execution may begin after one that exhausts its step budget.
		if o.Ending.Kind == trace.Unfinished && (s.sent == 1 || !o.Ending.OutOfSteps()) {
			s.last = &target.CutError{Plan: j.plan, Outcome: o}
		}
		return
	}
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
		s.queue[i].bytes = nil // the encoding depends on what the process was given before
	}
	s.sent = 0
}

// outstanding returns how many executions the process still has to run.
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

// watchdog detects a program that computes or blocks without reaching scheduling points.
type watchdog struct {
	limit time.Duration
	still stillness
	after time.Duration // since the last sign of life, at the last look
	asked bool
	call  string // where in the kernel the program was when it was asked; kept until the execution has ended
}

// seen notes that the program gave a sign of life.
func (w *watchdog) seen() { w.still, w.after, w.asked = stillness{}, 0, false }

// look is called when no record is available. It reports whether the process has to be ended, or an
// error if it was lost. The time of an execution that has expired is over although it gave signs of life.
func (w *watchdog) look(p *Process, expired bool) (hung bool, err error) {
	if !p.Alive() {
		// It may have written its last records before it ended.
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
	case still == 0 && !expired:
		w.asked = false
	case still > w.limit+2*time.Second:
		return true, nil
	case still > w.limit || expired:
		if !w.asked {
			w.call = p.kernelCall()
		}
		p.ask(abi.CutWatchdog, w.asked)
		w.asked = true
	}
	return false, nil
}
