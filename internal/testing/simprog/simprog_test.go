package simprog

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

var _ target.Target = (*Target)(nil)

// timed is a program with waits that time out.
func timed() Program {
	return Program{Name: "timed", Main: func(t *Thread) {
		m, c, s, b, out := t.Mutex(), t.Cond(), t.Sem(1), t.Barrier(2), t.Var(0)
		worker := t.Go(func(t *Thread) {
			t.Lock(m)
			if t.TimedWait(c, m) {
				t.Write(out, 1)
			}
			t.Unlock(m)
			t.Down(s)
			t.Up(s)
			t.Arrive(b)
		})
		if t.TryLock(m) {
			t.Signal(c)
			t.Broadcast(c)
			t.Unlock(m)
		}
		t.Write(out, int64(t.Rand()%7))
		t.Arrive(b)
		t.Join(worker)
		t.Print("done\n")
		t.Exit(int(t.Read(out)))
	}}
}

func programs() []Program {
	return []Program{
		LostUpdate(2), LostUpdate(4), LockedUpdate(3), ABBA(), LostWakeup(), OrderViolation(), UseAfterFree(),
		ExitStatus(), StandStill(4), FarAhead(5), TwoStage(), timed(),
	}
}

func run(t interface{ Fatalf(string, ...any) }, target *Target, p schedule.Plan) schedule.Outcome {
	o, err := target.Run(context.Background(), p)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return o
}

// sites are all plain accesses that some execution does.
func sites(t interface{ Fatalf(string, ...any) }, target *Target) (out []trace.Site) {
	for seed := range uint64(20) {
		o := run(t, target, schedule.Plan{Seed: seed, Policy: schedule.Random, Points: out, Record: true, Accesses: true})
		for _, e := range o.Trace.Events {
			if e.Op.IsAccess() {
				out = append(out, e.Site)
			}
		}
		slices.Sort(out)
		out = slices.Compact(out)
	}
	return out
}

func plans(t *rapid.T, points []trace.Site) schedule.Plan {
	p := schedule.Plan{
		Seed:     rapid.Uint64Range(0, 1<<20).Draw(t, "seed"),
		Policy:   schedule.Policy(rapid.IntRange(0, 3).Draw(t, "policy")),
		Timeouts: rapid.Bool().Draw(t, "timeouts"),
		Accesses: rapid.Bool().Draw(t, "accesses"),
		Record:   true, MaxSteps: 400,
	}
	switch p.Policy {
	case schedule.Random:
		p.Stay = []float64{0, 0.5, 0.9}[rapid.IntRange(0, 2).Draw(t, "stay")]
	case schedule.PCT:
		p.Depth, p.Length = rapid.IntRange(1, 5).Draw(t, "depth"), 40
	}
	if rapid.Bool().Draw(t, "points") {
		p.Points = points
	}
	return p
}

// TestExecutionsRepeat: the same plan gives the same outcome, so does its script followed
// strictly, and followed tolerantly without any deviation.
func TestExecutionsRepeat(t *testing.T) {
	for _, program := range programs() {
		t.Run(program.Name, func(t *testing.T) {
			points := sites(t, New(program))
			rapid.Check(t, func(t *rapid.T) {
				target := New(program)
				p := plans(t, points)
				first := run(t, target, p)
				if again := run(t, target, p); !reflect.DeepEqual(first, again) {
					t.Fatalf("the same plan gave\n%+v\n%+v", first, again)
				}
				p.Script, p.Threads = schedule.ScriptOf(first.Trace), first.Trace.Threads
				// A decision for each arrival, and one after each thread's end.
				if want := first.Points + ends(first.Trace, p.MaxSteps); len(p.Script) != want {
					t.Fatalf("%d points, but %d choices recorded, want %d", first.Points, len(p.Script), want)
				}
				for _, mode := range []schedule.Mode{schedule.Strict, schedule.Tolerant} {
					p.Mode = mode
					p.Policy = schedule.Fair
					again := run(t, target, p)
					if !reflect.DeepEqual(first, again) {
						t.Fatalf("mode %d:\n%+v\n%+v", mode, first, again)
					}
				}
			})
		})
	}
}

// ends is how many decisions an execution makes without an arrival before them: one after each
// thread that ended while it continued. The arrival that breaks the step budget makes none.
func ends(t *trace.Trace, budget int) (n int) {
	for i, e := range t.Events {
		if e.Op == trace.OpThreadEnd && (i < len(t.Events)-1 || t.Ending.Kind == trace.Hang) {
			n++
		}
	}
	if t.Ending.Kind == trace.Hang || t.Ending.Kind == trace.Deadlock && len(t.Events) > 0 && t.Events[len(t.Events)-1].Op != trace.OpThreadEnd {
		n--
	}
	return n
}

// TestEventsAreWellFormed checks every recorded execution against the contract.
func TestEventsAreWellFormed(t *testing.T) {
	for _, program := range programs() {
		t.Run(program.Name, func(t *testing.T) {
			points := sites(t, New(program))
			rapid.Check(t, func(t *rapid.T) {
				p := plans(t, points)
				o := run(t, New(program), p)
				cost := trace.CostOf(o.Trace.Events)
				if cost.Switches != o.Switches || cost.Preemptions != o.Preemptions {
					t.Fatalf("outcome says %d switches, %d preemptions; its events %d, %d", o.Switches, o.Preemptions, cost.Switches, cost.Preemptions)
				}
				if p.Policy == schedule.Fair && o.Preemptions > 0 && o.Points < p.MaxSteps/2 && !hasYield(o.Trace) && !p.Timeouts {
					t.Fatalf("%d preemptions under the fair policy", o.Preemptions)
				}
				held := map[trace.Object]trace.ThreadID{}
				started, ended := map[trace.ThreadID]bool{0: true}, map[trace.ThreadID]bool{}
				for i, e := range o.Trace.Events {
					choice := e.Flags&trace.FlagNoDecision == 0
					if choice && !e.Enabled.Has(e.Thread) && e.Flags&trace.FlagTimeout == 0 {
						t.Fatalf("event %d: %+v was chosen but not enabled", i, e)
					}
					if late := e.Flags&trace.FlagTimeout != 0; late && e.Op != trace.OpCondTimeout && e.Op != trace.OpSleep {
						t.Fatalf("event %d: %+v timed out", i, e)
					}
					// A use of freed memory is recorded with the block's allocation and free.
					gone := o.Ending.Kind == trace.Misuse && (e.Op == trace.OpMalloc || e.Op == trace.OpFree || i >= len(o.Trace.Events)-2)
					if !choice && (!p.Accesses && e.Op != trace.OpSignal && !gone || slices.Contains(p.Points, e.Site)) {
						t.Fatalf("event %d: %+v is not a choice but recorded", i, e)
					}
					if ended[e.Thread] || e.Op == trace.OpThreadStart == started[e.Thread] && e.Op == trace.OpThreadStart || e.Op != trace.OpThreadStart && !started[e.Thread] {
						t.Fatalf("event %d: %+v out of its thread's life", i, e)
					}
					switch e.Op {
					case trace.OpThreadStart:
						started[e.Thread] = true
					case trace.OpThreadEnd:
						ended[e.Thread] = true
					case trace.OpThreadJoin:
						if !ended[trace.ThreadID(e.Value)] {
							t.Fatalf("event %d: join of a thread that runs", i)
						}
					case trace.OpMutexLock, trace.OpCondWake:
						l := e.Object
						if e.Op == trace.OpCondWake {
							l = trace.Object(e.Aux)
						}
						if _, ok := held[l]; ok {
							t.Fatalf("event %d: %+v takes a lock that is held", i, e)
						}
						held[l] = e.Thread
					case trace.OpMutexTrylock:
						if _, ok := held[e.Object]; ok == (e.Result == 0) {
							t.Fatalf("event %d: trylock with result %d", i, e.Result)
						} else if !ok {
							held[e.Object] = e.Thread
						}
					case trace.OpMutexUnlock:
						delete(held, e.Object)
					case trace.OpCondWait:
						delete(held, trace.Object(e.Aux))
					}
				}
			})
		})
	}
}

func hasYield(t *trace.Trace) bool {
	return slices.ContainsFunc(t.Events, func(e trace.Event) bool { return e.Op == trace.OpYield })
}

// TestSignatureNamesEquivalence: exchanging two neighbouring operations that do not
// conflict changes nothing, neither trace signature nor ending.
func TestSignatureNamesEquivalence(t *testing.T) {
	exchanged := 0
	for _, program := range programs() {
		t.Run(program.Name, func(t *testing.T) {
			points := sites(t, New(program))
			rapid.Check(t, func(t *rapid.T) {
				target := New(program)
				p := plans(t, points)
				p.Accesses, p.Timeouts = false, false
				p.Points = points // an access that is not a scheduling point moves along with the operation before it
				first := run(t, target, p)
				var candidates []int
				events := slices.DeleteFunc(slices.Clone(first.Trace.Events), func(e trace.Event) bool { return e.Flags&trace.FlagNoDecision != 0 })
				for i := 1; i < len(events); i++ {
					if e, f := &events[i-1], &events[i]; e.Thread != f.Thread && e.Enabled.Has(f.Thread) && independent(e) && independent(f) && e.Object != f.Object {
						candidates = append(candidates, i)
					}
				}
				if len(candidates) == 0 {
					return
				}
				exchanged++
				i := candidates[rapid.IntRange(0, len(candidates)-1).Draw(t, "where")]
				script := schedule.ScriptOf(first.Trace)
				script[i-1], script[i] = script[i], script[i-1]
				p.Mode, p.Script, p.Threads = schedule.Strict, script, first.Trace.Threads
				second := run(t, target, p)
				if second.Signature != first.Signature || second.Ending.Kind != first.Ending.Kind || second.Ending.Status != first.Ending.Status {
					t.Fatalf("exchanging events %d and %d: trace signature %x, %x, ended %v, %v (%+v)", i-1, i, first.Signature, second.Signature, first.Ending.Kind, second.Ending.Kind, second.Diverged)
				}
			})
		})
	}
	if exchanged == 0 {
		t.Error("no two operations were ever exchanged")
	}
}

// independent reports that an operation has nothing to do with any other object.
func independent(e *trace.Event) bool {
	switch e.Op {
	case trace.OpRead, trace.OpWrite, trace.OpAtomicLoad, trace.OpAtomicStore, trace.OpAtomicRmw, trace.OpMutexLock, trace.OpMutexUnlock:
		return e.Object != 0
	}
	return false
}

// explore runs every schedule of a program with all accesses as points, and counts how
// they end: "clean 0", "deadlock 0", …
func explore(t *testing.T, program Program, limit int) map[string]int {
	points := sites(t, New(program))
	target := New(program)
	ends := map[string]int{}
	var taken, left []int // the decision at each point, and the number of alternatives not tried
	for n := 0; ; n++ {
		if n == limit {
			t.Fatalf("%s has more than %d schedules", program.Name, limit)
		}
		depth := 0
		target.choose = func(can []*Thread) *Thread {
			if depth == len(taken) {
				taken, left = append(taken, 0), append(left, len(can)-1)
			}
			depth++
			return can[taken[depth-1]]
		}
		o := run(t, target, schedule.Plan{Points: points, MaxSteps: 200})
		ends[fmt.Sprint(o.Ending.Kind, " ", o.Ending.Status)]++
		for len(left) > 0 && left[len(left)-1] == 0 {
			taken, left = taken[:len(taken)-1], left[:len(left)-1]
		}
		if len(left) == 0 {
			return ends
		}
		taken[len(taken)-1]++
		left[len(left)-1]--
	}
}

// TestAllSchedules: all possible endings of small programs are known.
func TestAllSchedules(t *testing.T) {
	for _, test := range []struct {
		program Program
		ends    []string
	}{
		{LostUpdate(2), []string{"assertion 0", "clean 0"}},
		{LockedUpdate(2), []string{"clean 0"}},
		{ABBA(), []string{"clean 0", "deadlock 0"}},
		{OrderViolation(), []string{"clean 0", "signal 11"}},
		{LostWakeup(), []string{"clean 0", "deadlock 0"}},
		{ExitStatus(), []string{"clean 8", "clean 9"}},
	} {
		ends := explore(t, test.program, 20000)
		var got []string
		for end := range ends {
			got = append(got, end)
		}
		if slices.Sort(got); !reflect.DeepEqual(got, test.ends) {
			t.Errorf("%s ends with %v, want %v", test.program.Name, ends, test.ends)
		}
	}
}

// TestEndings: what is reported for each way to fail.
func TestEndings(t *testing.T) {
	program := func(body func(*Thread)) Program { return Program{Name: "test", Main: body} }
	tests := []struct {
		name    string
		program Program
		kind    trace.Kind
		status  int32
		message string
	}{
		{"assertion", program(func(t *Thread) { t.Assert(false, "no") }), trace.Assertion, 0, "no"},
		{"signal", program(func(t *Thread) { t.Crash(6) }), trace.Signal, 6, ""},
		{"exit", program(func(t *Thread) { t.Exit(3) }), trace.Clean, 3, ""},
		{"return", program(func(t *Thread) {}), trace.Clean, 0, ""},
		{"exception", program(func(t *Thread) { t.Throw("std::bad_alloc") }), trace.Exception, 0, "std::bad_alloc"},
		{"unsupported", program(func(t *Thread) { t.Unsupported("fork") }), trace.Unsupported, 0, "fork"},
		{"unlock", program(func(t *Thread) { t.Unlock(t.Mutex()) }), trace.Misuse, 0, "unlock of a lock not held"},
		{"join twice", program(func(t *Thread) { c := t.Go(func(*Thread) {}); t.Join(c); t.Join(c) }), trace.Misuse, 0, "join of a thread that was joined before"},
		{"use after free", program(func(t *Thread) { w := t.New(1); t.Free(w); t.Read(w) }), trace.Misuse, 0, "use of freed memory"},
		{"free twice", program(func(t *Thread) { w := t.New(1); t.Free(w); t.Free(w) }), trace.Misuse, 0, "free of freed memory"},
		{"deadlock", program(func(t *Thread) { m := t.Mutex(); t.Lock(m); t.Lock(m) }), trace.Deadlock, 0, ""},
		{"hang", program(func(t *Thread) {
			for {
				t.Yield()
			}
		}), trace.Unfinished, 0, trace.CutBySteps},
		{"main ends first", program(func(t *Thread) { t.Go(func(t *Thread) { t.Down(t.Sem(0)) }) }), trace.Clean, 0, ""},
		{"wait times out when nobody can run", program(func(t *Thread) {
			m := t.Mutex()
			t.Lock(m)
			if !t.TimedWait(t.Cond(), m) {
				t.Exit(2)
			}
		}), trace.Clean, 2, ""},
	}
	for _, test := range tests {
		o := run(t, New(test.program), schedule.Plan{Record: true, Accesses: true})
		if e := o.Ending; e.Kind != test.kind || e.Status != test.status || e.Message != test.message {
			t.Errorf("%s: %v %d %q, want %v %d %q", test.name, e.Kind, e.Status, e.Message, test.kind, test.status, test.message)
		}
		if !reflect.DeepEqual(o.Trace.Ending, o.Ending) {
			t.Errorf("%s: the trace ends differently", test.name)
		}
	}
}

// TestDeadlockCycle: the ring is found, and only those on it are.
func TestDeadlockCycle(t *testing.T) {
	target := New(ABBA())
	for seed := range uint64(100) {
		o := run(t, target, schedule.Plan{Policy: schedule.Random, Seed: seed})
		if o.Ending.Kind != trace.Deadlock {
			continue
		}
		cycle := slices.Sorted(slices.Values(o.Ending.Cycle))
		if !slices.Equal(cycle, []trace.ThreadID{1, 2}) {
			t.Errorf("cycle %v, want threads 1 and 2", o.Ending.Cycle)
		}
		if len(o.Ending.Waiters) != 3 || o.Ending.Waiters[1].Holder != 2 || o.Ending.Waiters[2].Holder != 1 {
			t.Errorf("waiters %+v", o.Ending.Waiters)
		}
		return
	}
	t.Error("no deadlock in 100 random schedules")
}

// TestStrictDivergence: a script that cannot be followed reports where and what happened instead.
func TestStrictDivergence(t *testing.T) {
	target := New(LostUpdate(2))
	recorded := run(t, target, schedule.Plan{Record: true}).Trace
	plan := func(change func([]schedule.Step) []schedule.Step) schedule.Plan {
		return schedule.Plan{Mode: schedule.Strict, Script: change(schedule.ScriptOf(recorded)), Threads: recorded.Threads}
	}
	for _, test := range []struct {
		name   string
		change func([]schedule.Step) []schedule.Step
		step   int
		met    trace.Op
	}{
		{"other operation", func(s []schedule.Step) []schedule.Step { s[1].Op = trace.OpMutexLock; return s }, 1, trace.OpThreadCreate},
		{"other site", func(s []schedule.Step) []schedule.Step { s[1].Site++; return s }, 1, trace.OpThreadCreate},
		{"thread that is not there", func(s []schedule.Step) []schedule.Step { s[0].Thread = 2; return s }, 0, trace.OpNone},
	} {
		o := run(t, target, plan(test.change))
		if o.Ending.Kind != trace.Diverged || o.Diverged == nil || o.Diverged.Step != test.step || o.Diverged.Met.Op != test.met {
			t.Errorf("%s: %v, %+v", test.name, o.Ending.Kind, o.Diverged)
		}
	}
	// The policy decides where a script ends, unless the budget is as long as the script.
	p := plan(func(s []schedule.Step) []schedule.Step { return s[:3] })
	if o := run(t, target, p); o.Ending.Kind != trace.Clean {
		t.Errorf("a short script ended with %v", o.Ending.Kind)
	}
	p.MaxSteps, p.Record = len(p.Script), true
	if o := run(t, target, p); o.Ending.Kind != trace.Unfinished || len(o.Trace.Events) != len(p.Script) {
		t.Errorf("a script as long as the budget ended with %v after %d events", o.Ending.Kind, len(o.Trace.Events))
	}
}

// TestPolicies: each policy finds the bug it is known to be good at, and those that are
// not do not.
func TestPolicies(t *testing.T) {
	count := func(program Program, p schedule.Plan) (n int) {
		target := New(program)
		for seed := range uint64(300) {
			p.Seed = seed
			if run(t, target, p).Ending.Kind.Failed() {
				n++
			}
		}
		return n
	}
	random := schedule.Plan{Policy: schedule.Random}
	stay := schedule.Plan{Policy: schedule.Random, Stay: 0.95}
	pct := schedule.Plan{Policy: schedule.PCT, Depth: 2, Length: 100}
	pos := schedule.Plan{Policy: schedule.POS}
	fair := schedule.Plan{Policy: schedule.Fair}
	for _, test := range []struct {
		name     string
		program  Program
		plan     schedule.Plan
		low, top int // of 300
	}{
		{"fair, lock order", ABBA(), fair, 0, 0},
		{"random, lock order", ABBA(), random, 30, 200},
		{"random, one thread stands still", StandStill(16), random, 0, 0},
		{"stay, one thread stands still", StandStill(16), stay, 1, 30},
		{"pct, one thread stands still", StandStill(16), pct, 1, 30},
		{"random, far ahead", FarAhead(20), random, 0, 0},
		{"pct, far ahead", FarAhead(20), pct, 30, 150},
		{"pos, far ahead", FarAhead(20), pos, 2, 30},
	} {
		if n := count(test.program, test.plan); n < test.low || n > test.top {
			t.Errorf("%s: %d of 300 failed, want %d to %d", test.name, n, test.low, test.top)
		}
	}
}

// TestTolerances are those of FSE'10 §4.2.1 on LostUpdate: a script that cannot be
// followed to the letter is followed as far as it goes.
func TestTolerances(t *testing.T) {
	target := New(LockedUpdate(2))
	recorded := run(t, target, schedule.Plan{Record: true}).Trace
	script := schedule.ScriptOf(recorded)
	// Thread 2's lock is moved into thread 1's critical section, where it is blocked.
	first, second := -1, -1
	for i, s := range script {
		if s.Op == trace.OpMutexLock {
			if s.Thread == 1 {
				first = i
			} else {
				second = i
			}
		}
	}
	if first < 0 || second < 0 {
		t.Fatalf("no two locks in %v", script)
	}
	start := slices.IndexFunc(script, func(s schedule.Step) bool { return s.Thread == 2 })
	moved := slices.Concat(script[:first+1], script[start:second+1], script[first+1:start], script[second+1:])
	o := run(t, target, schedule.Plan{Mode: schedule.Tolerant, Script: moved, Threads: recorded.Threads, Record: true})
	if o.Ending.Kind != trace.Clean || o.Deviations == 0 {
		t.Errorf("ended with %v after %d deviations", o.Ending.Kind, o.Deviations)
	}
	// The policy continues a script that ends early.
	o = run(t, target, schedule.Plan{Mode: schedule.Tolerant, Script: script[:2], Threads: recorded.Threads})
	if o.Ending.Kind != trace.Clean || o.Deviations != 0 {
		t.Errorf("a short script ended with %v after %d deviations", o.Ending.Kind, o.Deviations)
	}
}

// TestStream: plans are taken ahead, outcomes come in order, Stop and a false done end
// what they should.
func TestStream(t *testing.T) {
	target := New(LostUpdate(2))
	points := sites(t, target)
	before := target.Executions()
	taken, n := 0, 0
	var order []uint64
	err := target.Stream(context.Background(), func() (schedule.Plan, bool) {
		if n == 0 && taken > ahead {
			t.Errorf("%d plans taken before an outcome", taken)
		}
		taken++
		return schedule.Plan{Seed: uint64(taken) * 1000, Repeat: 50, Policy: schedule.Random, Points: points, Stop: true}, taken <= 10
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		n++
		order = append(order, p.Seed+uint64(o.Index))
		if o.Ending.Kind != trace.Clean && o.Index == 49 {
			t.Error("a plan that stops had no failure in 49 executions: the test is too weak")
		}
		return p.Seed < 5000
	})
	if err != nil || !slices.IsSorted(order) || n != len(order) || n >= 50*5 || target.Executions()-before != n {
		t.Errorf("%v, %d executions: %v", err, n, order)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := target.Stream(ctx, func() (schedule.Plan, bool) { return schedule.Plan{}, true }, nil); err != context.Canceled {
		t.Errorf("after cancel: %v", err)
	}
}

// TestLocate: sites lead back to the source.
func TestLocate(t *testing.T) {
	o := run(t, New(ABBA()), schedule.Plan{Record: true})
	for _, e := range o.Trace.Events {
		if e.Op == trace.OpMutexLock && Locate(e.Site)[:12] != "programs.go:" {
			t.Errorf("%#x is at %s", e.Site, Locate(e.Site))
		}
	}
}

// TestBlind: without hooks no access is seen and none is a point.
func TestBlind(t *testing.T) {
	program := LostUpdate(2)
	points := sites(t, New(program))
	program.Blind = true
	o := run(t, New(program), schedule.Plan{Record: true, Accesses: true, Points: points})
	if o.Trace.Header.Instrumented || slices.ContainsFunc(o.Trace.Events, func(e trace.Event) bool { return e.Op.IsAccess() }) {
		t.Errorf("%+v", o.Trace.Events)
	}
}

func BenchmarkExecution(b *testing.B) {
	target := New(LockedUpdate(4))
	points := 0
	for b.Loop() {
		o, _ := target.Run(context.Background(), schedule.Plan{Policy: schedule.Random, Seed: uint64(points)})
		points += o.Points
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e9/float64(points), "ns/point")
}

// TestTracesAreValid by the rules of package trace.
func TestTracesAreValid(t *testing.T) {
	for _, program := range programs() {
		t.Run(program.Name, func(t *testing.T) {
			points := sites(t, New(program))
			rapid.Check(t, func(t *rapid.T) {
				o := run(t, New(program), plans(t, points))
				if err := trace.Validate(o.Trace); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}
