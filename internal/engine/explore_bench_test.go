package engine

import (
	"context"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/testing/simprog"
	"github.com/heddle-dev/heddle/schedule"
)

// instant is a target whose executions take no time, so that the benchmark measures only the loop.
type instant struct{ target.Target }

func (i instant) Stream(_ context.Context, next func() (schedule.Plan, bool), done func(schedule.Plan, schedule.Outcome) bool) error {
	var queue []schedule.Plan
	for {
		for len(queue) < 64 {
			p, ok := next()
			if !ok {
				break
			}
			queue = append(queue, p)
		}
		if len(queue) == 0 {
			return nil
		}
		p := queue[0]
		queue = queue[1:]
		for k := range max(1, p.Repeat) {
			o := schedule.Outcome{Index: k, Signature: (p.Seed + uint64(k)) % 1000, Points: 80, Threads: 5}
			if !done(p, o) {
				return nil
			}
		}
	}
}

// BenchmarkLoop measures the controller's work for an execution, without executing it.
func BenchmarkLoop(b *testing.B) {
	b.ReportAllocs()
	r, err := Find(context.Background(), instant{simprog.New(simprog.LockedUpdate(2))}, Options{Runs: b.N}, func(Progress) {})
	if err != nil || r.Executions != b.N {
		b.Fatal(err, r.Executions)
	}
}
