package tinertia

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// watched is an executor that records its requests.
type watched struct {
	p        *program
	asked    map[string]bool // scripts
	induced  map[string]bool // schedules, each step followed by a newline
	complain func(string)
}

func watch(p *program, complain func(string)) *watched {
	return &watched{p, map[string]bool{}, map[string]bool{}, complain}
}

func scheduleText(steps []schedule.Step, threads []trace.Thread) []string {
	var out []string
	for _, s := range steps {
		w := uint64(0)
		if s.Wake >= 0 {
			w = threads[s.Wake].Name
		}
		out = append(out, fmt.Sprintf("%x %v %x %x\n", threads[s.Thread].Name, s.Op, uint64(s.Site), w))
	}
	return out
}

func (w *watched) run(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
	if plan.Mode == schedule.NoScript && plan.Policy == schedule.Random { // Elsewhere
		out, err := w.p.run(ctx, plan)
		w.induced[strings.Join(scheduleText(schedule.ScriptOf(out.Trace), out.Trace.Threads), "")] = true
		return out, err
	}
	if plan.Mode != schedule.Tolerant || plan.Policy != schedule.Fair || !plan.Record || plan.Repeat > 1 {
		w.complain(fmt.Sprintf("plan %+v", plan))
	}
	text := scheduleText(plan.Script, plan.Threads)
	for _, s := range plan.Script {
		if s.Op == trace.OpSignal || s.Op == trace.OpMalloc {
			w.complain("script has an event that was not a scheduling decision")
		}
	}
	if all := strings.Join(text, ""); w.asked[all] {
		w.complain("executed twice:\n" + all)
	} else {
		w.asked[all] = true
	}
	var prefix strings.Builder
	for _, line := range text {
		prefix.WriteString(line)
		if w.induced[prefix.String()] {
			w.complain("the execution was known:\n" + prefix.String())
		}
	}
	out, err := w.p.run(ctx, plan)
	if err == nil {
		w.induced[strings.Join(scheduleText(schedule.ScriptOf(out.Trace), out.Trace.Threads), "")] = true
	}
	return out, err
}

func checkResult(t interface{ Errorf(string, ...any) }, p *program, in *trace.Trace, same func(trace.Ending) bool, r *Result) {
	if !same(r.Trace.Ending) {
		t.Errorf("another bug: %+v", r.Trace.Ending)
	}
	if r.After != trace.CostOf(r.Trace.Events) || r.Before != trace.CostOf(in.Events) || r.After.Compare(r.Before) > 0 {
		t.Errorf("cost from %+v to %+v", r.Before, r.After)
	}
	// The result replays, event by event.
	again, _ := p.run(context.Background(), schedule.Plan{Mode: schedule.Tolerant, Script: schedule.ScriptOf(r.Trace), Threads: r.Trace.Threads, Record: true})
	if again.Deviations != 0 || !reflect.DeepEqual(again.Trace.Events, r.Trace.Events) || !reflect.DeepEqual(again.Ending, r.Trace.Ending) {
		t.Errorf("the result does not replay: %d deviations, ending %+v", again.Deviations, again.Ending)
	}
	// The accepted changes only lower the cost, and match the counts of the operations.
	cost := r.Before
	removed := map[Operation]trace.Cost{}
	for i, s := range r.Steps {
		if !same(s.Trace.Ending) || s.Cost != trace.CostOf(s.Trace.Events) {
			t.Errorf("step %d (%s) does not show the bug at its cost", i, s.Operation)
		}
		if order := s.Cost.Compare(cost); order > 0 || order == 0 && s.Operation != MoveUpActions {
			t.Errorf("step %d (%s) goes from %+v to %+v", i, s.Operation, cost, s.Cost)
		}
		c := removed[s.Operation]
		removed[s.Operation] = trace.Cost{
			Switches:    c.Switches + cost.Switches - s.Cost.Switches,
			Preemptions: c.Preemptions + cost.Preemptions - s.Cost.Preemptions,
			Threads:     c.Threads + cost.Threads - s.Cost.Threads,
			Events:      c.Events + cost.Events - s.Cost.Events,
		}
		cost = s.Cost
	}
	if cost != r.After {
		t.Errorf("the last step has cost %+v, the result %+v", cost, r.After)
	}
	executed := 1
	for _, o := range r.Operations {
		if got := (trace.Cost{Switches: o.Switches, Preemptions: o.Preemptions, Threads: o.Threads, Events: o.Events}); got != removed[o.Operation] {
			t.Errorf("%s removed %+v, it says %+v", o.Operation, removed[o.Operation], got)
		}
		executed += o.Executed
	}
	if executed != r.Table2.Executions {
		t.Errorf("%d executions, the operations say %d", r.Table2.Executions, executed)
	}
}

// TestProperties checks properties that hold for every failure.
func TestProperties(t *testing.T) {
	fails := 0
	rapid.Check(t, func(t *rapid.T) {
		n := 0
		d := func(k int) int { n++; return rapid.IntRange(0, k-1).Draw(t, fmt.Sprint("draw ", n)) }
		var p *program
		switch rapid.IntRange(0, 4).Draw(t, "family") {
		case 0:
			p = deepProgram(d)
		case 1:
			p = familyProgram(d)
		default:
			p = randomProgram(d, 2+d(8))
		}
		in := failing(p, rapid.Uint64Range(0, 1000).Draw(t, "seed"), 30)
		if in == nil {
			t.Skip("does not fail")
		}
		fails++
		same := sameBug(in.Ending)
		opts := Options{History: true, Extra: 500}
		if rapid.Bool().Draw(t, "paper") {
			opts.Operations = Paper()
		}
		exec := watch(p, func(s string) { t.Errorf("%s", s) })
		r, err := Simplify(context.Background(), Input{in, same}, exec.run, opts)
		if err != nil {
			t.Fatal(err)
		}
		if r.Drift != -1 || r.Complete != (r.Unproven == "") {
			t.Errorf("drift %d, complete %v, %q", r.Drift, r.Complete, r.Unproven)
		}
		checkResult(t, p, in, same, r)

		again, err := Simplify(context.Background(), Input{in, same}, p.run, opts)
		if err != nil {
			t.Fatal(err)
		}
		r.Table2.Seconds, again.Table2.Seconds = 0, 0
		if !reflect.DeepEqual(r, again) {
			t.Errorf("another result for the same input")
		}
	})
	if fails == 0 {
		t.Error("no program failed")
	}
}

// TestAnyPredicate checks that simplification assumes nothing about the predicate: here a failure
// counts only at a point in time that half of all executions miss.
func TestAnyPredicate(t *testing.T) {
	simpler := 0
	for n := range uint64(60) {
		p := anyProgram(n)
		in := failing(p, n, 30)
		if in == nil {
			continue
		}
		bug := sameBug(in.Ending)
		exec := func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
			out, err := p.run(ctx, plan)
			out.Ending.Status = int32(len(schedule.ScriptOf(out.Trace)) % 2)
			out.Trace.Ending = out.Ending
			return out, err
		}
		want := int32(len(schedule.ScriptOf(in)) % 2)
		in.Ending.Status = want
		odd := func(e trace.Ending) bool { return bug(e) && e.Status == want }
		r, err := Simplify(context.Background(), Input{in, odd}, exec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !odd(r.Trace.Ending) || r.After.Compare(r.Before) > 0 || (r.Before.Events-r.After.Events)%2 != 0 {
			t.Errorf("program %d: %+v to %+v, ending %+v", n, r.Before, r.After, r.Trace.Ending)
		}
		if r.After.Switches < r.Before.Switches {
			simpler++
		}
	}
	if simpler < 10 {
		t.Errorf("only %d executions got simpler", simpler)
	}
}

// TestNoOperationIsRedundant has programs, found by search, that are simplified less if one
// operation is omitted. For programs as small as these, Restart alone finds the fewest switches and
// preemptions; the others matter where it cannot, so they are tried without it.
func TestNoOperationIsRedundant(t *testing.T) {
	for _, c := range []struct {
		op      Operation
		program uint64
	}{
		{RemoveLast, 47}, {MoveUp, 409}, {MoveDown, 1346}, {Cut, 136}, {RunOn, 136}, {MoveTEI, 653}, {Shift, 26}, {Restart, 78},
	} {
		p := anyProgram(c.program)
		in := failing(p, c.program, 30)
		if in == nil {
			t.Fatalf("program %d does not fail", c.program)
		}
		run := func(ops []Operation) trace.Cost {
			r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Operations: ops, Extra: -1})
			if err != nil {
				t.Fatal(err)
			}
			return r.After
		}
		all := All()
		if c.op != Restart {
			all = without(all, Restart)
		}
		if with, bare := run(all), run(without(all, c.op)); bare.Compare(with) <= 0 {
			t.Errorf("%s: %+v with it and %+v without", c.op, with, bare)
		}
	}
}

// TestCoarsen checks that a long trace takes fewer executions with Coarsen, and that it leaves
// little for Algorithm 1 to do.
func TestCoarsen(t *testing.T) {
	p := counters(8, 30)
	in := failing(p, 1, 10)
	if before := ShapeOf(in); before.Switches < 300 {
		t.Fatalf("only %+v", before)
	}
	run := func(ops []Operation) *Result {
		r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Operations: ops, History: true})
		if err != nil {
			t.Fatal(err)
		}
		checkResult(t, p, in, sameBug(in.Ending), r)
		return r
	}
	bare, with := run(Paper()), run(append(Paper(), Coarsen))
	if 2*with.Table2.Executions > bare.Table2.Executions {
		t.Errorf("%d executions with it, %d without", with.Table2.Executions, bare.Table2.Executions)
	}
	if with.After.Switches != bare.After.Switches {
		t.Errorf("%+v with it, %+v without", with.After, bare.After)
	}
	i := slices.IndexFunc(with.Operations, func(o OperationStats) bool { return o.Operation == Coarsen })
	if c := with.Operations[i]; c.Switches < 9*(with.Before.Switches-with.After.Switches)/10 {
		t.Errorf("%+v", c)
	}
}
