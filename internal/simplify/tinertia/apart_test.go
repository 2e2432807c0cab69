package tinertia

import (
	"context"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestApart: executions that share a process prove nothing, whether or not they affect one another.
// Those that are affected here never show the bug, so that every cheaper schedule is missed until
// the prefixes are executed alone. Results that are then called minimal are.
func TestApart(t *testing.T) {
	for _, affected := range []bool{false, true} {
		programs, shown, why := 0, 0, map[string]int{}
		for n := range uint64(60) {
			p := anyProgram(n)
			in := failing(p, n, 60)
			if in == nil {
				continue
			}
			best, ok := optimum(p, sameBug(in.Ending), 20_000)
			if !ok {
				continue
			}
			together := func(ctx context.Context, plans []schedule.Plan, look func(int, *schedule.Outcome), done func(int, schedule.Outcome) bool) error {
				for i, plan := range plans {
					o, err := p.run(ctx, plan)
					if err != nil {
						return err
					}
					if o.Shared = true; affected {
						o.Ending = trace.Ending{Kind: trace.Clean}
					}
					if look != nil {
						look(i, &o)
					}
					if !done(i, o) {
						break
					}
				}
				return nil
			}
			// Only Restart, so that no other operation finds what it has missed.
			r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, p.run, Options{Batch: together, Operations: []Operation{Restart}, Extra: 1500})
			if err != nil {
				t.Fatal(err)
			}
			programs++
			if !r.Complete {
				why[r.Unproven]++
				continue
			}
			shown++
			if got, want := [2]int{r.After.Switches, r.After.Preemptions}, [2]int{best.Switches, best.Preemptions}; got != want {
				t.Errorf("program %d, affected %t: %v is called minimal, the optimum is %v", n, affected, got, want)
			}
		}
		t.Logf("affected %t: %d of %d shown; others: %v", affected, shown, programs, why)
		// If no cheaper execution is found early, many prefixes remain to be tried.
		least := programs / 2
		if affected {
			least = programs / 8
		}
		if programs < 20 || shown < least {
			t.Errorf("affected %t: %d of %d shown", affected, shown, programs)
		}
	}
}

// TestApartShared: if executions cannot be alone, the result is not called minimal.
func TestApartShared(t *testing.T) {
	shared := 0
	for n := range uint64(60) {
		p := anyProgram(n)
		in := failing(p, n, 60)
		if in == nil {
			continue
		}
		exec := func(ctx context.Context, plan schedule.Plan) (schedule.Outcome, error) {
			o, err := p.run(ctx, plan)
			o.Shared = true
			return o, err
		}
		r, err := Simplify(context.Background(), Input{in, sameBug(in.Ending)}, exec, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Unproven == gapShared {
			shared++
		} else if r.Complete && r.After.Switches > 1 {
			t.Errorf("program %d: %+v is called minimal", n, r.After)
		}
	}
	if shared == 0 {
		t.Error("no result says that executions share a process")
	}
}

// TestSharedOnly: an execution that shows the bug only in a process that has done others is never
// accepted. Here every shared execution shows it, whatever its schedule.
func TestSharedOnly(t *testing.T) {
	programs, refused := 0, 0
	for n := range uint64(40) {
		p := anyProgram(n)
		in := failing(p, n, 60)
		if in == nil {
			continue
		}
		same := sameBug(in.Ending)
		together := func(ctx context.Context, plans []schedule.Plan, look func(int, *schedule.Outcome), done func(int, schedule.Outcome) bool) error {
			for i, plan := range plans {
				o, err := p.run(ctx, plan)
				if err != nil {
					return err
				}
				if !same(o.Ending) {
					refused++
				}
				o.Shared, o.Ending = true, in.Ending
				if look != nil {
					look(i, &o)
				}
				if !done(i, o) {
					break
				}
			}
			return nil
		}
		r, err := Simplify(context.Background(), Input{in, same}, p.run, Options{Batch: together, Width: func() int { return 4 }, Extra: 200, History: true})
		if err != nil {
			t.Fatal(err)
		}
		programs++
		for _, step := range r.Steps {
			o, err := p.run(context.Background(), schedule.Plan{Mode: schedule.Tolerant, Policy: schedule.Fair, Script: schedule.Steps(step.Trace.Events), Threads: step.Trace.Threads, Record: true})
			if err != nil || !same(o.Ending) {
				t.Errorf("program %d: %s was accepted, and alone it ends with %v (%v)", n, step.Operation, o.Ending.Kind, err)
			}
		}
	}
	if programs < 10 || refused == 0 {
		t.Errorf("%d programs, %d shared executions that would not fail alone", programs, refused)
	}
}
