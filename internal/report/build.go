package report

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/pattern"
	"github.com/heddle-dev/heddle/internal/rapid"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Options configure Build. The zero value is right for a trace made on this machine.
type Options struct {
	// SourceDirs are searched for source files that are not where the program was built; the
	// trace's working directory is always searched.
	SourceDirs []string
	// Short leaves out the rows behind loops and folds (Row.Rows), for a reader that does not expand them. They take
	// most of the time and memory of a long trace.
	Short bool
	// Long, Head and Tail: of more than Long rows, a short view has the first Head and the last Tail; 0 for no limit. Of the
	// others it has View.Left.
	Long, Head, Tail int
}

// Names resolves the sites and objects of a trace to names. Its methods are those of symbol.Table
// and symbol.Objects.
type Names interface {
	Call(trace.Site) []symbol.Frame
	Function(trace.Site) symbol.Frame
	Name(o trace.Object, size uint32, at int) symbol.Name
	Block(o trace.Object, at int) int
	Problems() []error
}

// NamesOf returns the names from the program's symbols.
func NamesOf(tr *trace.Trace, tab *symbol.Table) Names {
	return struct {
		*symbol.Table
		*symbol.Objects
	}{tab, tab.Objects(tr, pointersOf(tr)...)}
}

// NamesAs is NamesOf, but objects have the names that they have in another trace of the program.
func NamesAs(tr, as *trace.Trace, tab *symbol.Table) Names {
	return struct {
		*symbol.Table
		*symbol.Objects
	}{tab, tab.ObjectsAs(tr, as, pointersOf(as)...)}
}

// SourcesOf returns the source files of a trace's program.
func SourcesOf(tr *trace.Trace, opt Options) *symbol.Sources {
	dirs := append([]string{}, opt.SourceDirs...)
	if tr.Header.Dir != "" {
		dirs = append(dirs, tr.Header.Dir)
	}
	return symbol.NewSources(dirs...)
}

// Build returns the view of a valid trace (trace.Validate).
func Build(tr *trace.Trace, names Names, opt Options) *View {
	b := &builder{
		tr:     tr,
		names:  names,
		places: newPlaces(tr, names, SourcesOf(tr, opt)),
		last:   lastEvent(tr),
		values: valuesKnown(tr),
		shared: sharedEvents(tr, names),
		life:   [2]int{-1, -1},
		short:  opt.Short,
	}
	if opt.Short && opt.Long > 0 {
		b.long, b.head, b.tail, b.left = max(opt.Long, opt.Head+opt.Tail), opt.Head, opt.Tail, make([]Column, len(tr.Threads))
	}
	b.findCases()
	b.raced = racing(tr)
	b.hidden = hiddenEvents(tr, b.raced)
	b.roles = b.findRoles()
	b.keepSpinning()
	b.keepLifetime()
	b.keepClosed()
	b.foldRest()
	b.findSwitches(func(int) bool { return b.long == 0 })

	v := &View{
		Command: CommandLine(&tr.Header), Strategy: tr.Header.Strategy, Original: tr.Header.Original, Omit: tr.Header.Omit, TryLock: tr.Header.TryLock, Fault: b.fault(),
		Cost: trace.CostOf(tr.Events), Events: len(tr.Events), Output: string(tr.Ending.Output),
	}
	v.Rows, v.Left = b.topLevel()
	for _, h := range b.hidden {
		if h {
			v.Hidden++
		}
	}
	v.Columns = b.columns(v.Rows)
	v.Ending, v.Failure = b.ending()
	if n := wording.Count(tr.Header.Cut, "scheduling point"); tr.WasCut() && v.Failure == nil {
		v.Ending = "cut here after " + n
	} else if tr.WasCut() {
		v.Notes = append(v.Notes, "the execution was cut here after "+n)
	}
	b.why(v)
	v.Blocks = b.blockTable(v)
	v.Places, v.Stacks = b.places.list, b.places.stacks
	if !tr.Header.Instrumented && tr.Header.Target == "c" {
		v.Notes = append(v.Notes, "memory accesses were not seen: the program was not compiled with access hooks (heddle cc), only its synchronisation shows")
	}
	for _, p := range names.Problems() {
		v.Notes = append(v.Notes, p.Error())
	}
	return v
}

// why takes the explanation from the trace.
func (b *builder) why(v *View) {
	v.Why, v.whyPlaces = Saved(b.tr), map[int]int{}
	if v.Why == nil {
		return
	}
	at := func(event int) {
		if event >= 0 {
			v.whyPlaces[event] = b.placeOf(&b.tr.Events[event]).place
		}
	}
	for i := range v.Why.Events {
		if x := &v.Why.Events[i]; !x.Passing {
			at(x.Event)
		}
	}
	for _, event := range v.Why.Told {
		at(event)
	}
}

// builder is the state shared by the functions that build a view.
type builder struct {
	tr       *trace.Trace
	names    Names
	places   *places
	roles    []role          // by thread
	values   bool            // the trace has the values of accesses
	shared   []bool          // by event: another thread could notice it
	hidden   []bool          // by event: it has no row
	next     []int32         // by event: the next scheduling point of its thread, or -1
	reasons  []uint8         // by event: why there is a context switch before it, an index into reasons + 1; 0 for none
	switches map[int]*Switch // by event: the context switch before it, if it is wanted
	state    *ops.State      // locks and queues; after findSwitches, their final state
	last     int             // index of the failed event, or -1
	raced    [2]int          // indices of the racing events, or -1
	life     [2]int          // of the freed memory that was used: indices of the allocation and the free, or -1
	over     trace.ThreadSet // threads that have ended; after findSwitches, by the end of the execution
	cases    map[int]uint64  // by event of a select: the case it took
	short    bool            // rows behind loops and folds are not wanted

	long, head, tail int      // as in Options
	left             []Column // by thread: the rows shown of it that are left out
}

// failed reports whether event i is part of the failure.
func (b *builder) failed(i int) bool { return i == b.last || i == b.raced[0] || i == b.raced[1] }

// lastEvent returns the failed event, or -1: the last event of the failed thread, if it failed
// there and not at some later, unrecorded instruction.
func lastEvent(tr *trace.Trace) int {
	end := &tr.Ending
	switch {
	case !end.Kind.Failed(), waiting(end.Kind):
		return -1 // no event failed: something did not happen
	case end.Kind == trace.Race:
		return -1 // two accesses fail together
	case end.Kind == trace.Test:
		return slices.IndexFunc(tr.Events, func(e trace.Event) bool { return e.Op == trace.OpTestFail })
	}
	for i := len(tr.Events) - 1; i >= 0; i-- {
		if e := &tr.Events[i]; e.Thread == end.Thread {
			switch {
			case e.Op == trace.OpThreadEnd: // after the exit
				continue
			case e.Op == trace.OpAbort, e.Op == trace.OpSignal, e.Op == trace.OpProcessExit, end.Site != 0 && e.Site == end.Site:
				return i
			}
			return -1
		}
	}
	return -1
}

// foldRest folds the events after a test's failure, with which the test only runs to its end.
func (b *builder) foldRest() {
	if b.tr.Ending.Kind == trace.Test && b.last >= 0 {
		clear(b.shared[b.last+1:])
	}
}

// keepSpinning makes the view of a hang show the events of the threads that were still enabled.
func (b *builder) keepSpinning() {
	if k := b.tr.Ending.Kind; k != trace.Hang && k != trace.Livelock && k != trace.Unfinished {
		return
	}
	var ready trace.ThreadSet
	for _, w := range b.tr.Ending.Waiters {
		if w.MayGoOn() {
			ready.Add(w.Thread)
		}
	}
	seen := trace.ThreadSet{}
	for i := len(b.tr.Events) - 1; i >= 0; i-- {
		if t := b.tr.Events[i].Thread; ready.Has(t) && !seen.Has(t) {
			seen.Add(t)
			b.shared[i] = true
		}
	}
}

// keepLifetime makes the view of a use of memory that is gone show the allocation and the free, or the end of the thread
// that it belonged to.
func (b *builder) keepLifetime() {
	gone, n, ok := b.tr.Gone()
	if !ok {
		return
	}
	b.life = [2]int{-1, -1}
	last := func(op trace.Op, is func(*trace.Event) bool) int {
		return lastIndex(b.tr.Events, func(e *trace.Event) bool { return e.Op == op && e.Result >= 0 && is(e) })
	}
	of := func(e *trace.Event) bool { return e.Object == gone }
	switch {
	case gone.Region() == trace.RegionStack:
		owner := trace.ThreadID(gone.Index())
		b.life[0] = lastIndex(b.tr.Events, func(e *trace.Event) bool { child, ok := e.Child(); return ok && child == owner })
		b.life[1] = last(trace.OpThreadEnd, func(e *trace.Event) bool { return e.Thread == owner })
	case n >= 0:
		b.life = [2]int{last(trace.OpMalloc, of), b.tr.Allocs[n].Freed}
	default: // allocated before main
		b.life[1] = last(trace.OpFree, of)
	}
	for k, i := range b.life {
		if i >= 0 && i < len(b.tr.Events) {
			b.shared[i] = true
		} else {
			b.life[k] = -1
		}
	}
}

// keepClosed makes the view of a panic show which event closed the channel.
func (b *builder) keepClosed() {
	if closed, use := pattern.Closed(b.tr); closed >= 0 {
		b.shared[closed], b.shared[use] = true, true
	}
}

func lastIndex(events []trace.Event, is func(*trace.Event) bool) int {
	for i := len(events) - 1; i >= 0; i-- {
		if is(&events[i]) {
			return i
		}
	}
	return -1
}

// valuesKnown reports whether values were recorded. Targets that cannot observe them leave them
// zero.
func valuesKnown(tr *trace.Trace) bool {
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Op.IsAccess() && e.Value != 0 && e.Flags&trace.FlagValue == 0 {
			return true
		}
	}
	return tr.Header.Target == "c"
}

// columns are the threads in order of creation. The clock and timers are among them only if they
// have events.
func (b *builder) columns(rows []Row) []Column {
	out := make([]Column, len(b.tr.Threads))
	for i, t := range b.tr.Threads {
		r := b.roles[i]
		out[i] = Column{Thread: t.ID, Parent: t.Parent, Name: r.name, Path: b.path(t.ID), Entry: r.place, Ended: t.Ended, First: -1, Last: -1}
	}
	for i := range b.tr.Events {
		c := &out[b.tr.Events[i].Thread]
		c.Events++
		if !b.hidden[i] {
			if c.First < 0 {
				c.First = i
			}
			c.Last = i
		}
	}
	for i := range b.left {
		out[i].Shown = b.left[i].Shown
	}
	countShown(rows, out)
	seen := out[:0]
	for _, c := range out {
		if label := b.tr.Threads[c.Thread].Label; c.Events > 0 || label != trace.ClockLabel && label != trace.TimerLabel {
			seen = append(seen, c)
		}
	}
	return seen
}

func countShown(rows []Row, columns []Column) {
	for _, r := range rows {
		switch r.Kind {
		case EventRow, FoldRow:
			columns[r.Thread].Shown++
		case LoopRow:
			countShown(r.Body, columns)
		}
	}
}

// locate is a finding.Locate.
func (b *builder) locate(s trace.Site) finding.Location {
	l := locationOf(b.names.Call(s))
	if t, ok := b.names.(interface {
		Callee(s trace.Site, names []string) string
	}); ok {
		l.Callee = func(names []string) string { return t.Callee(s, names) }
	}
	return l
}

// ending describes how the execution ended. Where the threads of an unfinished one were is like a failure.
func (b *builder) ending() (string, *Failure) {
	e := &b.tr.Ending
	switch {
	case e.Kind == trace.Clean && b.tr.Header.Target == rapid.Target:
		return "how the execution ended is not recorded", nil
	case e.Kind == trace.Clean:
		return fmt.Sprintf("exit status %d", e.Status), nil
	case !e.Kind.Failed() && e.Kind != trace.Unfinished:
		if e.Message == "" {
			return e.Kind.String(), nil
		}
		return e.Kind.String() + ": " + e.Message, nil
	}
	found := finding.Of(*e, b.tr.Modules)
	found.Message = found.Named(b.tr.Stacks, b.locate)
	f := b.failure(found)
	return f.Title, f
}

// blockTable describes the heap blocks that the view's rows mention.
func (b *builder) blockTable(v *View) []Block {
	var out []Block
	seen := map[int]bool{}
	var visit func(rows []Row)
	visit = func(rows []Row) {
		for i := range rows {
			r := &rows[i]
			if r.Cell != nil && r.Cell.Block >= 0 && !seen[r.Cell.Block] {
				n := r.Cell.Block
				seen[n] = true
				a := &b.tr.Allocs[n]
				name := b.names.Name(a.Object, symbol.Block, a.Event)
				out = append(out, Block{
					Number: n, Name: name.Base, Detail: name.Detail, Thread: a.Thread,
					Place: b.places.locate(a.Site, a.Stack).place, Freed: a.Freed,
				})
			}
			visit(r.Body)
			visit(r.Rows)
		}
	}
	visit(v.Rows)
	return out
}

// fault describes the injected fault, if there is one.
func (b *builder) fault() string {
	f := b.tr.Header.Fault
	if f == nil {
		return ""
	}
	s := fmt.Sprintf("%v, amount %d, ", f.Model, f.Amount)
	if i := slices.IndexFunc(b.tr.Threads, func(t trace.Thread) bool { return t.Name == f.Thread }); i >= 0 {
		s += fmt.Sprintf("in T%d ", i)
	}
	return s + fmt.Sprintf("before event %s at %s", wording.Thousands(f.Event), b.places.list[b.places.locate(f.Site, 0).place].Label)
}
