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
	Shows: "a signal woke a thread that has no use for it, since it waits for something else or only waited again, while others waited on the same condition; one of them waits forever, or the woken one fails",
	find: func(x *Execution) *Match {
		if x.Trace.Ending.Kind != trace.Deadlock {
			return x.wakesAnother()
		}
		last := map[trace.ThreadID]int{} // the last scheduling point of each thread
		for i := range x.Trace.Events {
			if x.event(i).Flags&trace.FlagNoDecision == 0 {
				last[x.event(i).Thread] = i
			}
		}
		waits := func(th trace.ThreadID, on trace.Object) bool { // forever
			w, ev := x.Waiter(th), x.event(last[th])
			return w != nil && w.Object == on && ev.Object == on && ops.Does(ev.Op) == ops.Wait
		}
		for i := range slices.Backward(x.Trace.Events) {
			ev := x.event(i)
			th, ok := x.woken(i)
			if !ok || !waits(th, ev.Object) || !x.onlyReads(th, i+1) || x.taken(th, i) {
				continue
			}
			var others []trace.ThreadID
			for n := range x.Trace.Ending.Waiters {
				if y := x.Trace.Ending.Waiters[n].Thread; y != th && last[y] < i && waits(y, ev.Object) {
					others = append(others, y)
				}
			}
			if len(others) > 0 {
				return wakesWrong(i, th, others, "which waits again, while")
			}
		}
		return x.wakesAnother()
	},
}

// wakesWrong is the match of a signal which wakes a thread, for which it is not, while others wait.
func wakesWrong(signal int, th trace.ThreadID, others []trace.ThreadID, while string) *Match {
	return alone(func(w Words) string {
		return fmt.Sprintf("%s wakes T%d, %s %s on it, too", w.Event(signal), th, while, allWait(w, others))
	}, signal)
}

// wakesAnother returns the match of a signal that is not for the thread which it wakes, but for others that wait then, if one of these
// waits forever, or the woken one does after it has waited again, or fails; nil for none.
func (x *Execution) wakesAnother() *Match {
	forever := func(th trace.ThreadID, since int) bool {
		w := x.Waiter(th)
		return w != nil && since >= 0 && w.Object == x.event(since).Object && x.waitOn(th, w.Object, len(x.Trace.Events)) == since
	}
	for i := range x.Trace.Events {
		th, ok := x.woken(i)
		if !ok {
			continue
		}
		again := x.waitsAgain(th, i)
		apart := x.tells(i, th) == useless
		if !apart && (again < 0 || !x.onlyReadsUntil(th, i+1, again) || x.taken(th, i)) {
			continue
		}
		condition := x.event(i).Object
		own := x.waitOn(th, condition, i)
		var others []trace.ThreadID
		harmed := forever(th, again) || again < 0 && x.Trace.Ending.Kind != trace.Deadlock && x.Trace.Ending.Thread == th
		for n := range x.Trace.Threads {
			y := x.Trace.Threads[n].ID
			since := x.waitOn(y, condition, i)
			if y == th || since < 0 || own < 0 || !apart && x.event(since).Site == x.event(own).Site || x.tells(i, y) != relevant {
				continue
			}
			others = append(others, y)
			harmed = harmed || forever(y, since)
		}
		switch {
		case len(others) == 0 || !harmed:
		case again < 0 || apart:
			return wakesWrong(i, th, others, "which waits for something else, while")
		default:
			return wakesWrong(i, th, others, "which waits again, while")
		}
	}
	return nil
}

// taken reports whether another thread than that of a signal has changed what the woken thread then looks at: the signal was for it, but came
// to nothing.
func (x *Execution) taken(th trace.ThreadID, signal int) bool {
	var looks []int
	until := x.waitsAgain(th, signal)
	for i := signal + 1; i < until; i++ {
		if x.event(i).Thread == th && x.Reads(i) && x.event(i).Object.Region() != trace.RegionStack {
			looks = append(looks, i)
		}
	}
	return slices.ContainsFunc(looks, func(r int) bool {
		return slices.ContainsFunc(x.Trace.Events[signal:r], func(ev trace.Event) bool {
			return ev.Thread != th && ev.Thread != x.event(signal).Thread && isAccess(&ev) && ops.Changes(&ev) && Overlaps(&ev, x.event(r))
		})
	})
}

// onlyReadsUntil is onlyReads up to another event.
func (x *Execution) onlyReadsUntil(th trace.ThreadID, from, to int) bool {
	return !slices.ContainsFunc(x.Trace.Events[from:to], func(ev trace.Event) bool {
		return ev.Thread == th && (isAccess(&ev) && ev.Object.Region() != trace.RegionStack && ops.Changes(&ev) || isWake(&ev))
	})
}

// onlyReads reports whether, from an event on, a thread neither writes shared memory nor wakes another thread.
func (x *Execution) onlyReads(th trace.ThreadID, from int) bool {
	return x.onlyReadsUntil(th, from, len(x.Trace.Events))
}
