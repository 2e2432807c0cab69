package ops

import (
	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// Timers returns, for each event by which a timer fires or expires, the event that started the timer. It omits what ends a sleep, which no
// event starts. Go's clock does not say which timer it is: it acquires what the start of the timer has released.
func Timers(t *trace.Trace) map[int]int {
	starts := map[trace.Object]int{}     // by Go's timer
	set := map[trace.ThreadID]int{}      // by a C program's timer
	starting := map[trace.ThreadID]int{} // what a goroutine starts has no name yet
	out, firing := map[int]int{}, -1
	for i := range t.Events {
		ev := &t.Events[i]
		block := ev.Object &^ (1<<abi.HeapOffsetBits - 1)
		switch ev.Op {
		case trace.OpTimerSet:
			set[trace.ThreadID(ev.Aux)-1] = i
		case trace.OpTimerExpire:
			if start, ok := set[ev.Thread]; ok {
				out[i] = start
			}
		case trace.OpTimerReset:
			if ev.Object != 0 {
				starts[block] = i
			} else {
				starting[ev.Thread] = i
			}
		case trace.OpRelease:
			if start, ok := starting[ev.Thread]; ok && t.Events[start].Site == ev.Site {
				starts[block] = start
			}
			delete(starting, ev.Thread)
		case trace.OpTimerFire:
			firing = i
		case trace.OpAcquire:
			if firing >= 0 && t.Events[firing].Thread == ev.Thread {
				if start, ok := starts[block]; ok {
					out[firing] = start
				}
				firing = -1
			}
		}
	}
	return out
}
