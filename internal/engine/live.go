package engine

import (
	"context"
	"slices"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/trace"
)

// LiveOptions bound a search for atomicity violations on the backend live.
type LiveOptions struct {
	Time   time.Duration // in all; 0 for no limit
	Expect int           // exit status of an execution that did not fail
	Seed   uint64
	// Suspend is the limit of a suspension; 0 for liveSuspend times an undisturbed execution, within
	// liveShortest and liveLongest. Budget is the number of suspensions in an execution (ASPLOS'09, §5).
	Suspend time.Duration
	Budget  int
	// Memory bounds the recordings, in bytes; 0 for no bound but liveRecorded.
	Memory int64
	// Watchdog is how long the first execution may go without using the processor.
	Watchdog time.Duration
	// Threads restricts an interleaving to the threads that the profile showed.
	Threads bool
	// Stacks restricts it to the stacks of calls that the profile showed (§5).
	Stacks bool
	// First ends the search at the first failure, whether or not the interleaving occurred.
	First bool
	// FirstCome forces interleavings in the order in which they were seen, to compare with their rank
	// (§6.6).
	FirstCome bool
}

const (
	liveLeast, liveMost, liveQuiet = 3, 16, 2
	// As many executions are repeated because accesses to shared memory were not recorded.
	liveAgain = 8
	// liveRecorded bounds the events of a thread in a recording.
	liveRecorded = 4_000_000
	// liveEvent is how many bytes of LiveOptions.Memory an event takes: as a record, which is sorted, in the trace, and for its analysis.
	liveEvent = 512
	// The limit of a suspension, unless it is given: in the time of an undisturbed execution, and within bounds.
	liveSuspend, liveShortest, liveLongest = 2, 2 * time.Millisecond, 50 * time.Millisecond
	// The thread before c waits this part of a suspension for r to be done, and livePass at least.
	livePassPart, livePass = 50, time.Millisecond
	// liveTries executions are made for an interleaving, until one fails or enough had it.
	liveTries = 6
	// Of more interleavings than liveSingle, as many as liveBatch of similar rank share an execution.
	liveSingle, liveBatch = 64, 16
	// An execution may take this many times as long as an undisturbed one, and livePatience more.
	liveSlack = 10
	// liveRecording is about how much longer an execution takes that is recorded.
	liveRecording = 20
	// liveFirst is the limit of the first execution.
	liveFirst    = time.Minute
	livePatience = 3 * time.Second
)

// LiveTarget is an interleaving and what forcing it on the backend live has shown.
type LiveTarget struct {
	atomicity.Interleaving
	Tried    int // executions
	Held     int // in which a thread was suspended before c
	Met      int // in which another came to r meanwhile
	Failures int // of these
	Others   int // executions made for it that failed although no thread was seen at r; the interleaving may have occurred
	Recorded int // recordings in which it occurred and that failed
	// Failure describes the first failure with it, otherwise the first of Others, otherwise of Recorded, and Ending says
	// how that ended (live.Result.Ending). Control brings one of the first two about again.
	Failure string
	Ending  string
	Control *Control
}

// Hung reports whether its failure is that heddle ended an execution which went on, or waited, for too long.
func (t *LiveTarget) Hung() bool { return t.Ending == hung }

// hung is the Ending of such executions.
var hung = (&live.Result{Idle: true}).Ending()

// LiveReport is the result of Live.
type LiveReport struct {
	Profile  *atomicity.Profile
	Recorded *trace.Trace // the last recording
	Sharing  []trace.Site // the instructions that were found to access memory of several threads, in ascending order
	Targets  []LiveTarget // in the order in which they are forced: by rank, or LiveOptions.FirstCome
	Missing  []string     // why interleavings may be missing
	// Plain describes the failure of an execution without the interleaving that it was made for, or
	// without any, empty if there was no such failure. PlainControl is what was controlled in that
	// execution, nil for nothing.
	Plain        string
	PlainControl *Control
	// PlainTarget is the index of the target that PlainControl is for.
	PlainTarget int
	// PlainSeveral: several interleavings were to be forced in it, so that PlainControl is nil.
	PlainSeveral bool
	// Uncontrolled are the endings of executions that failed while nothing was controlled, by live.Result.Ending.
	Uncontrolled map[string]bool
	// Doubtful: in an execution of Plain's kind that was not recorded, any interleaving may have occurred.
	Doubtful   bool
	Executions int
	// Profiling, Analysis and Forcing are seconds.
	Profiling, Analysis, Forcing float64
	Seconds                      float64
	Ended                        End // Exhausted, ByTime, ByFailure or ByInterrupt
}

// Control is the external control of an execution on the backend live (ASPLOS'09, §5): what is
// suspended where.
type Control struct {
	Target  live.Target
	Mode    live.Mode
	Seed    uint64
	Suspend time.Duration
	Pass    time.Duration
	Budget  int
	Limit   time.Duration
	Idle    time.Duration
}

// Request returns the control as an execution with a seed.
func (c *Control) Request(seed uint64) live.Request {
	q := live.Request{Mode: c.Mode, Seed: seed, Suspend: c.Suspend, Pass: c.Pass, Budget: c.Budget, Limit: c.Limit, Idle: c.Idle}
	if c.Mode == live.Force {
		q.Targets = []live.Target{c.Target}
	}
	return q
}

// liveSearch is the state of Live.
type liveSearch struct {
	program *live.Program
	opts    LiveOptions
	report  *LiveReport
	limit   time.Duration // of an execution
	idle    time.Duration // without processor time
	pass    time.Duration // how long the thread before c waits for r
	seed    uint64
	tell    func(LiveProgress)
	began   time.Time
}

// LiveProgress is the progress of Live.
type LiveProgress struct {
	Phase      string // "profiling" or "forcing"
	Executions int
	Targets    int // 0 while profiling
	Done       int
	Elapsed    time.Duration
}

// Live profiles a program on the backend live and forces the interleavings that are feasible and did
// not occur, the least likely first: CTrigger with real threads (ASPLOS'09, §4 and §5). The report is
// never nil. The error is that of the backend, or the context's.
func Live(ctx context.Context, p *live.Program, opts LiveOptions, tell func(LiveProgress)) (*LiveReport, error) {
	s := &liveSearch{program: p, opts: opts, report: &LiveReport{Profile: atomicity.NewProfile(), Uncontrolled: map[string]bool{}}, seed: opts.Seed << 16, tell: tell, began: time.Now()}
	bounded, cancel := limited(ctx, opts.Time)
	defer cancel()
	err := s.profile(bounded)
	if err != nil && s.report.Profile.Threads() > 1 {
		s.miss(atomicity.EndedEarly)
	}
	if err == nil && s.report.Ended == "" {
		began := time.Now()
		err = s.force(bounded)
		s.report.Forcing = time.Since(began).Seconds()
	}
	s.report.Seconds = time.Since(s.began).Seconds()
	switch {
	case outOfTime(bounded):
		s.report.Ended, err = ByTime, nil
	case ctx.Err() != nil:
		s.report.Ended = ByInterrupt
	case err == nil && s.report.Ended == "":
		s.report.Ended = Exhausted
	}
	return s.report, err
}

// execute runs the program once.
func (s *liveSearch) execute(ctx context.Context, q live.Request) (*live.Result, error) {
	s.seed++
	q.Seed, q.Limit, q.Idle = s.seed, s.limit, s.idle
	r, err := s.program.Run(ctx, q)
	if err == nil {
		s.report.Executions++
	}
	return r, err
}

// profile is phase one.
func (s *liveSearch) profile(ctx context.Context) error {
	began := time.Now()
	s.limit, s.idle = liveFirst, s.opts.Watchdog
	plain, err := s.execute(ctx, live.Request{})
	if err != nil {
		return err
	}
	if plain.Failed(s.opts.Expect) {
		s.report.Doubtful = true
		if s.plain(plain, nil) {
			return nil
		}
	}
	if s.opts.Suspend == 0 {
		s.opts.Suspend = min(max(time.Duration(liveSuspend*plain.Seconds*float64(time.Second)), liveShortest), liveLongest)
	}
	s.pass = max(s.opts.Suspend/livePassPart, livePass)
	s.limits(plain.Seconds * liveRecording)
	defer func() { s.report.Profiling = time.Since(began).Seconds() - s.report.Analysis }()
	quiet, longest, again := 0, plain.Seconds, 0
	most := liveRecorded
	if s.opts.Memory > 0 {
		most = min(most, int(max(s.opts.Memory/liveEvent/int64(max(plain.Threads, 1)), 1)))
	}
	var failed []*live.Result // recordings
	for n := 0; n < liveLeast || quiet < liveQuiet && n < liveMost; n++ {
		s.tell(LiveProgress{Phase: "profiling", Executions: s.report.Executions, Elapsed: time.Since(s.began)})
		r, err := s.execute(ctx, live.Request{Mode: live.Profile, Most: most, Stacks: s.opts.Stacks, OnlyShared: true, Sharing: s.report.Sharing})
		if err != nil {
			return err
		}
		longest = max(longest, r.Seconds)
		if r.Failed(s.opts.Expect) && s.plain(r, nil) {
			return nil
		}
		if s.shares(r) {
			if again++; again <= liveAgain {
				n--
				continue
			}
			s.miss("an execution has accesses to shared memory that were not recorded")
		}
		if r.Lost > 0 {
			s.miss("an execution has more accesses than were recorded")
		}
		analysis := time.Now()
		fresh := s.report.Profile.Add(r.Trace, r.Times)
		if r.Failed(s.opts.Expect) {
			failed = append(failed, r)
		}
		s.report.Recorded = r.Trace
		s.report.Analysis += time.Since(analysis).Seconds()
		if quiet++; fresh > 0 {
			quiet = 0
		}
	}
	s.limits(longest)
	list := s.report.Profile.Targets()
	if s.opts.FirstCome {
		atomicity.FirstCome(list)
	}
	for _, i := range list {
		s.report.Targets = append(s.report.Targets, LiveTarget{Interleaving: i})
	}
	seen := s.report.Profile.Exercised()
	with := make([]LiveTarget, len(seen))
	for _, r := range failed {
		for i, occurred := range atomicity.Exercised(r.Trace, seen...) {
			if x := &with[i]; occurred {
				if x.Recorded++; x.Recorded == 1 {
					x.Interleaving, x.Failure, x.Ending = seen[i], r.Describe(), r.Ending()
				}
			}
		}
	}
	for i := range with {
		if with[i].Recorded > 0 {
			s.report.Targets = append(s.report.Targets, with[i])
		}
	}
	return nil
}

// shares takes note of the instructions that a recording found to access shared memory. It reports whether some were not known
// before, so that accesses to that memory are missing in the recording.
func (s *liveSearch) shares(r *live.Result) bool {
	all := slices.Concat(s.report.Sharing, r.Sharing)
	slices.Sort(all)
	all = slices.Compact(all)
	lacks := r.SharingCut || len(all) > len(s.report.Sharing)
	s.report.Sharing = all
	return lacks
}

// plain notes a failure without the interleaving that was to be forced. c is what was controlled, nil for nothing. It
// returns true if the search ends with it.
func (s *liveSearch) plain(r *live.Result, c *Control) bool {
	if c == nil {
		s.report.Uncontrolled[r.Ending()] = true
	} else {
		s.report.Doubtful = true
	}
	if s.report.Plain == "" || s.report.PlainSeveral {
		s.report.Plain, s.report.PlainControl, s.report.PlainSeveral = r.Describe(), c, false
	}
	if s.opts.First {
		s.report.Ended = ByFailure
	}
	return s.opts.First
}

// limits sets the limits of executions, of which one without control takes about so many seconds.
func (s *liveSearch) limits(seconds float64) {
	undisturbed := time.Duration(seconds * float64(time.Second))
	s.limit = liveSlack*undisturbed + livePatience + time.Duration(s.opts.Budget)*s.opts.Suspend
	s.idle = min(s.limit, 2*undisturbed+time.Second+2*s.opts.Suspend)
}

func (s *liveSearch) miss(why string) {
	for _, m := range s.report.Missing {
		if m == why {
			return
		}
	}
	s.report.Missing = append(s.report.Missing, why)
}

// force is phase two.
func (s *liveSearch) force(ctx context.Context) error {
	targets := s.report.Targets
	if len(targets) > liveSingle {
		for at := 0; at < len(targets); at += liveBatch {
			if err := s.batch(ctx, targets[at:min(at+liveBatch, len(targets))], at); err != nil || s.report.Ended != "" {
				return err
			}
		}
		return nil
	}
	for i := range targets {
		if err := s.single(ctx, &targets[i], i); err != nil || s.report.Ended != "" {
			return err
		}
	}
	return nil
}

// batch forces interleavings of similar rank together, and each of them alone if an execution fails.
func (s *liveSearch) batch(ctx context.Context, targets []LiveTarget, at int) error {
	for try := range liveTries / 2 {
		s.progress(at)
		q := live.Request{Mode: live.Force, Suspend: s.opts.Suspend, Pass: s.pass, Budget: s.opts.Budget}
		for i := range targets {
			q.Targets = append(q.Targets, s.target(&targets[i], try))
		}
		r, err := s.execute(ctx, q)
		if err != nil {
			return err
		}
		for i := range targets {
			targets[i].count(&r.Counts[i])
		}
		if r.Failed(s.opts.Expect) {
			for i := range targets {
				if err := s.single(ctx, &targets[i], at+i); err != nil || s.report.Ended != "" {
					return err
				}
			}
			if !slices.ContainsFunc(targets, func(t LiveTarget) bool { return t.Failures > 0 }) {
				// A control record has only one of them.
				s.report.Doubtful = true
				if s.report.Plain == "" {
					s.report.Plain, s.report.PlainSeveral = r.Describe(), true
				}
			}
			return nil
		}
	}
	return nil
}

// progress tells that so many interleavings have been forced.
func (s *liveSearch) progress(done int) {
	s.tell(LiveProgress{Phase: "forcing", Executions: s.report.Executions, Targets: len(s.report.Targets), Done: done, Elapsed: time.Since(s.began)})
}

// single forces one interleaving.
func (s *liveSearch) single(ctx context.Context, t *LiveTarget, at int) error {
	for try := range liveTries {
		s.progress(at)
		c := Control{Mode: live.Force, Target: s.target(t, try), Suspend: s.opts.Suspend, Pass: s.pass, Budget: s.opts.Budget, Limit: s.limit, Idle: s.idle}
		r, err := s.execute(ctx, c.Request(0))
		if err != nil {
			return err
		}
		t.count(&r.Counts[0])
		switch {
		case !r.Failed(s.opts.Expect):
		case r.Counts[0].Met == 0:
			c.Seed = s.seed
			if t.Others++; t.Others == 1 {
				t.Failure, t.Ending, t.Control = r.Describe(), r.Ending(), &c
			}
			if s.plain(r, &c) {
				return nil
			}
			if s.report.PlainControl == &c {
				s.report.PlainTarget = at
			}
		default:
			t.Failures++
			t.Failure, t.Ending, t.Control = r.Describe(), r.Ending(), &c
			c.Seed = s.seed
			if s.opts.First {
				s.report.Ended = ByFailure
			}
			return nil
		}
		if t.Met >= liveTries/2 {
			return nil
		}
	}
	return nil
}

// target returns what to suspend, in one of three ways in turn: before the instructions; before the
// outermost critical sections, if there are some; and before the instructions, where the thread before c
// stays although another has done r. Some failures need the last of several r. The paper, which lets c go
// on after the first, has only the first two.
func (s *liveSearch) target(t *LiveTarget, try int) live.Target {
	x := live.Target{P: t.P.Site, C: t.C.Site, R: t.R.Site, ThreadC: -1, ThreadR: -1}
	ways := 3
	if t.Outer == [2]trace.Site{} {
		ways = 2
	}
	switch try % ways {
	case ways - 1:
		x.Stay = true
	case 1:
		x.OuterC, x.OuterR = t.Outer[0], t.Outer[1]
	}
	if s.opts.Threads {
		x.ThreadC, x.ThreadR = int(t.Witness[1].Thread), int(t.Witness[2].Thread)
	}
	if s.opts.Stacks {
		name := func(w *trace.Access) uint64 { return live.NameOfStack(s.report.Recorded.Stacks[w.Stack]) }
		x.StackC, x.StackR = name(&t.Witness[1]), name(&t.Witness[2])
	}
	return x
}

func (t *LiveTarget) count(c *live.Counts) {
	t.Tried++
	if c.SuspendedC > 0 {
		t.Held++
	}
	if c.Met > 0 {
		t.Met++
	}
}

// Reproduced is how often a control made the program fail.
type Reproduced struct {
	Executions, Failures int
	Seconds              float64 // of all executions
	First                float64 // until the first failure, 0 without one
	Failure              string  // the first
}

// Reproduce runs a program under a control a number of times.
func Reproduce(ctx context.Context, p *live.Program, c *Control, expect, times int) (out Reproduced, err error) {
	began := time.Now()
	for i := range times {
		r, err := p.Run(ctx, c.Request(c.Seed+uint64(i)))
		if err != nil {
			return out, err
		}
		out.Executions++
		if r.Failed(expect) {
			if out.Failures++; out.Failures == 1 {
				out.First, out.Failure = time.Since(began).Seconds(), r.Describe()
			}
		}
	}
	out.Seconds = time.Since(began).Seconds()
	return out, nil
}
