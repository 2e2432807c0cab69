package engine

import (
	"context"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/waiting"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// The recording of a hang is shortened to a beginning after which the execution does not end, though its threads have done before what
// they do from an earlier decision on.
func TestShortenKeepsTheHang(t *testing.T) {
	const length, decided = 400, 150
	look := trace.Event{Thread: 1, Op: trace.OpAtomicLoad, Site: trace.MakeSite(0, 16), Object: trace.MakeObject(trace.RegionGlobal, 0, 8)}
	events := make([]trace.Event, length)
	for i := range events {
		events[i] = look
	}
	recorded := &trace.Trace{Events: events, Ending: trace.Ending{Kind: trace.Hang}}
	for _, from := range []int{0, 20, decided, length} {
		c := continuation{
			outcome: schedule.Outcome{Trace: recorded, Ending: recorded.Ending},
			verdict: waiting.Verdict{Kind: trace.Hang, From: from, Waits: []waiting.Wait{{Thread: 1, Op: look.Op, Site: look.Site, Object: look.Object}}},
		}
		runs := 0
		repeated, err := c.shorten(context.Background(), func(_ context.Context, p schedule.Plan) (schedule.Outcome, error) {
			runs++
			o := schedule.Outcome{Trace: &trace.Trace{Events: events[:len(p.Script)]}}
			switch {
			case len(p.Script) >= decided:
				o.Ending.Kind = trace.Hang
			case len(p.Script) > 50: // threads wait elsewhere
				o.Ending.Kind, o.Trace.Events = trace.Hang, nil
			}
			return o, nil
		})
		if err != nil || !repeated || len(c.plan.Script) < decided || c.verdict.From != len(c.plan.Script) {
			t.Errorf("from %d: %d decisions, %v, %v", from, len(c.plan.Script), c.verdict, err)
		}
		if runs > 12 {
			t.Errorf("from %d: %d executions", from, runs)
		}
	}
	// What cannot be repeated is no hang.
	c := continuation{outcome: schedule.Outcome{Trace: recorded, Ending: recorded.Ending}, verdict: waiting.Verdict{Kind: trace.Hang}}
	if repeated, err := c.shorten(context.Background(), func(context.Context, schedule.Plan) (schedule.Outcome, error) { return schedule.Outcome{}, nil }); repeated || err != nil {
		t.Errorf("an execution that ends repeats one that does not: %t, %v", repeated, err)
	}
}
