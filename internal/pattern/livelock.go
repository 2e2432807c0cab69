package pattern

import "github.com/heddle-dev/heddle/trace"

// Livelock is an execution whose threads run without end, and whose states recur.
const Livelock = "livelock"

var livelock = &Pattern{
	Name:  Livelock,
	Shows: "threads run, their states recur, and none of them gets further",
	find: func(x *Execution) *Match {
		if x.Order == nil || x.Trace.Ending.Kind != trace.Livelock {
			return nil
		}
		var run []trace.ThreadID
		for _, w := range x.Trace.Ending.Waiters {
			if w.Ready {
				run = append(run, w.Thread)
			}
		}
		if len(run) == 0 {
			return nil
		}
		return &Match{Bare: true, Say: func(w Words) string {
			if len(run) == 1 {
				return w.Threads(run) + " runs without end, and gets no further."
			}
			return w.Threads(run) + " run without end, and none gets further."
		}}
	},
}
