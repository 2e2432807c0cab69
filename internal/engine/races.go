package engine

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/race"
	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// raced is a race that some watched execution showed. Naming its object needs symbols and waits
// until the end of the search; the witness keeps the parts of the trace needed for it.
type raced struct {
	race.Race
	sides    [2]race.Access  // in the order in which they happened
	calls    [2][]trace.Site // their callers, where known
	witness  *trace.Trace
	recorded bool // witness is of a trace, and not bare
	// plan is of an execution that showed the race, preferably one that skipped no accesses; number is
	// that execution's.
	plan   schedule.Plan
	number int
	// orders counts the watched executions by which of Pair came first, in the first instance of the
	// race; of two threads at one instruction, the one with the lower number counts as the first.
	orders [2]int
	// certain: an execution had the race in which all visits to libraries of Options.Untold were ordered.
	certain bool
}

// saw adds the races of a watched execution that are not known yet. Without a trace, objects are
// named only if a later execution that is recorded shows the same race.
func (s *search) saw(p *flying, o *schedule.Outcome, races []race.Race) {
	t := o.Trace
	for _, r := range races {
		s.wide.race(r.Pair)
		known, ok := s.races[r.Pair]
		if !ok || known.plan.SkipAccesses != 0 && p.request.Plan.SkipAccesses == 0 {
			known.plan, known.number = p.alone(p.observed-1), s.report.Executions
		}
		if !ok && s.report.Executions > 1 {
			s.cuts.raced(&p.request.Plan, o)
		}
		known.orders[order(&r)]++
		if ok && (known.recorded || t == nil) {
			s.races[r.Pair] = known
			continue
		}
		x := raced{Race: r, recorded: t != nil, plan: known.plan, number: known.number, orders: known.orders, certain: known.certain}
		if x.recorded {
			x.witness = witness(t, r.Object, r.Event)
		} else {
			x.witness = &trace.Trace{Header: s.target.Header(), Modules: s.target.Modules(), Stacks: [][]trace.Site{nil}}
		}
		for i, a := range r.Witness {
			x.sides[i] = race.Access{Site: a.Site, Op: a.Op}
			x.calls[i] = callsOf(t, &a)
		}
		s.races[r.Pair] = x
	}
}

// order returns the index in orders of a race's instance.
func order(r *race.Race) int {
	first, second := r.Witness[0], r.Witness[1]
	if r.Pair[0] == r.Pair[1] && first.Thread > second.Thread || r.Pair[0] != r.Pair[1] && (race.Access{Site: first.Site, Op: first.Op}) != r.Pair[0] {
		return 1
	}
	return 0
}

// witness returns a trace with just enough of t to name an object as of event at: it contains only
// the block that holds the object, or the frame, and the event that tells where its function was.
func witness(t *trace.Trace, o trace.Object, at int) *trace.Trace {
	w := &trace.Trace{Modules: t.Modules, Threads: t.Threads, Stacks: [][]trace.Site{nil}}
	w.Header.Target, w.Header.BuildID = t.Header.Target, t.Header.BuildID
	if t.Header.MaxAccesses > 0 {
		return w // the detector counted accesses that the trace omits, so at does not index its events
	}
	told := -1
	if o.Region() == trace.RegionStack {
		if told = trace.Running(t.Events, trace.ThreadID(o.Index()), at); told >= 0 {
			e := t.Events[told]
			if int(e.Stack) < len(t.Stacks) {
				w.Stacks = append(w.Stacks, t.Stacks[e.Stack])
				e.Stack = 1
			}
			w.Events = []trace.Event{e}
		}
	}
	for _, l := range t.Locals {
		if l.Object == o && l.Event <= at {
			if l.Event == told {
				l.Event = 0
			} else {
				l.Event = -1 // before the event that is left
			}
			w.Locals = append(w.Locals, l)
		}
	}
	if o.Region() == trace.RegionOther {
		for _, m := range t.Mappings {
			if m.Event <= at && m.Object <= o && uint64(o-m.Object) < m.Size {
				m.Event = -1
				w.Mappings = []trace.Mapping{m}
			}
		}
	}
	if o.Region() != trace.RegionHeap {
		return w
	}
	for _, y := range t.Types {
		if y.Object <= o && uint64(o-y.Object) < y.Size {
			w.Types = []trace.Type{y}
		}
	}
	for i := len(t.Allocs) - 1; i >= 0; i-- {
		a := t.Allocs[i]
		if a.Event > at || o < a.Object || uint64(o-a.Object) >= max(a.Size, 1) {
			continue
		}
		if int(a.Stack) < len(t.Stacks) {
			w.Stacks = append(w.Stacks, t.Stacks[a.Stack])
			a.Stack = 1
		}
		a.Event, a.Freed = 0, -1
		w.Allocs = []trace.Alloc{a}
		break
	}
	return w
}

// named returns the races seen, ordered by instruction. Pairs of instructions with the same names
// look the same to a reader and are listed once.
func (s *search) named() []Race {
	out := []Race{} // "[]" in JSON
	type text struct{ a, whereA, b, whereB, name string }
	told := map[text]int{} // indices in out
	doubtful := len(s.untold()) > 0
	for _, x := range slices.SortedFunc(maps.Values(s.races), func(x, y raced) int { return x.Race.Compare(y.Race) }) {
		side := func(i int) Access {
			a := x.sides[i]
			return Access{a.Op.String(), a.Site, s.caller(a.Site, x.calls[i])}
		}
		r := Race{First: side(0), Second: side(1), Object: uint64(x.Object), Name: s.object(x.witness, x.Object, x.Size), Size: x.Size, Unconfirmed: doubtful && !x.certain}
		if s.opts.Suppressed != nil && s.opts.Suppressed(trace.Race, r.Name, [][]trace.Site{append([]trace.Site{r.First.Site}, x.calls[0]...), append([]trace.Site{r.Second.Site}, x.calls[1]...)}) {
			continue
		}
		key := text{r.First.Op, r.First.Where, r.Second.Op, r.Second.Where, r.Name}
		if key.a+key.whereA > key.b+key.whereB {
			key.a, key.whereA, key.b, key.whereB = key.b, key.whereB, key.a, key.whereA
		}
		if i, ok := told[key]; !ok {
			told[key] = len(out)
			out = append(out, r)
		} else if !r.Unconfirmed {
			out[i].Unconfirmed = false
		}
	}
	return out
}

// untold returns the names of the loaded libraries that order threads in a way that is not known, those included that
// dlopen has loaded so far; is may be nil.
func untold(t target.Target, is func(path string) bool) (names []string) {
	if is == nil {
		return nil
	}
	for _, m := range t.Modules() {
		if name := filepath.Base(m.Path); !m.Program && is(m.Path) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// blamed is untold without the libraries that no two threads have visited when executions that raced were repeated.
func blamed(t target.Target, is func(path string) bool) []string {
	v, ok := target.As[target.Visited](t)
	if ok && is != nil {
		if names := untold(t, func(path string) bool { return is(path) && v.Visited(path) }); len(names) > 0 {
			return names
		}
	}
	return untold(t, is)
}

// untoldText says why such libraries make races unconfirmed.
func untoldText(libraries []string) string {
	return strings.Join(libraries, ", ") + " may order the accesses in ways that heddle does not know"
}

// untold returns the libraries of Options.Untold that are loaded.
func (s *search) untold() []string { return untold(s.target, s.opts.Untold) }

// object names an object with Options.Objects, or as region and offset if that is nil.
func (s *search) object(t *trace.Trace, o trace.Object, size uint32) string {
	if s.opts.Objects != nil {
		return s.opts.Objects(t, o, size, 0)
	}
	return objectText(t, o)
}
