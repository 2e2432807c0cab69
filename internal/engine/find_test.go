package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestFindsBugs: every program's bug is found from several seeds, replays, and comes out
// of the simplifier at the known minimum.
func TestFindsBugs(t *testing.T) {
	for _, test := range []struct {
		program               simprog.Program
		kind, message         string
		switches, preemptions int // minimum
	}{
		// main|A|B|A|main: the preemption is between A's read and its write.
		{simprog.LostUpdate(2), "assertion", "counter == threads", 4, 1},
		{simprog.LostUpdate(5), "assertion", "counter == threads", 7, 1},
		// main|A|B: A is left holding its first lock; main was blocked, and nobody moves after.
		{simprog.ABBA(), "deadlock", "T1 (pthread_mutex_lock) and T2 (pthread_mutex_lock) wait for one another", 2, 1},
		// main|A|main|A: A tests the flag, main sets it and signals, A waits.
		{simprog.LostWakeup(), "deadlock", "T1 never returns from pthread_cond_wait", 3, 2},
		{simprog.OrderViolation(), "signal", "SIGSEGV", 1, 1},
		// main|A|main|A: main polls and is never blocked, A is left between flag and use.
		{simprog.UseAfterFree(), "misuse", "use of freed memory", 3, 2},
		// main|B|A|main: B merely comes first.
		{simprog.ExitStatus(), "exit", "exit status 9, expected 8", 3, 0},
		{simprog.TwoStage(), "assertion", "second == 2", 0, 0},
	} {
		for seed := range uint64(3) {
			t.Run(fmt.Sprintf("%s/%d", test.program.Name, seed), func(t *testing.T) {
				target := simprog.New(test.program)
				r := find(t, target, Options{Seed: seed, Runs: 20000})
				if r.Outcome != Bug || r.Finding.Kind != test.kind || r.Finding.Message != test.message {
					t.Fatalf("%+v, finding %+v", r, r.Finding)
				}
				for _, tr := range []*trace.Trace{r.Finding.Recorded, r.Simplified.Recorded} {
					if _, err := Replay(context.Background(), simprog.New(test.program), tr); err != nil {
						t.Errorf("%s: %v", tr.Header.Strategy, err)
					}
					if tr.Ending.Kind.String() != test.kind {
						t.Errorf("%s ends with %v", tr.Header.Strategy, tr.Ending.Kind)
					}
				}
				s := r.Simplified
				if !s.Complete || test.switches > 0 && (s.Switches != test.switches || s.Preemptions != test.preemptions) {
					t.Errorf("simplified to %d switches, %d preemptions, want %d, %d", s.Switches, s.Preemptions, test.switches, test.preemptions)
				}
				if cost := trace.CostOf(s.Recorded.Events); cost.Switches != s.Switches || cost.Preemptions != s.Preemptions || cost.Events != s.Events {
					t.Errorf("the report says %+v, the trace %+v", s, cost)
				}
			})
		}
	}
}

// TestFindsHang: the hang replays with the budget it was cut off by.
func TestFindsHang(t *testing.T) {
	target := simprog.New(simprog.Polite())
	r := find(t, target, Options{Runs: 2000, MaxSteps: 200, Simplify: SimplifyOptions{Executions: 300}})
	if r.Outcome != Bug || r.Finding.Kind != "hang" {
		t.Fatalf("%+v", r)
	}
	if _, err := Replay(context.Background(), target, r.Simplified.Recorded); err != nil {
		t.Error(err)
	}
}

// TestGoodPrograms: nothing is found, in exactly the executions asked for.
func TestGoodPrograms(t *testing.T) {
	for _, runs := range []int{1, 2, 17, 500} {
		target := simprog.New(simprog.LockedUpdate(3))
		r := find(t, target, Options{Runs: runs})
		if r.Outcome != Nothing || r.Finding != nil || r.Executions != runs || target.Executions() != runs || len(r.Races) != 0 || r.Points != 0 {
			t.Errorf("runs %d: %+v, %d executions made", runs, r, target.Executions())
		}
	}
}

// TestOutsideIsTold: once, however many executions waited for the outside world.
func TestOutsideIsTold(t *testing.T) {
	for _, every := range []uint64{0, 3} {
		n := uint64(0)
		r := find(t, &meddler{Target: simprog.New(simprog.LockedUpdate(3)), after: func(_ *schedule.Plan, o *schedule.Outcome) {
			n++
			o.Outside = every > 0 && n%every == 0
		}}, Options{Runs: 40})
		told := 0
		for _, note := range r.Notes {
			if strings.Contains(note, "outside of the program") {
				told++
			}
		}
		if want := int(min(every, 1)); told != want {
			t.Errorf("every %d executions: told %d times, want %d: %q", every, told, want, r.Notes)
		}
	}
}

// TestFindsWithinAHandful: shallow bugs do not wait for large batches.
func TestFindsWithinAHandful(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(2), simprog.ABBA(), simprog.LostWakeup(), simprog.OrderViolation()} {
		var executions []int
		for seed := range uint64(99) {
			r := find(t, simprog.New(program), Options{Seed: seed, NoSimplify: true})
			executions = append(executions, r.Executions)
		}
		slices.Sort(executions)
		if median := executions[len(executions)/2]; median > 12 {
			t.Errorf("%s: found after %v executions", program.Name, executions)
		}
	}
}

// stripped is a report without what depends on time.
func stripped(r *Report) string {
	r.Seconds, r.PerSecond = 0, 0
	if r.Simplified != nil {
		r.Simplified.Seconds = 0
		r.Simplified.Details.Table2.Seconds = 0
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestSameSeedSameFinding, however long things take; another seed finds another one.
func TestSameSeedSameFinding(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(4), simprog.ABBA(), simprog.TwoStage(), simprog.StandStill(10)} {
		found := map[string]bool{}
		for seed := range uint64(4) {
			opts := Options{Seed: seed, Runs: 3000}
			first := find(t, simprog.New(program), opts)
			slow := 0
			second, err := Find(context.Background(), &meddler{Target: simprog.New(program), before: func(schedule.Plan) error {
				if slow++; slow%50 == 0 {
					time.Sleep(time.Millisecond)
				}
				return nil
			}}, opts, func(Progress) { time.Sleep(time.Millisecond) })
			if err != nil {
				t.Fatal(err)
			}
			a, b := first.Finding, second.Finding
			if stripped(first) != stripped(second) || a != nil && !reflect.DeepEqual(a.Recorded, b.Recorded) {
				t.Errorf("%s, seed %d:\n%s\n%s", program.Name, seed, stripped(first), stripped(second))
			}
			if a != nil {
				found[a.Strategy] = true
			}
		}
		if len(found) < 2 {
			t.Errorf("%s: four seeds found %v", program.Name, found)
		}
	}
}

// TestPointsGrow: instructions that only run once another race has been lost become
// points too, and without them the bug is not found.
func TestPointsGrow(t *testing.T) {
	fair := record(t, simprog.TwoStage(), RecordOptions{})
	r := find(t, simprog.New(simprog.TwoStage()), Options{Runs: 20000})
	sites := map[trace.Site]bool{}
	for _, e := range fair.Events {
		if e.Op.IsAccess() {
			sites[e.Site] = true
		}
	}
	grown := 0
	for _, x := range r.Races {
		for _, a := range []Access{x.First, x.Second} {
			if !sites[a.Site] {
				grown++
			}
		}
	}
	if first := len(race.Sites(racesOf(fair))); r.Outcome != Bug || grown == 0 || r.Points <= first {
		t.Errorf("%d points, %d after the first execution, %d racing instructions that the first execution did not reach: %+v", r.Points, first, grown, r)
	}
	// The search goes on finding what it can, but not this, when recording shows nothing.
	blind := &meddler{Target: simprog.New(simprog.TwoStage()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if o.Trace != nil {
			o.Trace.Events = slices.DeleteFunc(o.Trace.Events, func(e trace.Event) bool { return e.Op.IsAccess() && !sites[e.Site] })
		}
	}}
	if r := find(t, blind, Options{Runs: 5000}); r.Outcome != Nothing {
		t.Errorf("found without the second race's points: %+v", r.Finding)
	}
}

// TestStrategiesBeatStress: on the programs it is meant for, every strategy fails at least
// three times as often as the program left to an ordinary scheduler, which lets a thread
// run for as long as it can, apart from a rare preemption.
func TestStrategiesBeatStress(t *testing.T) {
	const executions = 1000
	rate := func(program simprog.Program, points []trace.Site, plan func(seed uint64) schedule.Plan) int {
		target, failures := simprog.New(program), 0
		for seed := range uint64(executions) {
			p := plan(seed)
			p.Seed, p.Points = seed, points
			o, err := target.Run(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			if o.Ending.Kind.Failed() {
				failures++
			}
		}
		return failures
	}
	for _, test := range []struct {
		strategy strategy.Sampler
		programs []simprog.Program
	}{
		{strategy.Random{}, []simprog.Program{simprog.LostUpdate(3), simprog.ABBA(), simprog.LostWakeup()}},
		{strategy.Stay{}, []simprog.Program{simprog.LostUpdate(3), simprog.ABBA(), simprog.StandStill(8)}},
		{strategy.PCT{}, []simprog.Program{simprog.LostUpdate(3), simprog.ABBA(), simprog.StandStill(8)}},
		{strategy.POS{}, []simprog.Program{simprog.LostUpdate(3), simprog.ABBA(), simprog.LostWakeup()}},
	} {
		for _, program := range test.programs {
			r := find(t, simprog.New(program), Options{Runs: 300, NoSimplify: true})
			var points []trace.Site
			for _, x := range r.Races {
				points = append(points, x.First.Site, x.Second.Site)
			}
			slices.Sort(points)
			points = slices.Compact(points)
			length := trace.CostOf(record(t, program, RecordOptions{Points: points}).Events).Events
			source := strategy.Source(0)
			got := rate(program, points, func(uint64) schedule.Plan {
				return test.strategy.Plan(source, strategy.Seen{Points: length})
			})
			stress := rate(program, points, func(uint64) schedule.Plan {
				return schedule.Plan{Policy: schedule.Random, Stay: 0.999}
			})
			t.Logf("%s on %s: %d of %d, plain stress %d", test.strategy, program.Name, got, executions, stress)
			if got < 5 || got < 3*stress {
				t.Errorf("%s on %s: %d failures of %d, plain stress %d", test.strategy, program.Name, got, executions, stress)
			}
		}
	}
}

// flaky fails at random for no reason that a schedule could repeat, and has a real bug
// besides if told so.
func flaky(bug bool) simprog.Program {
	executions := 0
	return simprog.Program{Name: "flaky", Main: func(t *simprog.Thread) {
		executions++
		if executions%7 == 3 {
			t.Assert(false, "out of luck")
		}
		if bug {
			simprog.LostUpdate(2).Main(t)
		}
	}}
}

// TestNotReproduced: what does not come again is counted and noted, and the search goes
// on where it was.
func TestNotReproduced(t *testing.T) {
	target := &meddler{Target: simprog.New(flaky(false))}
	r := find(t, target, Options{Runs: 300})
	if r.Outcome != Nothing || r.Executions != 300 || r.NotReproduced < 20 || len(r.Notes) == 0 || len(r.Notes) > maxNotes {
		t.Errorf("%+v", r)
	}
	if !strings.HasPrefix(r.Notes[0], "not reproduced: execution 3 (") || !strings.Contains(r.Notes[0], "ended with assertion: out of luck") {
		t.Errorf("note: %s", r.Notes[0])
	}
	// No execution was left out or made twice because of the interruptions.
	for i, seed := range target.seeds {
		if seed != uint64(i) {
			t.Fatalf("execution %d has seed %d: %v", i, seed, target.seeds)
		}
	}
	r = find(t, simprog.New(flaky(true)), Options{Runs: 3000, NoSimplify: true})
	if r.Outcome != Bug || r.Finding.Message != "counter == threads" || r.NotReproduced == 0 {
		t.Errorf("with a real bug besides: %+v, %+v", r, r.Finding)
	}
}

// TestReplayMustBeIdentical: a failure that comes again but by other events is none.
func TestReplayMustBeIdentical(t *testing.T) {
	n := 0
	target := &meddler{Target: simprog.New(simprog.ABBA()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if n++; p.Mode == schedule.Strict && o.Trace != nil {
			o.Trace.Events[2].Value++
		}
	}}
	r := find(t, target, Options{Runs: 200})
	if r.Outcome != Nothing || r.NotReproduced == 0 || !strings.Contains(r.Notes[0], "event 2 (value)") {
		t.Errorf("%+v", r)
	}
}

// TestAnotherFailureIsNotTheSame: where the plan, run again, fails by another bug, the
// first one is not confirmed.
func TestAnotherFailureIsNotTheSame(t *testing.T) {
	target := &meddler{Target: simprog.New(simprog.LostUpdate(2)), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if o.Ending.Kind.Failed() && p.Record {
			o.Ending.Message = "another assertion"
			o.Trace.Ending.Message = o.Ending.Message
		}
	}}
	r := find(t, target, Options{Seed: 1, Runs: 100, Samplers: []strategy.Sampler{strategy.POS{}}})
	if r.NotReproduced == 0 || !strings.Contains(strings.Join(r.Notes, "\n"), "its plan, run again, ended with assertion: another assertion at") {
		t.Errorf("%+v", r)
	}
	if r.Finding != nil && r.Finding.Message != "another assertion" {
		t.Errorf("%+v", r.Finding)
	}
}

// TestSimplifiedMustReplay: a simplified execution that does not replay is not handed out.
func TestSimplifiedMustReplay(t *testing.T) {
	replays := 0
	target := &meddler{Target: simprog.New(simprog.ABBA()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Mode == schedule.Strict {
			if replays++; replays == 2 {
				o.Trace.Events[1].Value++
			}
		}
	}}
	file := filepath.Join(t.TempDir(), "simple.hdl")
	r := find(t, target, Options{Keep: keepIn("", file)})
	if r.Outcome != Bug || r.Simplified != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "not simplified: the simplified execution does not replay: the replay differs") {
		t.Errorf("%+v", r)
	}
	if _, err := trace.ReadFile(file); err == nil {
		t.Error("it was written all the same")
	}
}

// TestSimplifierCannotReproduce: the finding is reported, without a simplified one.
func TestSimplifierCannotReproduce(t *testing.T) {
	target := &meddler{Target: simprog.New(simprog.ABBA()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Mode == schedule.Tolerant {
			o.Ending = trace.Ending{}
			o.Trace.Ending = o.Ending
		}
	}}
	r := find(t, target, Options{})
	if r.Outcome != Bug || r.Simplified != nil || len(r.Notes) != 1 || !strings.HasPrefix(r.Notes[0], "not simplified: ") {
		t.Errorf("%+v", r)
	}
}

func TestUnsupported(t *testing.T) {
	late := 0
	for _, test := range []struct {
		name    string
		program simprog.Program
		least   int
	}{
		{"at once", simprog.Program{Name: "forks", Main: func(t *simprog.Thread) { t.Unsupported("fork") }}, 1},
		{"later", simprog.Program{Name: "forks", Main: func(t *simprog.Thread) {
			if late++; late == 20 {
				t.Unsupported("fork")
			}
		}}, 20},
	} {
		r, err := Find(context.Background(), simprog.New(test.program), Options{Runs: 100}, nil)
		var u *UnsupportedError
		if !errors.As(err, &u) || u.What != "fork" || r.Outcome != Failed || r.Executions != test.least {
			t.Errorf("%s: %v, %+v", test.name, err, r)
		} else if !strings.HasPrefix(err.Error(), "heddle cannot run this program: it uses fork, at forks+0x") {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestInterrupted: the report says what there was so far, at any moment.
func TestInterrupted(t *testing.T) {
	for _, at := range []int{0, 1, 10, 100} {
		ctx, cancel := context.WithCancel(context.Background())
		n := 0
		target := &meddler{Target: simprog.New(simprog.LockedUpdate(2)), before: func(schedule.Plan) error {
			if n++; n > at {
				cancel()
			}
			return nil
		}}
		if at == 0 {
			cancel()
		}
		r, err := Find(ctx, target, Options{}, nil)
		if !errors.Is(err, context.Canceled) || r == nil || r.Outcome != Interrupted || r.Executions < min(at, 1) || r.Executions > at+1 {
			t.Errorf("after %d: %v, %+v", at, err, r)
		}
	}
	// While simplifying, the finding is kept, with what simplification had reached.
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	simplifying := 0
	target := &meddler{Target: simprog.New(simprog.LostUpdate(4)), before: func(p schedule.Plan) error {
		if p.Mode == schedule.Tolerant {
			if simplifying++; simplifying == 5 {
				cancel()
			}
		}
		return nil
	}}
	file := filepath.Join(t.TempDir(), "bug.hdl")
	r, err := Find(ctx, target, Options{Keep: keepIn(file, "")}, nil)
	if !errors.Is(err, context.Canceled) || r.Outcome != Bug || r.Finding.Trace != file || r.Simplified == nil || r.Simplified.Complete {
		t.Errorf("while simplifying: %v, %+v", err, r)
	}
	if _, err := trace.ReadFile(file); err != nil {
		t.Error(err)
	}
}

// TestTime ends the exploration without an error.
func TestTime(t *testing.T) {
	r := find(t, simprog.New(simprog.LockedUpdate(2)), Options{Time: 30 * time.Millisecond})
	if r.Outcome != Nothing || r.Executions == 0 || r.Seconds > 5 {
		t.Errorf("%+v", r)
	}
	// What was found in time is confirmed, and not simplified after it.
	late := false
	target := &meddler{Target: simprog.New(simprog.LostUpdate(3)), after: func(_ *schedule.Plan, o *schedule.Outcome) {
		if o.Ending.Kind.Failed() && !late {
			late = true
			time.Sleep(400 * time.Millisecond)
		}
	}}
	r = find(t, target, Options{Time: 300 * time.Millisecond})
	if !late || r.Outcome != Bug || !r.Finding.Confirmed || r.Simplified != nil || !slices.Equal(r.Notes, []string{"not simplified: time limit reached before a simpler execution was found"}) {
		t.Errorf("%+v", r)
	}
}

func TestExpectStatus(t *testing.T) {
	program := simprog.ExitStatus()
	r := find(t, simprog.New(program), Options{Runs: 1})
	if r.Outcome != Nothing || r.ExpectStatus != 8 {
		t.Errorf("the first execution sets what is expected: %+v", r)
	}
	told := func(r *Report) bool {
		return slices.ContainsFunc(r.Notes, func(n string) bool { return strings.Contains(n, "exit status was") })
	}
	eight := int32(8)
	if expected := find(t, simprog.New(program), Options{Runs: 1, ExpectStatus: &eight}); !told(r) || told(expected) {
		t.Errorf("a status other than 0 is told of where nobody asked for it: %q, %q", r.Notes, expected.Notes)
	}
	nine, zero := int32(9), int32(0)
	for _, test := range []struct {
		expect *int32
		want   string
		at     int
	}{{&zero, "exit status 8, expected 0", 1}, {&nine, "exit status 8, expected 9", 1}, {nil, "exit status 9, expected 8", 0}} {
		r := find(t, simprog.New(program), Options{ExpectStatus: test.expect})
		if r.Outcome != Bug || r.Finding.Kind != "exit" || r.Finding.Message != test.want || test.at > 0 && r.Finding.Execution != test.at {
			t.Errorf("want %s: %+v", test.want, r.Finding)
		}
	}
}

// TestTargetFails: heddle's own failures come back as they are, with the report so far.
func TestTargetFails(t *testing.T) {
	lost := errors.New("the target was lost")
	for at := range 60 {
		n := 0
		target := &meddler{Target: simprog.New(simprog.LostUpdate(3)), before: func(schedule.Plan) error {
			if n++; n > at {
				return lost
			}
			return nil
		}}
		r, err := Find(context.Background(), target, Options{}, nil)
		if !errors.Is(err, lost) || r == nil || r.Outcome != Failed && r.Outcome != Bug {
			t.Errorf("after %d: %v, %+v", at, err, r)
		}
		if at > 50 && r.Outcome != Bug {
			t.Errorf("after %d executions nothing was found: the test is too weak", at)
		}
	}
}

// TestFiles: both traces are written, can be read, and replay.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	bug, simple := filepath.Join(dir, "bug.hdl"), filepath.Join(dir, "bug.simple.hdl")
	r := find(t, simprog.New(simprog.UseAfterFree()), Options{Keep: keepIn(bug, simple)})
	if r.Finding.Trace != bug || r.Simplified.Trace != simple {
		t.Fatalf("%+v %+v", r.Finding, r.Simplified)
	}
	for _, name := range []string{bug, simple} {
		tr, err := trace.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Replay(context.Background(), simprog.New(simprog.UseAfterFree()), tr); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if (tr.Header.Original == bug) != (name == simple) {
			t.Errorf("%s comes from %q", name, tr.Header.Original)
		}
	}
	_, err := Find(context.Background(), simprog.New(simprog.ABBA()), Options{Keep: keepIn(filepath.Join(dir, "none", "x.hdl"), "")}, nil)
	if err == nil {
		t.Error("no error where the trace cannot be written")
	}
}

// TestKilledByTheWatchdog: a hang that leaves nothing to record is still a finding.
func TestKilledByTheWatchdog(t *testing.T) {
	target := &meddler{Target: simprog.New(simprog.LockedUpdate(2)), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if p.Seed == 13 {
			*o = schedule.Outcome{Ending: trace.Ending{Kind: trace.Hang, Message: "watchdog: killed"}}
		}
	}}
	r := find(t, target, Options{Runs: 100})
	if r.Outcome != Bug || r.Finding.Kind != "hang" || r.Finding.Recorded != nil || r.Simplified != nil || len(r.Notes) != 1 || r.Finding.Execution != 14 {
		t.Errorf("%+v, %+v", r, r.Finding)
	}
}

// TestUninstrumented says so, and still finds what synchronisation shows.
func TestUninstrumented(t *testing.T) {
	program := simprog.ABBA()
	program.Blind = true
	r := find(t, simprog.New(program), Options{Runs: 1000})
	if r.Outcome != Bug || r.Instrumented || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "heddle cc") {
		t.Errorf("%+v", r)
	}
	program = simprog.LostUpdate(2)
	program.Blind = true
	if r := find(t, simprog.New(program), Options{Runs: 500}); r.Outcome != Nothing {
		t.Errorf("a data race was controlled without being seen: %+v", r.Finding)
	}
}

// TestRandomNumbers: a program that draws random numbers repeats, because its seed goes
// with the trace.
func TestRandomNumbers(t *testing.T) {
	program := simprog.Program{Name: "dice", Main: func(t *simprog.Thread) {
		x, y := t.Rand()>>1, t.Var(0)
		t.Store(y, int64(x))
		other := t.Go(func(t *simprog.Thread) { t.Store(y, 6) })
		t.Assert(x%4 != 3 || t.Load(y) != 6, "a three and a six")
		t.Join(other)
	}}
	r := find(t, simprog.New(program), Options{Seed: 5, Runs: 2000})
	if r.Outcome != Bug || r.NotReproduced > 0 || r.Simplified.Switches != 2 {
		t.Errorf("%+v, %+v", r, r.Finding)
	}
}

func TestProgress(t *testing.T) {
	var phases []Phase
	var last Progress
	r, err := Find(context.Background(), simprog.New(simprog.LostUpdate(3)), Options{Seed: 1}, func(p Progress) {
		if len(phases) == 0 || phases[len(phases)-1] != p.Phase {
			phases = append(phases, p.Phase)
		}
		if p.Executions < last.Executions || p.Elapsed < last.Elapsed {
			t.Errorf("progress went back: %+v, then %+v", last, p)
		}
		last = p
	})
	if err != nil || !reflect.DeepEqual(phases, []Phase{Exploring, Confirming, Simplifying}) {
		t.Errorf("%v, phases %v", err, phases)
	}
	if last.Points != r.Points || last.Behaviours != r.Behaviours || last.Round != r.Rounds || last.Cost == nil {
		t.Errorf("last progress %+v, report %+v", last, r)
	}
}

// leftover is a target whose executions in a stream see what those before them have left
// behind, as those of a Go test do.
type leftover struct{ target.Target }

func (l leftover) Stream(ctx context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	n := 0
	return l.Target.Stream(ctx, next, func(p schedule.Plan, o schedule.Outcome) bool {
		n++
		o.Shared = true
		if o.Trace != nil {
			o.Trace.Ending.Output = fmt.Appendf(nil, "execution %d of the process", n)
			o.Ending = o.Trace.Ending
		}
		return done(p, o)
	})
}

// TestFindingIsByItself: what is reported does not depend on the executions before it, and
// is not a failure of replay if it would.
func TestFindingIsByItself(t *testing.T) {
	for _, program := range []simprog.Program{simprog.LostUpdate(2), simprog.ABBA()} {
		for seed := range uint64(10) {
			r := find(t, leftover{simprog.New(program)}, Options{Seed: seed, Runs: 500, NoSimplify: true})
			if r.Outcome != Bug || r.NotReproduced > 0 || len(r.Finding.Recorded.Ending.Output) > 0 {
				t.Errorf("%s, seed %d: %+v", program.Name, seed, r)
			}
		}
	}
}
