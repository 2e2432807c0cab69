package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
)

// stripped returns a report without the parts that depend on time.
func stripped(r *Report) string {
	r.Seconds, r.PerSecond = 0, 0
	if r.Simplified != nil {
		r.Simplified.Seconds = 0
		r.Simplified.Details.Table2.Seconds = 0
	}
	for _, f := range r.Findings {
		if f.Simplified != nil {
			f.Simplified.Seconds, f.Simplified.Details.Table2.Seconds = 0, 0
		}
	}
	b, err := json.Marshal(r)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// TestSameSeedSameFinding: the same seed gives the same finding at any speed; another seed gives
// another.
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

// leftover is a target whose executions in a stream see what earlier ones have left behind, like
// those of a Go test.
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

// TestFindingIsByItself: the reported finding does not depend on earlier executions, and one that
// would is not reported as a failed replay.
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
