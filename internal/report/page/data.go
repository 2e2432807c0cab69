package page

import (
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/analysis/causal"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// around is how many source lines before and after each place the page has.
const around = 7

// document is what the page's script reads.
type document struct {
	Title       string       `json:"title"`           // how the execution ended
	Trace       string       `json:"trace,omitempty"` // the file's name
	Command     string       `json:"command,omitempty"`
	Facts       []string     `json:"facts"`
	Failed      bool         `json:"failed"`
	Notes       []string     `json:"notes,omitempty"`
	Output      string       `json:"output,omitempty"`
	Commands    []Command    `json:"commands,omitempty"`
	Explanation *explanation `json:"explanation,omitempty"`
	Runs        []*run       `json:"runs"` // the execution, and the one beside it
}

type explanation struct {
	Pattern string         `json:"pattern,omitempty"`
	Line    string         `json:"line,omitempty"`
	Text    string         `json:"text"`
	Orders  []report.Order `json:"orders"`
}

// run is one execution. Slices by event have an entry for each event of the trace; strings, places, stacks and objects
// are indices into its tables. The script's run.js reads it.
type run struct {
	Events   int           `json:"events"` // of the trace, hidden ones included
	Ending   string        `json:"ending"`
	Failure  *failure      `json:"failure,omitempty"`
	Columns  []column      `json:"columns"`
	Threads  []int         `json:"threads"`  // by event
	Steps    []int         `json:"steps"`    // by event: its shape, -1 if it has no row
	Texts    []int         `json:"texts"`    // by event: the description
	After    []int         `json:"after"`    // by event: the object's value from then on; 0 if unknown
	Shapes   []shape       `json:"shapes"`   // place, stack, object, object waited with, flags
	Switches [][7]int      `json:"switches"` // event, from, to, preemptive, text, place, reason
	Rows     []any         `json:"rows"`     // tree; see (*encoder).rows
	Objects  []object      `json:"objects"`
	Arrows   []int         `json:"arrows"` // pairs of events: the transitive reduction of happens-before, between threads
	Locks    []lock        `json:"locks"`
	Places   []place       `json:"places"`
	Stacks   [][]int       `json:"stacks"`
	Strings  []string      `json:"strings"`
	Sources  []sourceRange `json:"sources"`
}

type shape [5]int

// Flags of a shape.
const (
	flagShared = 1 << iota
	flagFailed
	flagWrites
)

// lock is a change of a lock's holders: event, thread, object, acquisitions that are left, and 1 for readers.
type lock [5]int

type failure struct {
	Thread int        `json:"thread"`
	Place  int        `json:"place"`
	Stack  []int      `json:"stack"`
	Object string     `json:"object,omitempty"`
	Waits  []waits    `json:"waits,omitempty"`
	Sides  []sideJSON `json:"sides,omitempty"`
}

type waits struct {
	Thread int    `json:"thread"`
	Text   string `json:"text"`
	Place  int    `json:"place"`
	Stack  []int  `json:"stack"`
	Since  int    `json:"since"` // the event since which it waits, -1 if unknown
}

type sideJSON struct {
	Event int    `json:"event"`
	Text  string `json:"text"`
	Place int    `json:"place"`
}

type column struct {
	Thread int    `json:"thread"`
	Name   string `json:"name"`
	Path   string `json:"path,omitempty"`
	Ended  bool   `json:"ended"`
}

// object is a range of memory or a synchronisation object. Two overlap only if they are of the same group.
type object struct {
	Name   int `json:"name"`
	Group  int `json:"group"`
	Offset int `json:"offset"`
	Size   int `json:"size"`
	Memory int `json:"memory"` // 1 if it has values
}

type place struct {
	Label string `json:"label"`
	Func  string `json:"func,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Text  string `json:"text,omitempty"`
}

type sourceRange struct {
	File  string   `json:"file"`
	From  int      `json:"from"`
	Lines []string `json:"lines"`
}

// encoder makes a run.
type encoder struct {
	tr      *trace.Trace
	v       *report.View
	out     *run
	strings map[string]int
	shapes  map[shape]int
	groups  map[group]int
	objects map[object]int
	named   map[trace.Object]int // the object of a name, for locks
}

// group is where a range lies: a heap block, or else a region.
type group struct {
	block  int
	region trace.Region
	index  int
}

func encode(e Execution) *run {
	v := e.View
	n := len(e.Trace.Events)
	x := &encoder{
		tr: e.Trace, v: v, strings: map[string]int{}, shapes: map[shape]int{}, groups: map[group]int{}, objects: map[object]int{},
		named: map[trace.Object]int{},
		out: &run{
			Events: n, Ending: v.Ending, Threads: make([]int, n), Steps: make([]int, n), Texts: make([]int, n), After: make([]int, n), Columns: []column{},
			Shapes: []shape{}, Switches: [][7]int{}, Objects: []object{}, Arrows: []int{}, Locks: []lock{}, Places: []place{}, Stacks: v.Stacks, Sources: []sourceRange{},
		},
	}
	x.text("")
	for _, c := range v.Columns {
		x.out.Columns = append(x.out.Columns, column{int(c.Thread), c.Name, c.Path, c.Ended})
	}
	for i := range e.Trace.Events {
		x.out.Threads[i] = int(e.Trace.Events[i].Thread)
		x.out.Steps[i] = -1
	}
	v.Each(x.row)
	x.out.Rows = x.rows(v.Rows)
	x.arrows()
	x.locks()
	x.failure()
	for _, p := range v.Places {
		x.out.Places = append(x.out.Places, place{p.Label, p.Func, p.File, p.Line, p.Text})
	}
	x.sources(e.Source)
	return x.out
}

// text returns the number of a string.
func (x *encoder) text(s string) int {
	n, ok := x.strings[s]
	if !ok {
		n = len(x.out.Strings)
		x.strings[s] = n
		x.out.Strings = append(x.out.Strings, s)
	}
	return n
}

// row enters an event or a switch.
func (x *encoder) row(r *report.Row) {
	if s := r.Switch; s != nil {
		preemptive := 0
		if s.Preemptive {
			preemptive = 1
		}
		reason := slices.Index([]report.Reason{report.Preempted, report.Yielded, report.Ended, report.Blocked}, s.Reason)
		x.out.Switches = append(x.out.Switches, [7]int{r.Event, int(s.From), int(s.To), preemptive, x.text(s.Text), s.Next, reason})
		return
	}
	c := r.Cell
	e := &x.tr.Events[r.Event]
	spec := ops.Of(e.Op)
	s := shape{c.Place, c.Stack, -1, -1, 0}
	if e.Object != 0 && c.Object != "" {
		s[2] = x.object(e, c)
	}
	if spec.Aux == ops.ObjectName && e.Aux != 0 {
		if o, ok := x.named[trace.Object(e.Aux)]; ok {
			s[3] = o
		}
	}
	if c.Shared {
		s[4] |= flagShared
	}
	if c.Failed {
		s[4] |= flagFailed
	}
	switch spec.Does {
	case ops.Write, ops.AtomicWrite, ops.Exchange, ops.Compare, ops.Free, ops.Allocate:
		s[4] |= flagWrites
	}
	n, ok := x.shapes[s]
	if !ok {
		n = len(x.out.Shapes)
		x.shapes[s] = n
		x.out.Shapes = append(x.out.Shapes, s)
	}
	x.out.Steps[r.Event] = n
	x.out.Texts[r.Event] = x.text(c.Text)
	x.out.After[r.Event] = x.text(c.After)
}

// object returns the number of the object of an event.
func (x *encoder) object(e *trace.Event, c *report.Cell) int {
	spec := ops.Of(e.Op)
	o := object{Name: x.text(c.Object), Size: 1}
	if spec.Of == ops.Memory {
		o.Memory, o.Size = 1, max(1, int(e.Size))
	}
	g := group{block: c.Block}
	if c.Block < 0 {
		g.region, g.index = e.Object.Region(), e.Object.Index()
	}
	if spec.Of == ops.Block && e.Size > 0 {
		o.Size = int(e.Size)
	}
	first, _ := e.Object.Bytes(uint64(o.Size))
	o.Offset = int(first & (1<<e.Object.OffsetBits() - 1))
	n, ok := x.groups[g]
	if !ok {
		n = len(x.groups)
		x.groups[g] = n
	}
	o.Group = n
	i, ok := x.objects[o]
	if !ok {
		i = len(x.out.Objects)
		x.objects[o] = i
		x.out.Objects = append(x.out.Objects, o)
	}
	x.named[e.Object] = i
	return i
}

// Rows of the tree: a number is the switch before that event, [from, to] are events and the switches between them,
// an object with `fold` a fold, one with `body` a loop.
type (
	foldRow struct {
		Fold   []any `json:"fold"`
		Events int   `json:"events"`
	}
	loopRow struct {
		Times int   `json:"times"`
		From  int   `json:"from"`
		To    int   `json:"to"` // after its last event
		Body  []any `json:"body"`
	}
	// turnRow is an event of a loop's body, which stands for all turns.
	turnRow struct {
		Event int `json:"event"`
		Turn  int `json:"turn"` // text
	}
)

func (x *encoder) rows(rows []report.Row) []any {
	out := []any{}
	begin, end := -1, -1
	flush := func() {
		if begin >= 0 {
			out = append(out, [2]int{begin, end})
		}
		begin = -1
	}
	for i := range rows {
		r := &rows[i]
		switch r.Kind {
		case report.EventRow:
			if x.text(r.Cell.Text) != x.out.Texts[r.Event] {
				flush()
				out = append(out, turnRow{r.Event, x.text(r.Cell.Text)})
				continue
			}
			if begin < 0 {
				begin = r.Event
			}
			end = r.Event + 1
		case report.SwitchRow:
			// The range that begins with the next event would not have it.
			if begin < 0 || i+1 == len(rows) || rows[i+1].Kind != report.EventRow || x.text(rows[i+1].Cell.Text) != x.out.Texts[rows[i+1].Event] {
				flush()
				out = append(out, r.Event)
			}
		case report.FoldRow:
			flush()
			out = append(out, foldRow{x.rows(r.Rows), r.Events})
		case report.LoopRow:
			flush()
			last := 0
			(&report.View{Rows: r.Rows}).Each(func(r *report.Row) { last = r.Event })
			out = append(out, loopRow{r.Times, r.Event, last + 1, x.rows(r.Body)})
		}
	}
	flush()
	return out
}

// arrows enters the edges of happens-before between threads.
func (x *encoder) arrows() {
	causal.Each(x.tr, func(e int) bool { return x.out.Steps[e] >= 0 }, func(s *causal.Step) {
		for _, before := range s.After {
			x.out.Arrows = append(x.out.Arrows, before, s.Event)
		}
	})
}

// locks enters who acquires and releases which locks.
func (x *encoder) locks() {
	state := ops.State{}
	for i := range x.tr.Events {
		e := &x.tr.Events[i]
		changes := state.Apply(e)
		if e.Op >= trace.OpGo {
			continue
		}
		for _, c := range changes {
			shared := 0
			switch c.Kind {
			case ops.AcquiredShared, ops.ReleasedShared:
				shared = 1
			case ops.Acquired, ops.Released:
			default:
				continue
			}
			o, ok := x.named[c.Object.Name]
			if !ok {
				continue
			}
			x.out.Locks = append(x.out.Locks, lock{i, int(c.Thread), o, int(c.Depth), shared})
		}
	}
}

func (x *encoder) failure() {
	f := x.v.Failure
	if f == nil {
		return
	}
	out := &failure{Thread: int(f.Thread), Place: f.Place, Stack: f.Stack, Object: f.Object}
	for _, w := range f.Waits {
		out.Waits = append(out.Waits, waits{int(w.Thread), strings.Join(append([]string{w.Text}, w.Partners...), "; "), w.Place, w.Stack, w.Since})
	}
	for _, s := range f.Sides {
		out.Sides = append(out.Sides, sideJSON{s.Event, s.Text, s.Place})
	}
	x.out.Failure = out
}

// sources enters the lines around each place.
func (x *encoder) sources(line func(file string, n int) (string, bool)) {
	if line == nil {
		return
	}
	wanted := map[string][]int{}
	var files []string
	for _, p := range x.v.Places {
		if p.File == "" || p.Line == 0 {
			continue
		}
		if _, ok := wanted[p.File]; !ok {
			files = append(files, p.File)
		}
		wanted[p.File] = append(wanted[p.File], p.Line)
	}
	slices.Sort(files)
	for _, f := range files {
		lines := wanted[f]
		slices.Sort(lines)
		var r *sourceRange
		for _, n := range lines {
			for i := max(1, n-around); i <= n+around; i++ {
				if r != nil && i < r.From+len(r.Lines) {
					continue
				}
				text, ok := line(f, i)
				if !ok {
					break
				}
				if r == nil || i > r.From+len(r.Lines) {
					x.out.Sources = append(x.out.Sources, sourceRange{File: f, From: i})
					r = &x.out.Sources[len(x.out.Sources)-1]
				}
				r.Lines = append(r.Lines, strings.TrimRight(text, "\r\n"))
			}
		}
	}
}
