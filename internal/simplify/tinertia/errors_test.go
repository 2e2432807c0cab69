package tinertia

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// interrupted simplifies a trace that takes some dozens of executions, and lets spoil change the
// executor after some of them.
func interrupted(t *testing.T, ctx context.Context, after int, spoil func() error) (*Result, error) {
	t.Helper()
	p := counters(4, 6)
	in := failing(p, 1, 10)
	made := 0
	exec := func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
		if made++; made > after {
			if err := spoil(); err != nil {
				return schedule.Outcome{}, err
			}
		}
		return p.run(ctx, plan)
	}
	r, err := Simplify(ctx, Input{in, sameBug(in.Ending)}, exec, Options{History: true, Extra: -1})
	if r == nil {
		t.Fatalf("no result with error %v", err)
	}
	checkResult(t, p, in, sameBug(in.Ending), r)
	return r, err
}

func TestExecutorError(t *testing.T) {
	lost := errors.New("the target was lost")
	var switches []int
	for _, after := range []int{1, 5, 15, 40, 1000} {
		r, err := interrupted(t, context.Background(), after, func() error { return lost })
		if after == 1000 {
			lost = nil
		} else if r.Table2.Executions != after {
			t.Errorf("%d executions, want %d", r.Table2.Executions, after)
		}
		if err != lost || r.Cut != (lost != nil) {
			t.Errorf("after %d executions: error %v, cut %v", after, err, r.Cut)
		}
		switches = append(switches, r.After.Switches)
	}
	if !slices.IsSortedFunc(switches, func(a, b int) int { return b - a }) || switches[0] == switches[1] || switches[1] == switches[4] {
		t.Errorf("switches %v: the later the error, the fewer there should be", switches)
	}
}

func TestExecutorErrorAtOnce(t *testing.T) {
	p := counters(2, 2)
	in := failing(p, 1, 10)
	lost := errors.New("the target was lost")
	r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, func(context.Context, schedule.Plan) (schedule.Outcome, error) {
		return schedule.Outcome{}, lost
	}, Options{})
	if err != lost || r == nil || r.Trace != in || r.After != r.Before || r.Complete || !r.Cut || r.Table2.Executions != 0 {
		t.Errorf("%v, %+v", err, r)
	}
}

func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	r, err := interrupted(t, ctx, 10, func() error { cancel(); return nil })
	if err != context.Canceled || r.Complete || !r.Cut || r.Table2.Executions != 11 || r.After.Compare(r.Before) >= 0 {
		t.Errorf("error %v, result %+v", err, r.Table2)
	}
}

func TestMaxExecutions(t *testing.T) {
	p := counters(4, 6)
	in := failing(p, 1, 10)
	run := func(n int) *Result {
		r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{MaxExecutions: n, Extra: -1, History: true})
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, p, in, sameBug(in.Ending), r)
		return r
	}
	all := run(0)
	if all.Cut || all.Table2.Executions < 20 {
		t.Fatalf("%+v", all.Table2)
	}
	for _, n := range []int{1, 7, all.Table2.Executions - 1} {
		if r := run(n); !r.Cut || r.Table2.Executions != n {
			t.Errorf("MaxExecutions %d: cut %v, %d executions", n, r.Cut, r.Table2.Executions)
		}
	}
	if r := run(all.Table2.Executions); r.Cut || r.After != all.After {
		t.Errorf("cut %v, %+v", r.Cut, r.After)
	}
}

func TestNotReproduced(t *testing.T) {
	p := figure1()
	in := p.scripted(1, 1, 0, 1, 0, 1, 0, 1, 0)
	other := *p
	other.funcs = append([][]instr{}, p.funcs...)
	other.funcs[0] = p.funcs[0][:3] // the rebuilt program has no error()
	r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, other.run, Options{})
	if !errors.Is(err, ErrNotReproduced) || !strings.Contains(err.Error(), "ended with clean, and the recording with assertion") {
		t.Errorf("error %v", err)
	}
	if r == nil || r.Trace != in || r.Complete || r.Table2.Executions != 1 {
		t.Errorf("result %+v", r)
	}
}

// TestDrift has a recording whose schedule still leads to the bug, but not by the recorded path:
// thread 1 now has one more operation.
func TestDrift(t *testing.T) {
	p := figure1()
	in := p.scripted(1, 1, 0, 1, 0, 1, 0, 1, 0)
	other := *p
	other.funcs = append([][]instr{}, p.funcs...)
	other.funcs[1] = append(append([]instr{}, p.funcs[1]...), instr{kind: kWrite, a: 0, b: 2})
	r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, other.run, Options{History: true})
	if err != nil {
		t.Fatal(err)
	}
	// Thread 1 has not reached its end when thread 0 continues to error(), so nothing differs
	// yet.
	if r.Drift != -1 {
		t.Errorf("drift %d", r.Drift)
	}
	other.funcs[1] = append([]instr{{kind: kWrite, a: 1, b: 7}, {kind: kIf, a: 0, to: 4}, {kind: kSleep}, {kind: kGoto, to: 1}}, p.funcs[1][3:]...)
	for i := range in.Events { // the code moved by one instruction, but is recognised
		if e := &in.Events[i]; e.Thread == 1 {
			e.Site++
		}
	}
	r, err = Simplify(context.Background(), Input{in, sameBug(in.Ending)}, other.run, Options{History: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Drift != 0 || r.After.Switches != 2 {
		t.Errorf("drift %d, cost %+v to %+v", r.Drift, r.Before, r.After)
	}
	if again, _ := other.run(context.Background(), schedule.Plan{Mode: schedule.Tolerant, Script: schedule.ScriptOf(r.Trace), Threads: r.Trace.Threads}); again.Deviations != 0 {
		t.Errorf("the result does not replay")
	}
}

func TestBadInput(t *testing.T) {
	p := figure1()
	in := p.scripted(1, 1, 0, 1, 0, 1, 0, 1, 0)
	same := sameBug(in.Ending)
	old := *in
	old.Header.PointsVersion = schedule.PointsVersion + 1
	old.Header.Heddle = "v9"
	for _, c := range []struct {
		in   Input
		opts Options
		want string
	}{
		{Input{nil, same}, Options{}, "no trace or no predicate"},
		{Input{in, nil}, Options{}, "no trace or no predicate"},
		{Input{&trace.Trace{}, same}, Options{}, "no scheduling decisions"},
		{Input{&old, same}, Options{}, "use the heddle that recorded it (v9)"},
		{Input{in, same}, Options{Operations: []Operation{"guess"}}, `unknown operation "guess"`},
	} {
		r, err := Simplify(context.Background(), c.in, p.run, c.opts)
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v; want %q", err, c.want)
		}
	}
	// An executor that does not follow its script.
	r, err := Simplify(context.Background(), Input{in, same}, func(context.Context, schedule.Plan) (schedule.Outcome, error) {
		return schedule.Outcome{Ending: in.Ending}, nil
	}, Options{})
	if err == nil || !strings.Contains(err.Error(), "no trace") || r.Trace != in {
		t.Errorf("%v", err)
	}
}

// TestNeverAFinding checks that an execution that heddle could not carry out does not count, even
// if the predicate accepts it.
func TestNeverAFinding(t *testing.T) {
	p := figure1()
	in := p.scripted(1, 1, 0, 1, 0, 1, 0, 1, 0)
	for _, k := range []trace.Kind{trace.Unsupported, trace.Diverged} {
		made := 0
		exec := func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
			out, err := p.run(ctx, plan)
			if made++; made > 1 {
				out.Ending.Kind = k
			}
			return out, err
		}
		r, err := Simplify(context.Background(), Input{in, func(trace.Ending) bool { return true }}, exec, Options{})
		if err != nil || len(r.Steps) != 0 || made < 5 {
			t.Errorf("%v: error %v, %d steps, %d executions", k, err, len(r.Steps), made)
		}
	}
}

// TestPlan checks what executors receive beside the script.
func TestPlan(t *testing.T) {
	p := figure1()
	in := p.scripted(1, 1, 0, 1, 0, 1, 0, 1, 0)
	in.Header = trace.Header{Command: []string{"./prog"}, Points: []trace.Site{3, 4}, ExpectStatus: 2, PointsVersion: schedule.PointsVersion}
	want := schedule.Plan{Seed: 5, Mode: schedule.Tolerant, Policy: schedule.Fair, Points: in.Header.Points, MaxSteps: 77, Record: true, ExpectStatus: 2}
	var told []Progress
	made := 0
	exec := func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
		made++
		got := plan
		got.Script, got.Threads = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("plan %+v", got)
		}
		return p.run(ctx, plan)
	}
	r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, exec, Options{Seed: 5, MaxSteps: 77, Progress: func(p Progress) { told = append(told, p) }})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(r.Trace.Header, in.Header) {
		t.Errorf("header %+v", r.Trace.Header)
	}
	if r.Steps[0].Trace != nil {
		t.Error("traces are kept without History")
	}
	if len(told) != made || told[made-1].Executions != made || told[made-1].Cost != r.After || told[0].Operation != "" {
		t.Errorf("progress told %d times for %d executions", len(told), made)
	}
	for i := 1; i < len(told); i++ {
		if told[i].Cost.Compare(told[i-1].Cost) > 0 || told[i].Accepted && told[i].Cost == told[i-1].Cost && told[i].Operation != MoveUpActions {
			t.Errorf("progress %+v after %+v", told[i], told[i-1])
		}
	}
}

func TestJSON(t *testing.T) {
	r := simplifyFigure2(t, figure1(), Options{Operations: Paper()})
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"before":{"size":9,"threads":2,"switches":7,"nonPreemptive":1,"preemptive":6}`,
		`"after":{"size":6,"threads":2,"switches":2,"nonPreemptive":0,"preemptive":2}`,
		`"nonPreemptive":100,"preemptive":66.66666666666667`,
		`"table2":{"bug":"assertion","iterations":2,"executions":`,
		`{"operation":"remove-last-tei","beyond":false,"tried":`,
		`{"operation":"move-up-tei","iteration":1,`,
	} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
	if got := newTable1(Shape{}, Shape{Switches: 1}).Reduction; got != (Reduction{}) {
		t.Errorf("reduction of nothing: %+v", got)
	}
}
