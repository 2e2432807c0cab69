package result

import (
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Deviations is what heddle compare prints.
type Deviations struct {
	Deviation string `json:"deviation"` // none, data, address, control
	Outcome   string `json:"outcome"`   // canonical.Outcome
	// Builds is true if the executions are of two builds, which are compared by source lines and
	// variables.
	Builds  bool            `json:"builds,omitempty"`
	First   *DeviationEvent `json:"first,omitempty"`
	Ordered bool            `json:"ordered"` // First happened before the deviations of other threads
	// Control is the first deviation of any thread's control flow, as First is of all deviations.
	Control *DeviationEvent   `json:"control,omitempty"`
	Endings *Endings          `json:"endings,omitempty"` // nil in a report about an injected fault
	Fault   string            `json:"fault,omitempty"`   // injected into the other execution
	Threads []ThreadDeviation `json:"threads"`
}

// ThreadDeviation is how a thread deviates.
type ThreadDeviation struct {
	Thread   string          `json:"thread"`
	Golden   int             `json:"golden"` // events
	Other    int             `json:"other"`
	Compared int             `json:"compared"`
	Data     int             `json:"data"` // events that deviate
	Address  int             `json:"address"`
	Contents int             `json:"contents"` // events with other contents of a range
	First    *DeviationEvent `json:"first,omitempty"`
	// Order counts the threads from 1 by when First happened; 0 if that is not known.
	Order int `json:"order,omitempty"`
	// Control is the first deviation of the control flow, and Controls how many there are. After Rejoined of them the
	// executions became the same again, Skipped golden events and Extra events of the other execution later.
	Control  *DeviationEvent `json:"control,omitempty"`
	Controls int             `json:"controls"`
	Rejoined int             `json:"rejoined"`
	Skipped  int             `json:"skipped"`
	Extra    int             `json:"extra"`
	Spread   []int           `json:"spread,omitempty"`
}

// DeviationEvent is a pair of events that differ.
type DeviationEvent struct {
	Kind   string         `json:"kind"`
	Thread string         `json:"thread"`
	Event  int            `json:"event"`           // of the thread, from 0
	Trace  *int           `json:"trace,omitempty"` // index of Other's event in its trace
	Golden *ComparedEvent `json:"golden,omitempty"`
	Other  *ComparedEvent `json:"other,omitempty"`
}

// ComparedEvent is an event with its source line.
type ComparedEvent struct {
	Op    string `json:"op"`
	Where string `json:"where"`
	Site  string `json:"site"`
	Place string `json:"place"`
	// Object is the variable at Place, if that is in a module's data and the module has debug information.
	Object string `json:"object,omitempty"`
	Size   string `json:"size"`
	Value  string `json:"value"`
}

// CanonicalNames names the instructions and variables of a sanitised execution by the source. It
// may be used by several goroutines.
type CanonicalNames struct {
	mu      sync.Mutex
	table   *symbol.Table
	modules map[string]int
	known   map[string]string
}

// NewCanonicalNames returns the names of an execution.
func NewCanonicalNames(x *canonical.Execution) *CanonicalNames {
	n := &CanonicalNames{modules: map[string]int{}, known: map[string]string{}}
	var modules []trace.Module
	for i, m := range x.Modules {
		modules = append(modules, trace.Module{Path: m.Path, BuildID: m.BuildID})
		n.modules[m.Name] = i
	}
	n.table = symbol.New(modules, symbol.Options{})
	return n
}

// lookup returns the name of key, made by name if it is new.
func (n *CanonicalNames) lookup(key string, name func() string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	s, ok := n.known[key]
	if !ok {
		s = name()
		n.known[key] = s
	}
	return s
}

// Site returns the function of an instruction and the line, counted from the function's first one, with those that it is
// inlined into; or, if the module has no debug information, the instruction as it is. So an edit elsewhere in the file, and
// another name of the file, change nothing. Where it is not known in which line the function begins, or the line is in
// another file that the function includes, Site returns the file and its line.
func (n *CanonicalNames) Site(op, site string) string {
	return n.lookup(op+" "+site, func() string {
		var b strings.Builder
		for _, f := range n.frames(op, site) {
			if !f.Known() {
				return site
			}
			if f.Begins > 0 {
				fmt.Fprintf(&b, "%s%+d;", f.Func, f.Line-f.Begins)
			} else {
				fmt.Fprintf(&b, "%s %s:%d;", f.Func, filepath.Base(f.File), f.Line)
			}
		}
		return b.String()
	})
}

// Line returns where an instruction is, for the user.
func (n *CanonicalNames) Line(op, site string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	frames := n.frames(op, site)
	for _, f := range frames {
		if f.Known() && !f.System() {
			return fmt.Sprintf("%s (%s)", f.Place(), f.Func)
		}
	}
	if len(frames) > 0 {
		return frames[0].Place()
	}
	return site
}

func (n *CanonicalNames) frames(op, site string) []symbol.Frame {
	module, offset, ok := n.split(site, "+0x", 16)
	if !ok {
		return nil
	}
	if op == trace.OpThreadStart.String() {
		return n.table.Exact(trace.MakeSite(module, offset))
	}
	return n.table.Call(trace.MakeSite(module, offset))
}

// Place returns the variable of a place in a module's data. On stacks, variables lie elsewhere in
// another build, so only the stack is named.
func (n *CanonicalNames) Place(place string) string {
	if stack, _, ok := strings.Cut(place, ":s-"); ok {
		return stack + ":s"
	}
	global, ok := strings.CutPrefix(place, "g:")
	if !ok {
		return place
	}
	return n.lookup(place, func() string {
		if module, offset, ok := n.split(global, "+", 10); ok {
			return n.table.Global(module, offset, 0).Text
		}
		return place
	})
}

// variable returns the variable of which an event accesses so many bytes; "" if it is not known.
func (n *CanonicalNames) variable(place, size string) string {
	global, ok := strings.CutPrefix(place, "g:")
	bytes, err := strconv.ParseUint(size, 10, 32)
	if !ok || err != nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	module, offset, ok := n.split(global, "+", 10)
	if !ok {
		return ""
	}
	text := n.table.Global(module, offset, uint32(bytes)).Text
	if _, at, _ := n.split(text, "+0x", 16); at == offset {
		return "" // no name but the offset
	}
	return text
}

// split separates the name of a module from an offset.
func (n *CanonicalNames) split(s, sep string, base int) (module int, offset uint64, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return 0, 0, false
	}
	module, ok = n.modules[s[:i]]
	offset, err := strconv.ParseUint(s[i+len(sep):], base, 64)
	return module, offset, ok && err == nil
}

// DeviationsOf returns what is printed of a comparison.
func DeviationsOf(c *canonical.Comparison, builds bool, golden, other *CanonicalNames) Deviations {
	out := Deviations{Deviation: c.Deviation.String(), Outcome: c.Outcome.String(), Builds: builds, Ordered: c.Ordered, Threads: []ThreadDeviation{}}
	event := func(name string, d *canonical.Difference) *DeviationEvent {
		if d == nil {
			return nil
		}
		e := &DeviationEvent{Kind: d.Kind.String(), Thread: name, Event: d.Event, Golden: compared(&d.Golden, golden), Other: compared(&d.Other, other)}
		if d.Index >= 0 {
			e.Trace = &d.Index
		}
		return e
	}
	for i := range c.Threads {
		t := &c.Threads[i]
		row := ThreadDeviation{
			Thread: t.Name, Golden: t.Golden, Other: t.Other, Compared: t.Compared,
			Data: t.Count[canonical.Data], Address: t.Count[canonical.Address], Contents: t.Contents,
			First: event(t.Name, t.First), Control: event(t.Name, t.Control),
			Controls: t.Count[canonical.Control], Rejoined: t.Rejoined, Skipped: t.Skipped, Extra: t.Extra,
		}
		if t.First != nil {
			row.Spread = t.Spread[:]
		}
		if i == c.First {
			out.First = row.First
		}
		out.Threads = append(out.Threads, row)
	}
	out.order()
	return out
}

// order finds the first deviation of control, and in which order the threads' first deviations happened.
func (d *Deviations) order() {
	var known []*ThreadDeviation
	for i := range d.Threads {
		t := &d.Threads[i]
		if c := t.Control; c != nil && (d.Control == nil || d.Ordered && c.Trace != nil && (d.Control.Trace == nil || *c.Trace < *d.Control.Trace)) {
			d.Control = c
		}
		if d.Ordered && t.First != nil && t.First.Trace != nil {
			known = append(known, t)
		}
	}
	slices.SortStableFunc(known, func(a, b *ThreadDeviation) int { return *a.First.Trace - *b.First.Trace })
	for i, t := range known {
		t.Order = i + 1
	}
}

// AddExecutions adds what the comparison of two executions does not have.
func (d *Deviations) AddExecutions(golden, other *canonical.Execution, from, to *CanonicalNames) {
	d.Endings, d.Fault = EndingsOf(golden, other, from, to), faultOf(other, to)
}

func compared(e *canonical.Event, n *CanonicalNames) *ComparedEvent {
	if e.Op == "" {
		return nil
	}
	return &ComparedEvent{Op: e.Op, Where: n.Line(e.Op, e.Site), Site: e.Site, Place: e.Place, Object: n.variable(e.Place, e.Size), Size: e.Size, Value: signed(e.Op, e.Value)}
}

// signed returns the value of an event of which a sanitised trace has what the call adds as an unsigned number.
func signed(op, value string) string {
	if strings.ReplaceAll(op, "-", " ") == trace.OpWgAdd.String() {
		if v, err := strconv.ParseUint(value, 10, 64); err == nil {
			return strconv.FormatInt(int64(v), 10)
		}
	}
	return value
}

// Deviations prints a comparison as text.
func (d *Deviations) Print(w io.Writer) {
	fmt.Fprintf(w, "deviation: %s; outcome: %s\n", d.Deviation, d.Outcome)
	if d.Fault != "" {
		fmt.Fprintf(w, "fault: %s\n", d.Fault)
	}
	if d.First != nil {
		order := "the first deviation"
		if !d.Ordered {
			order = "the first deviation of the first thread that deviates"
		}
		d.First.print(w, order+": "+d.First.Kind)
		if d.Control != nil && d.First.Kind != d.Control.Kind {
			switch {
			case d.Control.Other == nil && d.Ordered:
				order = "control deviates only where threads end sooner"
			case d.Ordered:
				order = "control deviates first"
			default:
				order = "control deviates in the first thread in which it does"
			}
			d.Control.print(w, order)
		}
	}
	d.Endings.print(w)
	same, contents := 0, 0
	for i := range d.Threads {
		t := &d.Threads[i]
		contents += t.Contents
		if t.First == nil {
			same++
			continue
		}
		fmt.Fprintf(w, "%-8s %s\n", t.Thread, spreadText(t.Spread))
		fmt.Fprintf(w, "         %s of %s compared; %s in data, %s in address", wording.Thousands(t.Compared), wording.Count(t.Golden, "event"), wording.Thousands(t.Data), wording.Thousands(t.Address))
		fmt.Fprintln(w, t.control())
	}
	if same > 0 {
		fmt.Fprintf(w, "%s without deviation\n", wording.Count(same, "thread"))
	}
	if contents > 0 && d.Deviation != canonical.Data.String() {
		fmt.Fprintf(w, "ranges of memory with other contents, which may have no cause: %s\n", wording.Thousands(contents))
	}
}

func (e *DeviationEvent) print(w io.Writer, title string) {
	fmt.Fprintf(w, "%s, event %s of %s\n", title, wording.Thousands(e.Event), e.Thread)
	fmt.Fprintf(w, "  golden  %s\n  other   %s\n", e.Golden.text(), e.Other.text())
}

// control says where the control flow of a thread deviates.
func (t *ThreadDeviation) control() string {
	if t.Control == nil {
		return ""
	}
	s := "; control deviates at event " + wording.Thousands(t.Control.Event)
	if t.Controls > 1 {
		s = fmt.Sprintf("; control deviates %s times, first at event %s", wording.Thousands(t.Controls), wording.Thousands(t.Control.Event))
	}
	if t.Rejoined > 0 {
		s += fmt.Sprintf(": %s missing, %s added", wording.Count(t.Skipped, "event"), wording.Thousands(t.Extra))
	}
	if t.Rejoined < t.Controls {
		s += fmt.Sprintf(", and nothing after event %s is compared", wording.Thousands(max(t.Compared-1, 0)))
	}
	return s
}

func (e *ComparedEvent) text() string {
	if e == nil {
		return "no event: the thread ended, or never began"
	}
	s := strings.ReplaceAll(e.Op, "-", " ")
	switch {
	case e.Object != "":
		s += fmt.Sprintf(" of %s (%s)", e.Object, e.Place)
	case e.Place != "-":
		s += " of " + e.Place
	}
	if e.Size == "1" {
		s += ", 1 byte"
	} else if e.Size != "0" {
		s += ", " + e.Size + " bytes"
	}
	if e.Value != "-" {
		s += ", value " + e.Value
	}
	return s + ", at " + e.Where
}

// spreadText draws how many events deviate in each part of a thread's time: none, some, many.
func spreadText(spread []int) string {
	most := 1
	for _, n := range spread {
		most = max(most, n)
	}
	var b strings.Builder
	b.WriteByte('|')
	for _, n := range spread {
		b.WriteByte(" .:+#"[(n*4+most-1)/most])
	}
	return b.String() + "|"
}
