package depend

import (
	"iter"
	"slices"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Step is an event with its effects.
type Step struct {
	Index int // of the event
	Event *trace.Event
	// Joined means that nothing can come between this event and the previous one.
	Joined bool
	// Effects is valid until the next step.
	Effects []Effect
}

// Steps yields the events of a trace with their effects, including the lives of heap blocks: the
// allocation or release of a block without an event of its own counts as an effect of the event of
// its thread during which it happened.
func Steps(t *trace.Trace) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		lives := livesOf(t)
		pending := map[trace.ThreadID][]Effect{} // for the thread's next event
		for ; len(lives) > 0 && lives[0].before == 0; lives = lives[1:] {
			pending[lives[0].thread] = append(pending[lives[0].thread], lives[0].effect)
		}
		w := walker{}
		dies := deathOf(t)
		for i := range t.Events {
			ev := &t.Events[i]
			s := w.step(i, ev)
			if i == dies {
				s.Effects = append(s.Effects, Effect{Mode: Fence, Kind: Ending})
			}
			if len(lives) > 0 || len(pending) > 0 {
				s.Effects = append(s.Effects, pending[ev.Thread]...)
				delete(pending, ev.Thread)
				for ; len(lives) > 0 && lives[0].before == i+1; lives = lives[1:] {
					l := lives[0]
					if l.thread == ev.Thread || l.thread < 0 {
						s.Effects = append(s.Effects, l.effect)
					} else {
						pending[l.thread] = append(pending[l.thread], l.effect)
					}
				}
			}
			w.buf = s.Effects
			if !yield(s) {
				return
			}
		}
	}
}

// StepsSeq is Steps for events that need not be in memory at once, and that include events for all
// heap blocks.
func StepsSeq(events iter.Seq[*trace.Event]) iter.Seq[Step] {
	return func(yield func(Step) bool) {
		w := walker{}
		i := 0
		for ev := range events {
			if !yield(w.step(i, ev)) {
				return
			}
			i++
		}
	}
}

type walker struct {
	in   Interpreter
	buf  []Effect
	prev trace.ThreadID
}

func (w *walker) step(i int, ev *trace.Event) Step {
	joined := i > 0 && ev.Flags&trace.FlagNoDecision != 0 && (ev.Thread == w.prev || onBehalf(ev.Op))
	if !joined {
		w.prev = ev.Thread
	}
	w.buf = w.in.Effects(ev, w.buf[:0])
	return Step{i, ev, joined, w.buf}
}

// onBehalf reports whether an event may belong to another thread than the running one: a goroutine
// that passes a value to a waiting one records the other's acquire and release.
func onBehalf(op trace.Op) bool { return ops.Of(op).Of == ops.SyncVar }

// deathOf returns the index of the event after which a panic or similar ended the execution without
// an event of its own; -1 if it ended in another way.
func deathOf(t *trace.Trace) int {
	if k := t.Ending.Kind; k != trace.Panic && k != trace.Fatal {
		return -1
	}
	i := len(t.Events) - 1
	for i >= 0 && t.Events[i].Thread != t.Ending.Thread {
		i--
	}
	return i
}

// life is the allocation or release of a heap block without an event.
type life struct {
	before int            // index of the next event
	thread trace.ThreadID // -1: the thread that ran then
	effect Effect
}

func livesOf(t *trace.Trace) []life {
	var out []life
	for i := range t.Allocs {
		a := &t.Allocs[i]
		e := memory(Write, a.Object, a.Size)
		if !eventIs(t, a.Event, trace.OpMalloc, a.Object) {
			out = append(out, life{a.Event, a.Thread, e})
		}
		if a.Freed >= 0 && !eventIs(t, a.Freed, trace.OpFree, a.Object) {
			out = append(out, life{a.Freed, -1, e})
		}
	}
	slices.SortStableFunc(out, func(a, b life) int { return a.before - b.before })
	return out
}

func eventIs(t *trace.Trace, i int, op trace.Op, at trace.Object) bool {
	return i < len(t.Events) && t.Events[i].Op == op && t.Events[i].Object == at
}
