package pattern

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// WrongWakeUp is a signal that reached a thread which could not use it, while others could.
const WrongWakeUp = "wake-up of the wrong thread"

var wrongWakeUp = &Pattern{
	Name:  WrongWakeUp,
	Shows: "a deadlock; a signal woke a thread that only waited again, while others waited on the same condition",
	find: func(x *Execution) *Match {
		if x.Trace.Ending.Kind != trace.Deadlock {
			return nil
		}
		last := map[trace.ThreadID]int{} // the last scheduling point of each thread
		for i := range x.Trace.Events {
			if x.event(i).Flags&trace.FlagNoDecision == 0 {
				last[x.event(i).Thread] = i
			}
		}
		waits := func(th trace.ThreadID, on trace.Object) bool { // forever
			w, ev := x.waiter(th), x.event(last[th])
			return w != nil && w.Object == on && ev.Object == on && ops.Does(ev.Op) == ops.Wait
		}
		for i := range slices.Backward(x.Trace.Events) {
			ev := x.event(i)
			th, ok := x.woken(i)
			if !ok || !waits(th, ev.Object) || !x.onlyReads(th, i+1) {
				continue
			}
			var others []trace.ThreadID
			for n := range x.Trace.Ending.Waiters {
				if y := x.Trace.Ending.Waiters[n].Thread; y != th && last[y] < i && waits(y, ev.Object) {
					others = append(others, y)
				}
			}
			if len(others) > 0 {
				line := func(w Words) string {
					wait := " wait"
					if len(others) == 1 {
						wait = " waits"
					}
					return fmt.Sprintf("%s wakes T%d, which waits again, while %s on it, too", w.Event(i), th, w.Threads(others)+wait)
				}
				return &Match{More: []int{i}, Alone: true, Fact: line, Say: func(w Words) string { return line(w) + "." }}
			}
		}
		return nil
	},
}

// onlyReads reports whether a thread writes no shared memory and wakes nobody from an event on.
func (x *Execution) onlyReads(th trace.ThreadID, from int) bool {
	return !slices.ContainsFunc(x.Trace.Events[from:], func(ev trace.Event) bool {
		return ev.Thread == th && (isAccess(&ev) && ev.Object.Region() != trace.RegionStack && ops.Changes(&ev) || isWake(&ev))
	})
}
