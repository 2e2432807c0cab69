package experiment

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A program is the events of each thread, which never block, and how an execution with them in an order ends.
type program struct {
	threads [][]trace.Event
	ends    func(order []trace.Event) trace.Ending
}

// run is a schedule.Executor: it follows the script as far as threads have the events, and then runs one thread after the other.
// A hold keeps a thread only in that second part.
func (p *program) run(_ context.Context, plan schedule.Plan) (schedule.Outcome, error) {
	t := &trace.Trace{Stacks: [][]trace.Site{nil}}
	for id := range p.threads {
		t.Threads = append(t.Threads, trace.Thread{Name: uint64(100 + id)})
	}
	done := make([]int, len(p.threads))
	step := func(id trace.ThreadID) {
		ev := p.threads[id][done[id]]
		done[id]++
		if ev.Thread = id; ev.Op.IsAccess() && !slices.Contains(plan.Sites(), ev.Site) {
			ev.Flags |= trace.FlagNoDecision
		}
		t.Events = append(t.Events, ev)
	}
	for _, s := range plan.Script {
		own := p.threads[s.Thread]
		for n := done[s.Thread]; n < len(own) && (own[n].Op.IsAccess() && !slices.Contains(plan.Sites(), own[n].Site)); n++ {
			step(s.Thread)
		}
		if n := done[s.Thread]; n < len(own) && own[n].Site == s.Site {
			step(s.Thread)
		}
	}
	o := schedule.Outcome{Holds: make([]schedule.HoldCount, len(plan.Holds))}
	for _, second := range []bool{false, true} { // held threads come second
		for id := range p.threads {
			for done[id] < len(p.threads[id]) {
				if !second && len(plan.Holds) == 1 && plan.Holds[0].Thread == trace.ThreadID(id) && plan.Holds[0].Site == p.threads[id][done[id]].Site {
					o.Holds[0].Held++
					break
				}
				step(trace.ThreadID(id))
			}
		}
	}
	t.Ending = p.ends(t.Events)
	o.Ending, o.Trace = t.Ending, t
	return o, nil
}

func access(line int, op trace.Op, object uint64) trace.Event {
	return trace.Event{Op: op, Site: trace.MakeSite(0, uint64(line)), Object: trace.MakeObject(trace.RegionGlobal, 0, object), Size: 4}
}

func line(ev *trace.Event) int { return int(ev.Site.Offset()) }

// early is a program that fails if thread 1 reads (line 20) before thread 0 has written (line 10).
func early() *program {
	crash := trace.Ending{Kind: trace.Signal, Status: 11, Thread: 1, Site: trace.MakeSite(0, 20)}
	return &program{
		threads: [][]trace.Event{
			{access(9, trace.OpWrite, 128), access(10, trace.OpWrite, 64), access(11, trace.OpWrite, 192)},
			{access(20, trace.OpRead, 64), access(21, trace.OpWrite, 192)},
		},
		ends: func(order []trace.Event) trace.Ending {
			at := func(n int) int { return slices.IndexFunc(order, func(ev trace.Event) bool { return line(&ev) == n }) }
			if at(20) < at(10) {
				return crash
			}
			return trace.Ending{}
		},
	}
}

func (p *program) setting(recorded *trace.Trace) Setting {
	return Setting{
		Recorded: recorded, Run: p.run, Modules: func() []trace.Module { return nil },
		Budget: func(*trace.Trace, []trace.Site) int { return 1000 }, Delays: schedule.NoDelays,
	}
}

// failing returns an experiment on the execution of early that fails, exposed.
func failing(t *testing.T, change func(*Setting)) *Experiment {
	t.Helper()
	p := early()
	plan := schedule.Plan{Seed: 7, Mode: schedule.Strict, ExpectStatus: 3, Points: []trace.Site{trace.MakeSite(0, 20)}, Script: []schedule.Step{{Thread: 1, Site: trace.MakeSite(0, 20), Op: trace.OpRead}}}
	o, err := p.run(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	o.Trace.Header.Strategy = "random seed=7"
	s := p.setting(o.Trace)
	if change != nil {
		change(&s)
	}
	x := New(s)
	r, err := x.Repeat(t.Context(), plan, Everything)
	if err != nil || r.Verdict != Same || x.Base != r.Trace {
		t.Fatalf("%+v, %v", r, err)
	}
	if !r.Plan.Accesses || !r.Plan.Values || r.Plan.MaxAccesses != schedule.AllAccesses || x.Plan.Accesses || x.Plan.Mode != schedule.Tolerant {
		t.Errorf("repeated with %+v, and others with %+v", r.Plan, x.Plan)
	}
	if r, err = x.Expose(t.Context()); err != nil || r.Verdict != Same || x.Base != r.Trace {
		t.Fatalf("%+v, %v", r, err)
	}
	return x
}

func lines(t *trace.Trace) (all []int) {
	for i := range t.Events {
		all = append(all, line(&t.Events[i]))
	}
	return all
}

// at returns the base's event of a line.
func (x *Experiment) at(n int) int { return slices.Index(lines(x.Base), n) }

// Turning the pair that the failure depends on makes an execution pass; the control fails in the same way.
func TestTurn(t *testing.T) {
	x := failing(t, nil)
	write, read := x.at(10), x.at(20)
	if pairs, all := Dependent(x.Base); !all || !slices.Contains(pairs, [2]int{read, write}) {
		t.Fatalf("pairs %v of %v", pairs, lines(x.Base))
	}
	for n, turn := range x.Turns(read, write) {
		r, err := x.Run(t.Context(), x.Follow(turn.Turned()))
		if err != nil || r.Verdict != Passes || !r.Turned(read, write) || line(&r.Trace.Events[r.At(read)]) != 20 {
			t.Errorf("way %d: %v %v, %v", n, r.Verdict, lines(r.Trace), err)
		}
		if h := r.Trace.Header; h.Strategy != "random seed=7" || h.ExpectStatus != 3 || !slices.Contains(h.Points, trace.MakeSite(0, 10)) || r.Plan.Seed != 7 {
			t.Errorf("way %d: cannot be repeated from %+v", n, h)
		}
		if r, err = x.Run(t.Context(), x.Follow(turn.Control())); err != nil || r.Verdict != Same || r.Turned(read, write) {
			t.Errorf("control of way %d: %v %v, %v", n, r.Verdict, lines(r.Trace), err)
		}
	}
	if x.Executions() != 6 || !x.Complete() {
		t.Errorf("%d executions, complete: %v", x.Executions(), x.Complete())
	}
}

// Of the pairs of an execution, the failure depends on one.
func TestTry(t *testing.T) {
	x := failing(t, nil)
	write, read := x.at(10), x.at(20)
	pairs := [][2]int{{x.at(11), x.at(21)}, {read, write}, {read, x.at(11)}}
	tried := make([]Trial, len(pairs))
	for _, near := range []bool{false, true} {
		for k := range pairs {
			var err error
			if tried[k], err = x.Try(t.Context(), pairs, k, near); err != nil {
				t.Fatal(err)
			}
		}
		if a := tried[0]; a.Passed > 0 || a.Failed == 0 {
			t.Errorf("a pair on which nothing depends: %+v", a)
		}
		if b := tried[1]; b.Passed != 2 || b.Failed > 0 || !near && !b.Controlled || b.Near != near || !slices.Equal(b.Turned, []int{1}) || b.Passing == nil {
			t.Errorf("the pair: %+v", b)
		}
		// Turning this one turns the pair, too: only without it, the failure comes again.
		if c := tried[2]; c.Passed != 2 || c.Near || !slices.Equal(c.Turned, []int{1, 2}) || !tried[1].Narrower(&c) || c.Narrower(&tried[1]) {
			t.Errorf("a pair around it: %+v", c)
		}
	}
}

// The neighbours of a schedule are tried until the visitor has enough, or the limit is reached.
func TestNeighbours(t *testing.T) {
	verdicts := func(executions, enough int) (all []Verdict, complete bool, err error) {
		x := failing(t, func(s *Setting) { s.Executions = executions })
		complete, err = x.Neighbours(t.Context(), 1, func(r *Result) (bool, error) {
			all = append(all, r.Verdict)
			return len(all) < enough, nil
		})
		return all, complete, err
	}
	all, complete, err := verdicts(0, 1000)
	if err != nil || !complete || !slices.Contains(all, Passes) || !slices.Contains(all, Same) || slices.Contains(all, Other) {
		t.Errorf("%v, %v, %v", all, complete, err)
	}
	if some, _, err := verdicts(0, 2); err != nil || !slices.Equal(some, all[:2]) {
		t.Errorf("two of %v: %v, %v", all, some, err)
	}
	if some, _, err := verdicts(2+3, 1000); err != ErrLimit || !slices.Equal(some, all[:3]) {
		t.Errorf("three of %v: %v, %v", all, some, err)
	}
}

// A thread that is held before the event that came too early lets the other go first.
func TestHoldBefore(t *testing.T) {
	x := failing(t, nil)
	p := x.Reordered(First(1), trace.MakeSite(0, 20))
	p.Script = nil
	p.Holds = []schedule.Hold{HoldBefore(x.Base, x.at(20), trace.MakeSite(0, 10))}
	if h := p.Holds[0]; h.Thread != 1 || h.Arrival != 1 || h.Until.Offset() != 10 || h.When != schedule.Done {
		t.Errorf("%+v", h)
	}
	r, err := x.Run(t.Context(), p)
	if err != nil || r.Verdict != Passes || !r.Held() || r.Passed() {
		t.Errorf("%+v, %v", r, err)
	}
}

// A reordering has scheduling points where it changes threads, and those of the plan and the caller.
func TestReorderedPoints(t *testing.T) {
	x := failing(t, nil)
	x.Plan.Points = nil
	for i := range x.Base.Events {
		x.Base.Events[i].Flags |= trace.FlagNoDecision
	}
	at := func(all ...int) (events []int) {
		for _, n := range all {
			events = append(events, x.at(n))
		}
		return events
	}
	p := x.Reordered(at(9, 10, 20), trace.MakeSite(0, 21))
	var points []int
	for _, s := range p.Points {
		points = append(points, int(s.Offset()))
	}
	// 10 ends an interval, 11 comes after it in its thread, and 20 begins the next one.
	if slices.Sort(points); !slices.Equal(points, []int{11, 20, 21}) {
		t.Errorf("points at %v", points)
	}
	if len(p.Script) != 1 || p.Script[0].Site.Offset() != 20 || p.Mode != schedule.Tolerant || p.MaxSteps != 1000 || p.Delays != schedule.NoDelays {
		t.Errorf("%+v", p)
	}
}

func TestVerdicts(t *testing.T) {
	t.Parallel()
	site := trace.MakeSite(0, 20)
	crash := trace.Ending{Kind: trace.Signal, Status: 11, Site: site}
	hang := trace.Ending{Kind: trace.Hang, Message: "T1 waits", Site: site, Waiters: []trace.Waiter{{Thread: 1, Site: site, Ready: true}}}
	other := hang
	other.Site, other.Waiters = site+40, []trace.Waiter{{Thread: 0, Site: site + 40, Ready: true}}
	watchdog := hang
	watchdog.Message = trace.CutByWatchdog + ": in a system call"
	for name, test := range map[string]struct {
		goal, met trace.Ending
		want      Verdict
	}{
		"clean":                              {crash, trace.Ending{}, Passes},
		"the same":                           {crash, crash, Same},
		"the same, from the hook":            {crash, trace.Ending{Kind: trace.Signal, Status: 11, Site: site + 5}, Same},
		"another place":                      {crash, trace.Ending{Kind: trace.Signal, Status: 11, Site: site + 500}, Other},
		"another kind":                       {crash, trace.Ending{Kind: trace.Deadlock}, Other},
		"the step budget":                    {crash, trace.Ending{Kind: trace.Unfinished, Message: trace.CutBySteps}, Unknown},
		"left the script":                    {crash, trace.Ending{Kind: trace.Diverged}, Unknown},
		"not supported":                      {crash, trace.Ending{Kind: trace.Unsupported}, Unknown},
		"a hang that nobody examined":        {crash, trace.Ending{Kind: trace.Hang, Message: trace.NoProgress}, Unknown},
		"the watchdog":                       {hang, watchdog, Unknown},
		"the same hang":                      {hang, hang, Same},
		"another hang":                       {hang, other, Other},
		"a hang so far":                      {hang, trace.Ending{Kind: trace.Unfinished, Message: trace.CutBySteps}, Unknown},
		"the same ending, and nothing asked": {trace.Ending{}, trace.Ending{}, Passes},
		"a failure, and nothing asked":       {trace.Ending{}, crash, Other},
		"the budget, of an unfinished goal":  {trace.Ending{Kind: trace.Unfinished}, trace.Ending{Kind: trace.Unfinished}, Unknown},
	} {
		p := &program{ends: func([]trace.Event) trace.Ending { return test.met }}
		r, err := New(p.setting(&trace.Trace{Ending: test.goal})).Run(t.Context(), schedule.Plan{})
		if err != nil || r.Verdict != test.want {
			t.Errorf("%s: %v, want %v; %v", name, r.Verdict, test.want, err)
		}
	}
}

// What is not a hang so far goes on, within the limits, to see whether it ends.
func TestLonger(t *testing.T) {
	t.Parallel()
	unfinished := trace.Ending{Kind: trace.Unfinished, Message: trace.CutBySteps}
	for name, test := range map[string]struct {
		longer     trace.Ending
		executions int
		want       Verdict
		made       int
	}{
		"it ends":              {trace.Ending{}, 0, Passes, 2},
		"it fails":             {trace.Ending{Kind: trace.Assertion}, 0, Other, 2},
		"it goes on":           {unfinished, 0, Unknown, 2},
		"a hang, but not said": {trace.Ending{Kind: trace.Hang}, 0, Unknown, 2},
		"no execution is left": {trace.Ending{}, 1, Unknown, 1},
	} {
		p := &program{ends: func([]trace.Event) trace.Ending { return unfinished }}
		s := p.setting(&trace.Trace{Ending: trace.Ending{Kind: trace.Hang}})
		s.Executions = test.executions
		s.Longer = (&program{ends: func([]trace.Event) trace.Ending { return test.longer }}).run
		x := New(s)
		if r, err := x.Run(t.Context(), schedule.Plan{}); err != nil || r.Verdict != test.want || x.Executions() != test.made {
			t.Errorf("%s: %v after %d executions, want %v; %v", name, r.Verdict, x.Executions(), test.want, err)
		}
		if x.Complete() != (test.executions == 0) {
			t.Errorf("%s: complete: %v", name, x.Complete())
		}
	}
}

// Limits end an experiment and those derived from it, but not the executions that give it a base.
func TestLimits(t *testing.T) {
	told := 0
	x := failing(t, func(s *Setting) {
		s.Executions = 3
		s.Progress = func(n int) { told += n }
	})
	if !x.Room(1) || !x.Complete() || x.Room(2) || x.Complete() {
		t.Error("of three executions, two have been made")
	}
	y := x.On(x.Base, x.Plan)
	if _, err := y.Run(t.Context(), y.Sample(0, 1)); err != nil {
		t.Error(err)
	}
	if _, err := x.Run(t.Context(), x.Sample(1, 1)); err != ErrLimit {
		t.Errorf("the fourth execution: %v", err)
	}
	if _, err := x.Expose(t.Context()); err != nil || x.Executions() != 4 || told != 1+2+3+4 {
		t.Errorf("%d executions, told %d; %v", x.Executions(), told, err)
	}
	late := failing(t, func(s *Setting) { s.Time = time.Nanosecond })
	if _, err := late.Run(t.Context(), late.Sample(0, 1)); err != ErrLimit || late.Complete() {
		t.Errorf("after the time: %v", err)
	}
}

// An error of the context or the target does not count as an execution.
func TestErrors(t *testing.T) {
	x := failing(t, nil)
	why := errors.New("why")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	for _, run := range []func() error{
		func() error { _, err := x.Run(ctx, x.Sample(0, 1)); return err },
		func() error { _, err := x.Repeat(ctx, x.Plan, Everything); return err },
		func() error { _, err := x.Expose(ctx); return err },
	} {
		if err := run(); err != why {
			t.Errorf("%v", err)
		}
	}
	x.setting.Run = func(context.Context, schedule.Plan) (schedule.Outcome, error) { return schedule.Outcome{}, why }
	if _, err := x.Run(t.Context(), x.Sample(0, 1)); err != why || x.Executions() != 2 {
		t.Errorf("%d executions, %v", x.Executions(), err)
	}
}

// Where a scheduling point in addition changes how the execution ends, the base stays.
func TestExposeKeepsBase(t *testing.T) {
	x := failing(t, nil)
	base := x.Base
	passes := early()
	passes.ends = func([]trace.Event) trace.Ending { return trace.Ending{} }
	x.setting.Run = passes.run
	if r, err := x.Expose(t.Context()); err != nil || r.Verdict != Passes || x.Base != base {
		t.Errorf("%+v, %v", r, err)
	}
	x.setting.Run = func(context.Context, schedule.Plan) (schedule.Outcome, error) { return schedule.Outcome{}, nil }
	if r, err := x.Repeat(t.Context(), x.Plan, Everything); err != nil || r.Trace != nil || x.Base != base || r.At(0) != -1 {
		t.Errorf("an execution without a recording: %+v, %v", r, err)
	}
}

// Threads are found by their names, and an event by how often its thread has done the same before.
func TestMatch(t *testing.T) {
	t.Parallel()
	recording := func(names []uint64, events ...[2]int) *trace.Trace {
		tr := &trace.Trace{}
		for _, n := range names {
			tr.Threads = append(tr.Threads, trace.Thread{Name: n})
		}
		for _, e := range events {
			tr.Events = append(tr.Events, trace.Event{Thread: trace.ThreadID(e[0]), Site: trace.MakeSite(0, uint64(e[1])), Op: trace.OpMutexLock})
		}
		return tr
	}
	a := recording([]uint64{5, 6}, [2]int{0, 1}, [2]int{0, 1}, [2]int{1, 1}, [2]int{0, 2})
	b := recording([]uint64{6, 5}, [2]int{0, 1}, [2]int{1, 1}, [2]int{0, 1}, [2]int{1, 1})
	m, back := Match(a, b), Match(b, a)
	for e, want := range []int{1, 3, 0, -1} {
		if got := m.Of(e); got != want {
			t.Errorf("event %d is %d of the other, want %d", e, got, want)
		}
	}
	if back.Of(2) != -1 || back.Of(3) != 1 {
		t.Error("and back")
	}
}
