package strategy_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/observe"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// searched is what a search executed.
type searched struct {
	schedules  map[string]int // each execution's decisions
	endings    map[string]int
	signatures map[uint64]int
	executions int
	longest    int // decisions of an execution
	coverage   strategy.Coverage
	done       bool
}

// execute has a strategy run a program to its end, or for most executions.
func execute(t testing.TB, s strategy.Strategy, program simprog.Program, most int, points ...trace.Site) *searched {
	t.Helper()
	target := simprog.NewWatching(program)
	out := &searched{schedules: map[string]int{}, endings: map[string]int{}, signatures: map[uint64]int{}}
	round := 0
	run := func(r strategy.Request) {
		r.Plan.Watch, r.Plan.Delays = r.Observe, schedule.NoDelays
		o, err := target.Run(context.Background(), r.Plan)
		if err != nil {
			t.Fatal(err)
		}
		out.executions++
		x := strategy.Observation{Request: &r, Last: true, Outcome: &o}
		if o.Watched != nil {
			seen := observe.InPlace(&o, r.Plan.Points)
			x.Seen = &seen
		}
		s.Observe(&x)
		if n := s.Stage().Round; n != round {
			round = n
			clear(out.schedules)
			clear(out.endings)
			clear(out.signatures)
		} else {
			out.schedules[schedule.Format(schedule.ScriptOf(o.Trace), o.Trace.Threads)]++
			out.endings[ending(&o)]++
			out.signatures[o.Signature]++
		}
	}
	run(strategy.FirstRequest(&strategy.Setting{Seed: 1, Points: points}))
	for out.executions < most {
		r, ok := s.Next(-1)
		if !ok {
			out.done = true
			break
		}
		run(r)
	}
	if e, ok := s.(strategy.Exhaustive); ok {
		out.coverage, _ = e.Coverage()
	}
	return out
}

func ending(o *schedule.Outcome) string {
	return fmt.Sprintf("%v %d %s %q", o.Ending.Kind, o.Ending.Status, o.Ending.Message, o.Ending.Output)
}

// enumerate executes every schedule of a program with at most bound preemptions, negative for any
// number, by brute force: at each decision of each execution it tries every enabled thread and every
// waiter. It knows nothing of strategies.
func enumerate(t testing.TB, program simprog.Program, points []trace.Site, bound, most int) *searched {
	t.Helper()
	return enumerateBy(t, program, points, bound, most, false)
}

// enumerateBy is enumerate, with a bound on delays instead if delays is set: the number of enabled
// threads that are passed over, in order of creation and round, from the one that the fair policy chooses.
func enumerateBy(t testing.TB, program simprog.Program, points []trace.Site, bound, most int, delays bool) *searched {
	t.Helper()
	target := simprog.New(program)
	out := &searched{schedules: map[string]int{}, endings: map[string]int{}, signatures: map[uint64]int{}}
	type prefix struct {
		steps   []schedule.Step
		threads []trace.Thread
		delays  int
	}
	todo := []prefix{{}}
	for len(todo) > 0 {
		if out.executions == most {
			return nil
		}
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		plan := schedule.Plan{Policy: schedule.Fair, Record: true, Points: points, Delays: schedule.NoDelays}
		if len(p.steps) > 0 {
			plan.Mode, plan.Script, plan.Threads = schedule.Strict, p.steps, p.threads
		}
		o, err := target.Run(context.Background(), plan)
		if err != nil || o.Ending.Kind == trace.Diverged {
			t.Fatalf("%+v %v", o.Diverged, err)
		}
		out.executions++
		tr := o.Trace
		steps := schedule.ScriptOf(tr)
		out.longest = max(out.longest, len(steps))
		out.schedules[schedule.Format(steps, tr.Threads)]++
		out.endings[ending(&o)]++
		out.signatures[o.Signature]++
		waiting := map[trace.Object][]trace.ThreadID{}
		preemptions := 0
		for i, e := range tr.Events {
			branch := func(s schedule.Step) {
				n := preemptions
				if i > 0 && tr.Events[i-1].Thread != s.Thread && e.Enabled.Has(tr.Events[i-1].Thread) {
					n++
				}
				late := p.delays
				if delays {
					for id := e.Thread; id != s.Thread; {
						if id = (id + 1) % trace.ThreadID(len(tr.Threads)); e.Enabled.Has(id) {
							late++
						}
					}
					n = late
				}
				if bound < 0 || n <= bound {
					todo = append(todo, prefix{append(slices.Clip(steps[:i]), s), tr.Threads, late})
				}
			}
			if e.Op == trace.OpCondSignal && i >= len(p.steps)-1 && (i >= len(p.steps) || p.steps[i].Wake < 0) {
				for _, w := range waiting[e.Object] {
					if w != steps[i].Wake {
						s := steps[i]
						s.Wake = w
						branch(s)
					}
				}
			}
			if i >= len(p.steps) {
				for id := range trace.ThreadID(len(tr.Threads)) {
					if id == e.Thread || !e.Enabled.Has(id) {
						continue
					}
					at := slices.IndexFunc(tr.Events[i:], func(e trace.Event) bool { return e.Thread == id })
					if at >= 0 {
						s := steps[i+at]
						s.Wake = -1
						branch(s)
						continue
					}
					w := tr.Ending.Waiters[slices.IndexFunc(tr.Ending.Waiters, func(w trace.Waiter) bool { return w.Thread == id })]
					branch(schedule.Step{Thread: id, Op: w.Op, Site: w.Site, Wake: -1})
				}
			}
			switch e.Op {
			case trace.OpCondWait:
				waiting[e.Object] = append(slices.Clip(waiting[e.Object]), e.Thread)
			case trace.OpCondSignal:
				waiting[e.Object] = slices.DeleteFunc(slices.Clone(waiting[e.Object]), func(u trace.ThreadID) bool { return u == steps[i].Wake })
			case trace.OpCondBroadcast:
				waiting[e.Object] = nil
			}
			if i > 0 && tr.Events[i-1].Thread != e.Thread && e.Enabled.Has(tr.Events[i-1].Thread) {
				preemptions++
			}
		}
	}
	return out
}

// randomProgram returns a small program of two or three threads besides main, which use few objects
// of each kind and so depend on one another in many ways. It prints what its threads have read.
func randomProgram(seed uint64) simprog.Program {
	return simprog.Program{Name: fmt.Sprint("random-", seed), Main: func(t *simprog.Thread) {
		r := rand.New(rand.NewPCG(seed, 77))
		words := []*simprog.Word{t.Var(0), t.Var(0)}
		mutexes := []*simprog.Mutex{t.Mutex(), t.Mutex()}
		cond, sem, barrier := t.Cond(), t.Sem(int64(r.IntN(2))), t.Barrier(2)
		body := func(n int, r *rand.Rand) func(*simprog.Thread) {
			return func(t *simprog.Thread) {
				got := []int64{}
				held := -1
				for range n {
					w, m := words[r.IntN(2)], r.IntN(2)
					switch k := r.IntN(16); {
					case k < 2:
						got = append(got, t.Load(w))
					case k < 4:
						t.Store(w, int64(1+r.IntN(3)))
					case k < 5:
						got = append(got, t.Read(w))
					case k < 6:
						t.Write(w, int64(1+r.IntN(3)))
					case k < 7:
						got = append(got, t.Add(w, 1))
					case k < 8:
						if t.CompareAndSwap(w, 0, 1) {
							got = append(got, 100)
						}
					case k < 11 && held < 0:
						t.Lock(mutexes[m])
						held = m
					case k < 11:
						t.Unlock(mutexes[held])
						held = -1
					case k < 12 && held < 0:
						if t.TryLock(mutexes[m]) {
							held = m
						}
					case k < 13 && held >= 0:
						t.Wait(cond, mutexes[held])
					case k < 14:
						t.Signal(cond)
					case k < 15 && r.IntN(2) == 0:
						t.Down(sem)
					case k < 15:
						t.Up(sem)
					case r.IntN(4) == 0:
						t.Arrive(barrier)
					case r.IntN(2) == 0:
						t.Broadcast(cond)
					}
				}
				if held >= 0 {
					t.Unlock(mutexes[held])
				}
				if len(got) > 0 {
					w := t.Var(0)
					_ = w
				}
				t.Print(fmt.Sprintln(seed, got))
			}
		}
		var all []*simprog.Thread
		for range 2 + r.IntN(2) {
			all = append(all, t.Go(body(2+r.IntN(3), rand.New(rand.NewPCG(r.Uint64(), 1)))))
		}
		for i, other := range all {
			switch r.IntN(5) {
			case 0:
			case 1:
				if joined := t.TryJoin(other); !joined {
					t.Print(fmt.Sprintln("busy", i, t.Load(words[0])))
					t.Join(other)
				}
			default:
				t.Join(other)
			}
		}
	}}
}

// reached returns what an execution's threads printed, whatever their order: a print is not an
// operation.
func reached(endings map[string]int) []string {
	out := map[string]bool{}
	for e := range endings {
		head, text, _ := strings.Cut(e, `"`)
		lines := strings.Split(text, `\n`)
		slices.Sort(lines)
		out[head+strings.Join(lines, ";")] = true
	}
	return slices.Sorted(maps.Keys(out))
}

// TestDPOR: on random programs the reduced search reaches every ending and every behaviour that
// enumerating all schedules reaches, and executes no behaviour twice but those that it counts.
func TestDPOR(t *testing.T) {
	t.Parallel()
	const most = 1000
	enough := need.Amount(50, 150)
	programs, all, reduced, redundant, signatures := 0, 0, 0, 0, 0
	for seed := uint64(0); programs < enough && seed < 3000; seed++ {
		program := randomProgram(seed)
		d := strategy.NewDPOR(strategy.Setting{Seed: 1})
		got := execute(t, d, program, most)
		if !got.done {
			continue
		}
		want := enumerate(t, program, points(d), -1, most)
		if want == nil {
			continue
		}
		programs++
		c := got.coverage
		if !c.Complete || c.Preemptions >= 0 {
			t.Fatalf("%s: %+v", program.Name, c)
		}
		if g, w := reached(got.endings), reached(want.endings); !slices.Equal(g, w) {
			t.Fatalf("%s: reached %d endings of %d:\n%q\n%q", program.Name, len(g), len(w), g, w)
		}
		for s := range want.signatures {
			if got.signatures[s] == 0 {
				t.Fatalf("%s: %d behaviours of %d in %d executions of %d", program.Name, len(got.signatures), len(want.signatures), got.executions, want.executions)
			}
		}
		signatures += len(got.signatures)
		all, reduced, redundant = all+want.executions, reduced+c.Executions, redundant+c.Redundant
	}
	t.Logf("%d programs: %d schedules, %d executions with reduction and %d redundant ones, %d behaviours", programs, all, reduced, redundant, signatures)
	if programs < enough {
		t.Errorf("%d programs", programs)
	}
}

// points returns the scheduling points at the end of a search.
func points(s strategy.Strategy) []trace.Site {
	r := s.(interface{ ScheduledAt() []trace.Site })
	return r.ScheduledAt()
}

// TestCHESS: with a bound on preemptions the search executes exactly the schedules that brute force
// finds, each once, and without a bound all of them.
func TestCHESS(t *testing.T) {
	t.Parallel()
	const most = 3000
	enough := need.Amount(15, 40)
	programs, executions := 0, [4]int{}
	for seed := uint64(0); programs < enough && seed < 1000; seed++ {
		program := randomProgram(seed)
		c := strategy.NewCHESS(strategy.Setting{Seed: 1}, -1)
		all := execute(t, c, program, most)
		if !all.done {
			continue
		}
		programs++
		at := points(c)
		for bound := -1; bound < 3; bound++ {
			want := enumerate(t, program, at, bound, most)
			got := all
			if bound >= 0 {
				got = execute(t, strategy.NewCHESS(strategy.Setting{Seed: 1, Points: at}, bound), program, most, at...)
			}
			if !maps.Equal(got.schedules, want.schedules) {
				t.Fatalf("%s: bound %d: %d schedules, want %d", program.Name, bound, len(got.schedules), len(want.schedules))
			}
			v := got.coverage
			if !v.Complete || v.Executions != len(want.schedules) || v.Preemptions != bound && v.Preemptions != -1 ||
				v.Preemptions == -1 && len(want.schedules) != len(all.schedules) {
				t.Fatalf("%s: bound %d: %+v, want %d", program.Name, bound, v, len(want.schedules))
			}
			executions[bound+1] += len(want.schedules)
		}
	}
	t.Logf("%d programs: %d schedules; with 0, 1 and 2 preemptions %v", programs, executions[0], executions[1:])
	if programs < enough || executions[1] >= executions[2] || executions[2] >= executions[3] || executions[3] >= executions[0] {
		t.Errorf("%d programs, %v schedules", programs, executions)
	}
}

// TestDelays: with a bound on delays the search executes exactly the schedules that brute force finds,
// each once, and no more than the bound on their number: an execution of n decisions has
// C(n+i-1, i) ways to spend i delays.
func TestDelays(t *testing.T) {
	t.Parallel()
	const most = 1000
	enough := need.Amount(15, 40)
	programs, executions, unbounded := 0, [4]int{}, 0
	for seed := uint64(0); programs < enough && seed < 1000; seed++ {
		program := randomProgram(seed)
		c := strategy.NewDelays(strategy.Setting{Seed: 1}, -1)
		all := execute(t, c, program, most)
		if !all.done {
			continue
		}
		programs++
		at := points(c)
		if want := enumerate(t, program, at, -1, most); !maps.Equal(all.schedules, want.schedules) {
			t.Fatalf("%s: %d schedules, want %d", program.Name, len(all.schedules), len(want.schedules))
		}
		unbounded += len(all.schedules)
		for bound := range 4 {
			want := enumerateBy(t, program, at, bound, most, true)
			got := execute(t, strategy.NewDelays(strategy.Setting{Seed: 1, Points: at}, bound), program, most, at...)
			if !maps.Equal(got.schedules, want.schedules) {
				t.Fatalf("%s: bound %d: %d schedules, want %d", program.Name, bound, len(got.schedules), len(want.schedules))
			}
			v := got.coverage
			if !v.Complete || !v.Delays || v.Executions != len(want.schedules) || v.Preemptions != bound && v.Preemptions != -1 ||
				v.Preemptions == -1 && len(want.schedules) != len(all.schedules) {
				t.Fatalf("%s: bound %d: %+v, want %d", program.Name, bound, v, len(want.schedules))
			}
			ways := 1
			for i, paths := 1, 1; i <= bound; i++ {
				paths = paths * (want.longest + i - 1) / i
				ways += paths
			}
			// Each of them has as many variants as its signals have waiters.
			if !signals(want) && len(want.schedules) > ways {
				t.Errorf("%s: bound %d: %d schedules of %d decisions, want at most %d", program.Name, bound, len(want.schedules), want.longest, ways)
			}
			executions[bound] += len(want.schedules)
		}
	}
	t.Logf("%d programs: %d schedules; with 0 to 3 delays %v", programs, unbounded, executions)
	if programs < enough || executions[0] >= executions[1] || executions[1] >= executions[2] || executions[2] >= executions[3] || executions[3] >= unbounded {
		t.Errorf("%d programs, %d and %v schedules", programs, unbounded, executions)
	}
}

// signals reports whether a schedule wakes a thread, which it could have done in several ways.
func signals(s *searched) bool {
	for schedule := range s.schedules {
		if strings.Contains(schedule, "signal") {
			return true
		}
	}
	return false
}

// TestBoundedDPOR: the search with both a bound and reduction reaches every ending, with what each
// thread has read, that brute force reaches under the bound, and no other; in fewer executions.
func TestBoundedDPOR(t *testing.T) {
	t.Parallel()
	const most = 1500
	programs, all, reduced := [4]int{}, [4]int{}, [4]int{}
	wider, enough := 0, need.Amount(40, 100)
	for seed := uint64(0); programs[0] < enough && seed < 3000; seed++ {
		program := randomProgram(seed)
		first := strategy.NewBoundedDPOR(strategy.Setting{Seed: 1}, 3)
		if !execute(t, first, program, most).done {
			continue
		}
		at := points(first)
		counted := enumerate(t, program, at, 3, most)
		if counted == nil {
			continue
		}
		for bound := range 4 {
			want := enumerate(t, program, at, bound, most)
			got := execute(t, strategy.NewBoundedDPOR(strategy.Setting{Seed: 1, Points: at}, bound), program, most, at...)
			if !got.done {
				t.Fatalf("%s: bound %d: not done after %d executions of %d", program.Name, bound, got.executions, want.executions)
			}
			c := got.coverage
			if !c.Complete || !c.Reduced || c.Preemptions != bound && c.Preemptions != -1 {
				t.Fatalf("%s: bound %d: %+v", program.Name, bound, c)
			}
			if g, w := reached(got.endings), reached(want.endings); !slices.Equal(g, w) {
				t.Fatalf("%s: bound %d: reached %d endings of %d:\n%q\n%q", program.Name, bound, len(g), len(w), g, w)
			}
			for s := range got.schedules {
				if want.schedules[s] == 0 {
					t.Fatalf("%s: bound %d: an execution is beyond the bound", program.Name, bound)
				}
			}
			programs[bound]++
			all[bound], reduced[bound] = all[bound]+want.executions, reduced[bound]+c.Executions
			if len(want.signatures) > len(got.signatures) {
				wider++
			}
		}
	}
	t.Logf("%d programs: with 0 to 3 preemptions %v schedules, %v executions with reduction; fewer behaviours in %d searches", programs[0], all, reduced, wider)
	if programs[0] < enough || reduced[1] >= all[1] || reduced[2] >= all[2] || reduced[3] >= all[3] {
		t.Errorf("%d programs: %v schedules, %v executions", programs, all, reduced)
	}
}

// TestExhaustiveResume: a search that is saved after any execution, with its plan in flight, makes
// the same executions as one that is not.
func TestExhaustiveResume(t *testing.T) {
	program := simprog.LockedUpdate(2)
	for name, make := range map[string]func(strategy.Setting) strategy.Strategy{
		"dpor":         func(s strategy.Setting) strategy.Strategy { return strategy.NewDPOR(s) },
		"bounded dpor": func(s strategy.Setting) strategy.Strategy { return strategy.NewBoundedDPOR(s, 2) },
		"chess":        func(s strategy.Setting) strategy.Strategy { return strategy.NewCHESS(s, 2) },
		"delay":        func(s strategy.Setting) strategy.Strategy { return strategy.NewDelays(s, 2) },
	} {
		setting := strategy.Setting{Seed: 1}
		want := execute(t, make(setting), program, 5000)
		s := &saving{t: t, make: make, setting: setting, Strategy: make(setting)}
		got := execute(t, s, program, 5000)
		if !maps.Equal(want.schedules, got.schedules) || want.executions != got.executions || want.executions < 2 {
			t.Errorf("%s: %d executions, without saving %d", name, got.executions, want.executions)
		}
	}
}

// saving saves a strategy and continues with what was saved between any two calls.
type saving struct {
	strategy.Strategy
	t       *testing.T
	make    func(strategy.Setting) strategy.Strategy
	setting strategy.Setting
	calls   int
}

func (s *saving) renew(r *strategy.Request) *strategy.Request {
	s.t.Helper()
	if s.calls++; s.calls%5 != 0 {
		return r
	}
	var flight []strategy.InFlight
	if r != nil {
		flight = append(flight, strategy.InFlight{Request: *r})
	}
	data, err := strategy.Save(s.Strategy, s.setting, flight)
	if err != nil {
		s.t.Fatal(err)
	}
	fresh := s.make(s.setting)
	flight, err = strategy.Restore(data, fresh, s.setting)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Strategy = fresh
	if len(flight) > 0 {
		return &flight[0].Request
	}
	return nil
}

func (s *saving) Next(left int) (strategy.Request, bool) {
	r, ok := s.Strategy.Next(left)
	if ok {
		r = *s.renew(&r)
	}
	return r, ok
}

func (s *saving) Observe(o *strategy.Observation) {
	s.Strategy.Observe(o)
	s.renew(nil)
}

// BenchmarkReduction counts the executions of both searches for threads that update a counter under
// a lock: `go test ./internal/strategy -run - -bench Reduction -benchtime 1x`.
func BenchmarkReduction(b *testing.B) {
	for threads := 1; threads <= 3; threads++ {
		b.Run(fmt.Sprintf("threads=%d", threads), func(b *testing.B) {
			for b.Loop() {
				program := simprog.LockedUpdate(threads)
				reduced := execute(b, strategy.NewDPOR(strategy.Setting{Seed: 1}), program, 1<<20)
				b.ReportMetric(float64(reduced.coverage.Executions), "behaviours")
				b.ReportMetric(float64(reduced.executions), "dpor")
				all := execute(b, strategy.NewCHESS(strategy.Setting{Seed: 1}, -1), program, 200_000)
				if all.done {
					b.ReportMetric(float64(all.executions), "chess")
				}
				two := execute(b, strategy.NewCHESS(strategy.Setting{Seed: 1}, 2), program, 200_000)
				if two.done {
					b.ReportMetric(float64(two.executions), "chess-2")
				}
			}
		})
	}
}
