package report

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// Running names places and objects of a running program, which may load more modules.
type Running struct {
	modules func() []trace.Module
	known   int // modules in the table
	table   *symbol.Table
	as      *trace.Trace                     // objects have the names that they have in it; nil: those of their own trace
	objects map[*trace.Trace]*symbol.Objects // of table, if as is set
}

// NewRunning returns a Running for the program whose current modules are returned by modules.
func NewRunning(modules func() []trace.Module) *Running { return &Running{modules: modules} }

// symbols returns a table of all modules currently loaded.
func (r *Running) symbols() *symbol.Table {
	if now := r.modules(); r.table == nil || len(now) > r.known {
		r.known, r.table, r.objects = len(now), symbol.New(now, symbol.Options{}), nil
	}
	return r.table
}

// Place returns the function and line of a site, or "" if unknown.
func (r *Running) Place(s trace.Site) string { return r.Locate(s).Text }

// Entry is like Place for the address of a function.
func (r *Running) Entry(s trace.Site) string {
	return locationOf(r.symbols().Exact(s)).Text
}

// Frames returns the functions at a site, innermost first.
func (r *Running) Frames(s trace.Site) []symbol.Frame { return r.symbols().Call(s) }

// functions returns the linker's names of the functions in which an event happened, innermost first.
func (r *Running) functions(t *trace.Trace, event int) (names []string) {
	for _, f := range r.frames(t, event) {
		names = append(names, f.Linkage)
	}
	return names
}

// calls returns the places of an event and of the calls in which it happened, innermost first.
func (r *Running) calls(t *trace.Trace, event int) (places []string) {
	for _, f := range r.frames(t, event) {
		places = append(places, f.String())
	}
	return places
}

// frames returns the functions in which an event happened, innermost first.
func (r *Running) frames(t *trace.Trace, event int) (out []symbol.Frame) {
	ev := &t.Events[event]
	sites := []trace.Site{ev.Site}
	if int(ev.Stack) < len(t.Stacks) {
		sites = append(sites, t.Stacks[ev.Stack]...)
	}
	for _, s := range sites {
		out = append(out, r.symbols().Call(s)...)
	}
	return out
}

// Locate is a finding.Locate.
func (r *Running) Locate(s trace.Site) finding.Location {
	return locate(r.symbols(), r.modules(), s)
}

// locateOwn is Locate, but where a function of Go's library was compiled into the program's own code, it returns the place in that.
func (r *Running) locateOwn(s trace.Site) finding.Location {
	frames := r.symbols().Call(s)
	if i := slices.IndexFunc(frames, func(f symbol.Frame) bool { return f.Known() && !f.System() && !f.GoStandard() }); i > 0 && frames[0].GoStandard() {
		return locationOf(frames[i:])
	}
	return r.Locate(s)
}

// LocateIn returns a finding.Locate for the sites of a table of modules.
func LocateIn(table *symbol.Table, modules []trace.Module) finding.Locate {
	return func(s trace.Site) finding.Location { return locate(table, modules, s) }
}

func locate(table *symbol.Table, modules []trace.Module, s trace.Site) finding.Location {
	l := locationOf(table.Call(s))
	l.System = l.Text != "" && s.Module() >= 0 && s.Module() < len(modules) && !OwnModule(modules[s.Module()])
	l.Callee = func(names []string) string { return table.Callee(s, names) }
	return l
}

func locationOf(frames []symbol.Frame) finding.Location {
	// Code from a library's header may be inlined into the program's.
	best, entered := symbol.Frame{}, ""
	for i, f := range frames {
		if i == 0 || f.Known() && (!best.Known() || best.System() && !f.System()) {
			best = f
		}
		if best.System() {
			entered = f.Func
		}
	}
	if best == (symbol.Frame{}) {
		return finding.Location{}
	}
	return finding.Location{Text: best.String(), Func: best.Func, Place: best.Place(), Library: best.System(), Entered: entered}
}

// As returns names in which objects of other executions have the names that they have in t.
func (r *Running) As(t *trace.Trace) *Running {
	out := *r
	out.as, out.objects = t, nil
	return &out
}

func (r *Running) objectsOf(t *trace.Trace) *symbol.Objects {
	table := r.symbols()
	if r.as == nil {
		return table.Objects(t)
	}
	if r.objects[t] == nil {
		if r.objects == nil {
			r.objects = map[*trace.Trace]*symbol.Objects{}
		}
		r.objects[t] = table.ObjectsAs(t, r.as)
	}
	return r.objects[t]
}

// namesOf returns the names in t.
func (r *Running) namesOf(t *trace.Trace) Names {
	if r.as == nil {
		return NamesOf(t, r.symbols())
	}
	return NamesAs(t, r.as, r.symbols())
}

// Object returns the name of an object: a variable, or the allocation of a block.
func (r *Running) Object(tr *trace.Trace, o trace.Object, size uint32, at int) string {
	n := r.objectsOf(tr).Name(o, size, at)
	if n.Plain != "" {
		return fmt.Sprintf("%s (%s)", n.Plain, n.Detail)
	}
	if n.Detail != "" { // the block's number is meaningful only in its own trace
		return fmt.Sprintf("block (%s)%s", n.Detail, n.Suffix)
	}
	return n.Text
}
