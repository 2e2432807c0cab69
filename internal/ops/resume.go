package ops

import "github.com/heddle-dev/heddle/trace"

// findWakes finds the event that enabled each resume of a goroutine. The trace does not record it:
// findWakes takes the last operation of another goroutine on the object that the goroutine waits
// for, or else the event before the resume. So a goroutine may appear blocked for longer than it
// was.
func (r *replay) findWakes() {
	r.wakes = map[int32]int32{}
	last := make([]int32, len(r.threads)) // decision of each thread
	for i := range r.t.Events {
		ev := &r.t.Events[i]
		if ev.Flags&trace.FlagNoDecision != 0 {
			continue
		}
		if ev.Op == trace.OpResume {
			r.wakes[int32(i)] = r.wakeOf(int(last[ev.Thread]), i)
		}
		last[ev.Thread] = int32(i)
	}
}

// wakeOf returns the event that enabled the goroutine of event i to continue the operation of event
// from.
func (r *replay) wakeOf(from, i int) int32 {
	waits := &r.t.Events[from]
	for j := i - 1; j > from; j-- {
		ev := &r.t.Events[j]
		switch {
		case ev.Thread == waits.Thread || ev.Flags&trace.FlagNoDecision != 0:
		case Does(ev.Op) == Communicate && ev.Result != 0: // it took the default of its select
		case ev.Op == trace.OpTimerFire || ev.Op == trace.OpExternal:
			return int32(j)
		case waits.Op == trace.OpSelect && (Does(ev.Op) == Communicate || ev.Op == trace.OpSelect):
			return int32(j)
		case ev.Op == trace.OpSelect && Does(waits.Op) == Communicate:
			return int32(j)
		case waits.Object != 0 && ev.Object == waits.Object && ev.Op >= trace.OpGo:
			return int32(j)
		}
	}
	return int32(i - 1)
}
