package waiting

import (
	"iter"
	"maps"
	"slices"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/symbol/valueflow"
	"github.com/heddle-dev/heddle/trace"
)

// periods is how often a thread must have done the same.
const periods = 3

// mostPhases is how many starts of a period are tried.
const mostPhases = 8

// Words watches an execution that shows the words of states (schedule.Plan.WordsFrom). Ends then tells whether what a thread counts
// can end what it does again and again.
type Words struct {
	threads map[trace.ThreadID][]words
	last    map[trace.ThreadID]valueflow.Step
	unseen  bool
}

// words is a state, and what its thread does from there on up to the next one.
type words struct {
	site      trace.Site
	frames    []valueflow.Frame
	registers map[int]valueflow.Word
	stack     []valueflow.Word
	rest      uint64
	acts      uint64
	steps     map[[2]valueflow.Step]bool // each with the one before it
	onStack   bool
}

// Begin implements schedule.Watcher.
func (w *Words) Begin(int64) {
	*w = Words{threads: map[trace.ThreadID][]words{}, last: map[trace.ThreadID]valueflow.Step{}}
}

// Unseen implements schedule.Watcher.
func (w *Words) Unseen() { w.unseen = true }

// Event implements schedule.Watcher.
func (w *Words) Event(e *trace.Event) {
	states := w.threads[e.Thread]
	if e.Op == trace.OpState {
		w.threads[e.Thread] = append(states, words{site: e.Site, registers: map[int]valueflow.Word{}, steps: map[[2]valueflow.Step]bool{}})
		return
	}
	if len(states) == 0 {
		return
	}
	s := &states[len(states)-1]
	switch {
	case e.Op == trace.OpWord:
		s.word(e)
		return
	case e.Op == trace.OpYield && e.Flags&trace.FlagForced != 0:
		return // heddle's own, in an access
	}
	a := actOf(e)
	s.acts = mix(s.acts, uint64(a.op), uint64(a.site), uint64(a.object), a.value, a.aux, uint64(uint32(a.result)))
	s.onStack = s.onStack || e.Object.Region() == trace.RegionStack && (ops.Of(e.Op).Does == ops.Write || changes(e))
	step := valueflow.Step{Op: e.Op, Site: e.Site}
	if last, ok := w.last[e.Thread]; ok {
		s.steps[[2]valueflow.Step{last, step}] = true
	}
	w.last[e.Thread] = step
}

func (s *words) word(e *trace.Event) {
	word := valueflow.Word{Value: e.Value, Pointer: e.Flags&trace.FlagPointer != 0}
	switch {
	case e.Site != 0:
		s.frames = append(s.frames, valueflow.Frame{Site: e.Site, SP: trace.Object(e.Aux)})
	case e.Aux < abi.WordRest:
		s.registers[int(e.Aux)] = word
	case e.Aux == abi.WordRest:
		s.rest = e.Value
	default:
		s.stack = append(s.stack, word)
	}
}

func mix(h uint64, words ...uint64) uint64 {
	for _, w := range words {
		h = (h ^ w) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	return h
}

// NotAgain is what Ends says of a thread that does not do the same again and again, as far as was seen.
const NotAgain = "it does not do the same again and again"

// Ends says why a thread may end what it does again and again because of what it counts, "" if it cannot.
func (w *Words) Ends(id trace.ThreadID, code *valueflow.Code) (why string) {
	why = NotAgain
	tried := false
	for l := range w.loops(id) {
		w := code.Ends(l)
		if w == "" {
			return ""
		}
		if !tried {
			why, tried = w, true
		}
	}
	return why
}

// loops returns what a thread does again and again, as it can be seen with one period or another.
func (w *Words) loops(id trace.ThreadID) iter.Seq[*valueflow.Loop] {
	return func(yield func(*valueflow.Loop) bool) {
		states := w.threads[id]
		if w.unseen {
			return
		}
		last := len(states) - 1 // what the thread does after it is not complete
		for period := 1; period*periods <= last; period++ {
			for phase := range min(period, last-period*periods+1, mostPhases) {
				if l := loop(states[last-phase-period*periods:last-phase+1], period); l != nil && !yield(l) {
					return
				}
			}
		}
	}
}

// loop returns the loop of so many states, of which some begin a period; nil if they do not.
func loop(states []words, period int) *valueflow.Loop {
	first := &states[0]
	for i := range states[:len(states)-period-1] {
		if states[i].acts != states[i+period].acts {
			return nil
		}
	}
	l := &valueflow.Loop{Frames: first.frames, Registers: maps.Clone(first.registers), Stack: slices.Clone(first.stack), Next: map[valueflow.Step][]valueflow.Step{}}
	for i := period; i < len(states); i += period {
		s := &states[i]
		if s.site != first.site || s.rest != first.rest || !slices.Equal(s.frames, first.frames) || len(s.stack) != len(first.stack) || len(s.registers) != len(first.registers) {
			return nil
		}
		for n, r := range l.Registers {
			l.Registers[n] = r.Or(s.registers[n])
		}
		for n, r := range l.Stack {
			l.Stack[n] = r.Or(s.stack[n])
		}
	}
	seen := map[[2]valueflow.Step]bool{}
	for i := range states[:len(states)-1] {
		l.OnStack = l.OnStack || states[i].onStack
		for pair := range states[i].steps {
			if !seen[pair] {
				seen[pair] = true
				l.Next[pair[0]] = append(l.Next[pair[0]], pair[1])
			}
		}
	}
	return l
}
