package engine

import (
	"context"
	"slices"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/strategy"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// TestPointsGrow: instructions that run only after another race was lost become scheduling points
// too; without them the bug is not found.
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
	// Without recordings that show races, the search continues, but cannot find this bug.
	blind := &meddler{Target: simprog.New(simprog.TwoStage()), after: func(p *schedule.Plan, o *schedule.Outcome) {
		if o.Trace != nil {
			o.Trace.Events = slices.DeleteFunc(o.Trace.Events, func(e trace.Event) bool { return e.Op.IsAccess() && !sites[e.Site] })
		}
	}}
	if r := find(t, blind, Options{Runs: 5000}); r.Finding != nil {
		t.Errorf("found without the second race's points: %+v", r.Finding)
	}
}

// TestStrategiesBeatStress: on the programs it is meant for, every strategy fails at least three
// times as often as an ordinary scheduler, which lets a thread run as long as possible, apart from
// rare preemptions.
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
