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
	acted   map[trace.ThreadID]bool // since the first state
	kept    int                     // accesses
	unseen  bool
}

// mostKept bounds the accesses that are remembered in order to compare their values.
const mostKept = 1 << 20

// words is a state, and what its thread does from there on up to the next one.
type words struct {
	site      trace.Site
	frames    []valueflow.Frame
	registers map[int]valueflow.Word
	stack     []valueflow.Word
	rest      uint64
	acts      uint64                     // their hash
	shapes    uint64                     // that of the acts without what varies
	steps     map[[2]valueflow.Step]bool // each with the one before it
	accesses  []access
	full      bool // there were more of them
}

// access is what an act finds in memory, or leaves there.
type access struct {
	step       valueflow.Step
	object     trace.Object
	size       uint32
	value, aux uint64
}

// Begin implements schedule.Watcher.
func (w *Words) Begin(int64) {
	*w = Words{threads: map[trace.ThreadID][]words{}, last: map[trace.ThreadID]valueflow.Step{}, acted: map[trace.ThreadID]bool{}}
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
	if len(w.threads) > 0 {
		w.acted[e.Thread] = true
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
	a, step := actOf(e), valueflow.Step{Op: e.Op, Site: e.Site}
	s.acts, s.shapes = a.mixed(s.acts), a.shape().mixed(s.shapes)
	if ops.Of(e.Op).Of == ops.Memory {
		if s.full = w.kept == mostKept; !s.full {
			w.kept++
			s.accesses = append(s.accesses, access{step, e.Object, e.Size, a.value, a.aux})
		}
	}
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

// mixed adds an act to the hash of those before it.
func (a act) mixed(h uint64) uint64 {
	return mix(h, uint64(a.op), uint64(a.site), uint64(a.object), a.value, a.aux, uint64(uint32(a.result)))
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

// Hides says what a thread that does the same again and again changes that no event tells (valueflow.Code.Hides); "" for nothing, as far as
// is known.
func (w *Words) Hides(id trace.ThreadID, code *valueflow.Code) string {
	for l := range w.loops(id) {
		return code.Hides(l)
	}
	return ""
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
				if l := loop(states[last-phase-period*periods:last-phase+1], period, id); l != nil {
					if l.Alone = len(w.acted) == 1; !l.Alone && len(l.Changing) > 0 {
						continue
					}
					if !yield(l) {
						return
					}
				}
			}
		}
	}
}

// loop returns the loop of so many states of a thread, of which some begin a period; nil if they do not.
func loop(states []words, period int, id trace.ThreadID) *valueflow.Loop {
	first := &states[0]
	changing := map[valueflow.Range]bool{}
	for i := range states[:len(states)-period-1] {
		s, next := &states[i], &states[i+period]
		switch {
		case s.full || next.full || s.shapes != next.shapes:
			return nil
		case s.acts == next.acts:
			continue
		}
		for k, a := range s.accesses {
			if b := &next.accesses[k]; (a.value != b.value || a.aux != b.aux) && (a.object.Region() != trace.RegionStack || a.object.Index() != int(id)) {
				changing[valueflow.Range{Object: a.object, Size: a.size}] = true
			}
		}
	}
	l := &valueflow.Loop{
		Frames: first.frames, Registers: maps.Clone(first.registers), Stack: slices.Clone(first.stack),
		Next: map[valueflow.Step][]valueflow.Step{}, Touches: map[valueflow.Step][]valueflow.Range{}, Changing: slices.Collect(maps.Keys(changing)),
	}
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
	if len(first.accesses) > 0 && len(first.frames) > 0 && first.accesses[0].step.Site == first.frames[0].Site {
		l.First = valueflow.Range{Object: first.accesses[0].object, Size: first.accesses[0].size}
	}
	type touch struct {
		valueflow.Step
		valueflow.Range
	}
	seen, touched := map[[2]valueflow.Step]bool{}, map[touch]bool{}
	for i := range states[:len(states)-1] {
		for _, a := range states[i].accesses {
			if t := (touch{a.step, valueflow.Range{Object: a.object, Size: a.size}}); !touched[t] {
				touched[t] = true
				l.Touches[t.Step] = append(l.Touches[t.Step], t.Range)
			}
		}
		for pair := range states[i].steps {
			if !seen[pair] {
				seen[pair] = true
				l.Next[pair[0]] = append(l.Next[pair[0]], pair[1])
			}
		}
	}
	return l
}
