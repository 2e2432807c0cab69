package main

import (
	"context"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/internal/target/live"
	"github.com/heddle-dev/heddle/internal/testing/bench"
)

// slowdown is what executions on the backend live take, in seconds: the medians of executions in turn
// that did not fail.
type slowdown struct {
	Native  cost `json:"native"`
	Plain   cost `json:"plain"` // without targets
	Hooks   cost `json:"hooks"` // without targets, with all hooks
	Profile cost `json:"profile"`
	// Force has the target that ranks first, and suspends no thread. 0 if nothing is to be forced.
	Force cost `json:"force"`
}

// cost is what an execution takes.
type cost struct {
	Seconds float64 `json:"seconds"`
	CPU     float64 `json:"cpu_s"`
}

func (m *measurement) slowdown(ctx context.Context) (s slowdown, err error) {
	var seconds, cpu [5][]float64
	into := [5]*cost{&s.Native, &s.Plain, &s.Hooks, &s.Profile, &s.Force}
	profile := atomicity.NewProfile()
	for n := range m.Runs {
		for i := range into {
			q := live.Request{Seed: uint64(n)}
			switch i {
			case 2:
				q.Hooks = true
			case 3:
				q.Mode, q.Most = live.Profile, recorded
			case 4:
				list := profile.Targets()
				if len(list) == 0 {
					continue
				}
				t := list[0]
				q.Mode, q.Targets = live.Force, []live.Target{{P: t.P.Site, C: t.C.Site, R: t.R.Site, ThreadC: -1, ThreadR: -1}}
			}
			var r *live.Result
			if i == 0 {
				r, err = m.native.Alone(ctx, 10*m.undisturbed+3*time.Second, m.idle())
			} else {
				r, err = m.hooked.Run(ctx, m.request(q))
			}
			if err != nil {
				return s, err
			}
			if i == 3 && n == 0 {
				profile.Add(r.Trace, r.Times)
			}
			if !r.Failed(0) {
				seconds[i], cpu[i] = append(seconds[i], r.Seconds), append(cpu[i], r.CPU)
			}
		}
	}
	for i := range into {
		*into[i] = cost{bench.Median(seconds[i]), bench.Median(cpu[i])}
	}
	return s, nil
}
