package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// View is one execution, ready to be rendered. Thread and event numbers are those of the trace;
// places, stacks and blocks are indices into the view's own tables.
type View struct {
	Command  []string   `json:"command,omitempty"`
	Strategy string     `json:"strategy,omitempty"` // how the schedule was found
	Original string     `json:"original,omitempty"` // for a simplified trace, the file it came from
	Omit     []string   `json:"without,omitempty"`  // omitted calls, CALL@FILE:LINE
	TryLock  []string   `json:"tryLock,omitempty"`  // lines executed with a lock held, LOCK@FILE:FROM-TO
	Fault    string     `json:"fault,omitempty"`    // that was injected: its model, amount and event
	Cost     trace.Cost `json:"cost"`
	Events   int        `json:"events"` // all recorded events, scheduling points or not
	// Hidden is how many of Events have no row, not even a folded one: synchronisation annotations
	// for Go's race detector, and the cases of selects, which are part of the selects' rows.
	Hidden  int      `json:"hidden,omitempty"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
	// Left is what Rows lacks because the view is too long (Options.Long); nil if nothing.
	Left    *LeftOut `json:"-"`
	Ending  string   `json:"ending"`            // one line: `exit status 0`, `deadlock of T1 and T2`
	Failure *Failure `json:"failure,omitempty"` // nil if the execution did not fail
	// Why is the explanation that the trace has; nil if it has none.
	Why       *Explanation `json:"why,omitempty"`
	whyPlaces map[int]int  // of the events of Why, by number
	Output    string       `json:"output,omitempty"` // the program's output

	Places []Place  `json:"places"`           // Places[0] is unknown
	Stacks [][]int  `json:"stacks"`           // places, innermost first; Stacks[0] is empty
	Blocks []Block  `json:"blocks,omitempty"` // heap blocks mentioned by rows
	Notes  []string `json:"notes,omitempty"`  // remarks for the reader, such as missing symbols
}

// Column is a thread.
type Column struct {
	Thread trace.ThreadID `json:"thread"`
	Parent trace.ThreadID `json:"parent"` // -1 for main
	Name   string         `json:"name"`   // `main`, `worker`; without the number
	// Path is the creation path of a goroutine: `1.2` is the second one started by the first one
	// that main started. Empty for main and threads of C programs.
	Path   string `json:"path,omitempty"`
	Entry  int    `json:"entry"`  // place of the function it runs
	Events int    `json:"events"` // in the trace
	Shown  int    `json:"shown"`  // rows of its own in the short view
	Ended  bool   `json:"ended"`
	// First and Last are its first and last event that is not hidden, -1 for none.
	First int `json:"-"`
	Last  int `json:"-"`
}

// Label is the thread's number and name, and its path if it has one: `T1 worker`, `T2 fetch (1.2)`.
func (c *Column) Label() string {
	s := ThreadText(c.Thread) + " " + c.Name
	if c.Path != "" {
		s += " (" + c.Path + ")"
	}
	return s
}

// ThreadText is how a thread is named in text: `T1`.
func ThreadText(t trace.ThreadID) string { return "T" + strconv.Itoa(int(t)) }

// RowKind determines which fields of a Row are set.
type RowKind string

const (
	EventRow  RowKind = "event"  // Cell
	SwitchRow RowKind = "switch" // Switch
	LoopRow   RowKind = "loop"   // Times, Body, Rows
	FoldRow   RowKind = "fold"   // Rows
)

// Row is a line of the table.
type Row struct {
	Kind   RowKind        `json:"kind"`
	Thread trace.ThreadID `json:"thread"` // of the first event; for a switch, the thread that runs next
	Event  int            `json:"event"`  // index of the first event; for a switch, of the event after it
	Events int            `json:"events"` // how many events the row represents, without hidden ones; 0 for a switch
	Cell   *Cell          `json:"cell,omitempty"`
	Switch *Switch        `json:"switch,omitempty"`
	// Times is how often the block of a loop row ran, and Body is one turn of it. A cell of Body
	// represents its event in every turn; differing values appear as `first … last`. The switch
	// from the end of one turn to the next, if any, ends Body.
	Times int   `json:"times,omitempty"`
	Body  []Row `json:"body,omitempty"`
	// Rows are the rows hidden by a fold, or all turns of a loop; none with Options.Short.
	Rows []Row `json:"rows,omitempty"`
}

// Cell describes one event.
type Cell struct {
	Op     string `json:"op"`               // the operation's name in the trace
	Text   string `json:"text"`             // full description: `write counter ← 1`
	Brief  string `json:"brief"`            // the same without its result: `write counter`
	Object string `json:"object,omitempty"` // the variable, lock or thread involved
	Value  string `json:"value,omitempty"`  // read, written or returned
	After  string `json:"after,omitempty"`  // of the object from then on, for memory; empty if unknown
	Place  int    `json:"place"`
	Stack  int    `json:"stack"`            // call stack, the place's frame included
	Block  int    `json:"block"`            // heap block it was about, -1 for none; see View.Blocks
	Shared bool   `json:"shared"`           // another thread could notice it
	Failed bool   `json:"failed,omitempty"` // the operation that failed
}

// Reason is why a context switch happened.
type Reason string

const (
	Preempted Reason = "preempted" // the thread could have continued
	Yielded   Reason = "yielded"   // so it could, but it had asked for a switch: yield or sleep
	Ended     Reason = "ended"
	Blocked   Reason = "blocked"
)

// Switch is a context switch.
type Switch struct {
	From   trace.ThreadID `json:"from"`
	To     trace.ThreadID `json:"to"`
	Reason Reason         `json:"reason"`
	// Preemptive as FSE'10 counts it: From was enabled. Preempted and Yielded are.
	Preemptive bool `json:"preemptive"`
	// Text is the explanation: `T1 PREEMPTED before write counter`, `T1 waits for queue.mut held by
	// T2`.
	Text string `json:"text"`
	// Next is the place where From continues later or waits; 0 if unknown.
	Next int `json:"next"`
}

// Place is a source position.
type Place struct {
	Label string `json:"label"` // `file.c:12`, `func+0x1c`, `module+0x1234`
	Func  string `json:"func,omitempty"`
	File  string `json:"file,omitempty"`
	Line  int    `json:"line,omitempty"`
	Text  string `json:"text,omitempty"` // the source line, without indentation
}

// Frame returns the place as a line of a call stack: its function, unless the label has it, its label and source.
func (p *Place) Frame() string {
	s := p.Label
	if p.Func != "" && !strings.HasPrefix(p.Label, p.Func) {
		s = p.Func + "  " + s
	}
	if p.Text != "" {
		s += "  " + p.Text
	}
	return s
}

// Block is a heap block.
type Block struct {
	Number int            `json:"number"` // as in Cell.Block
	Name   string         `json:"name"`   // `block #3`
	Detail string         `json:"detail"` // `malloc at file.c:12, 24 bytes`
	Thread trace.ThreadID `json:"thread"` // thread that allocated it
	Place  int            `json:"place"`
	Freed  int            `json:"freed"` // index of the event that freed it, or -1
}

// Failure describes how an execution failed.
type Failure struct {
	Kind   string         `json:"kind"`
	Title  string         `json:"title"`
	Thread trace.ThreadID `json:"thread"`
	Place  int            `json:"place"`
	Stack  []int          `json:"stack,omitempty"` // places, innermost first
	// Object is what was misused or could not be accessed, with its history: `block #3 (malloc at
	// file.c:12, 24 bytes)+8, freed by T2 at file.c:30`. Empty if unknown.
	Object string `json:"object,omitempty"`
	// Child is the process in which the thread waits, if that is a child of the program: `child process 1, forked by T0 at
	// file.c:9`.
	Child string `json:"child,omitempty"`
	// Waits are the threads that had not ended, beginning with those of a deadlock cycle in its
	// order.
	Waits []Wait `json:"waits,omitempty"`
	Ring  int    `json:"ring"` // number of Waits that form a deadlock cycle
	// Objects are the names, with types, of the objects that Waits are about. Two may have the same name.
	Objects []string `json:"objects,omitempty"`
	// Sides are the two accesses of a data race, in the order in which they happened.
	Sides []Side `json:"sides,omitempty"`
	// Unordered says why nothing orders the two accesses of a data race; empty if that is not known.
	Unordered string `json:"unordered,omitempty"`
}

// Side is one access of a data race.
type Side struct {
	Thread trace.ThreadID `json:"thread"`
	Event  int            `json:"event"` // -1 if it was not recorded
	Text   string         `json:"text"`  // `T1: write counter ← 1`
	Place  int            `json:"place"`
	Stack  []int          `json:"stack,omitempty"`
}

// Wait is a thread that had not ended.
type Wait struct {
	Thread trace.ThreadID `json:"thread"`
	Ready  bool           `json:"ready"` // it was enabled
	// Text describes what the thread holds and waits for: `T1 holds A (locked at f.c:10, event 7) and
	// waits for B held by T2`.
	Text  string `json:"text"`
	Place int    `json:"place"`
	Stack []int  `json:"stack,omitempty"`
	// Object is what the thread waits for, an index into Failure.Objects; -1 if it could go on, or waits
	// for time or the end of a thread.
	Object int `json:"object"`
	// For are the threads that hold Object, itself included, or, if that is -1, the thread whose end it waits for.
	For []Holder `json:"for,omitempty"`
	// Since is the first event after which it could not go on; -1 if that is not known, or it can.
	Since int `json:"since"`
	// Holds are the locks that it holds, in the order in which it acquired them.
	Holds []Held `json:"holds,omitempty"`
	// Creator started it at Created; -1 and 0 if that was not seen.
	Creator trace.ThreadID `json:"creator"`
	Created int            `json:"created"`
	// Partners say who used what a goroutine that is left waits for, and how they ended: `used by T0 TestFirst, which ended after 1 receive`.
	// The last one may say whether anything that still runs can reach it.
	Partners []string `json:"partners,omitempty"`
}

// Sentence returns Text with the place, which is one of places, and the event since which the thread waits.
func (w *Wait) Sentence(places []Place) string {
	text := w.Text
	if w.Place != 0 {
		if strings.HasSuffix(text, hasEnded) {
			text += ","
		}
		text += " at " + places[w.Place].Label
	}
	if w.Since >= 0 {
		text += fmt.Sprintf(", since event %d", w.Since)
	}
	return text
}

// Holder is a thread for which another one waits.
type Holder struct {
	Thread trace.ThreadID `json:"thread"`
	Place  int            `json:"place"` // where it acquired the object; 0 if unknown
	Event  int            `json:"event"` // with which it did; -1 if unknown
}

// Held is a lock that a thread holds.
type Held struct {
	Object string `json:"object"`
	Place  int    `json:"place"` // where it was acquired
	Event  int    `json:"event"` // with which
}

// Full returns the view's rows with nothing folded. It needs a view without Options.Short.
func (v *View) Full() (out []Row) {
	v.Each(func(r *Row) { out = append(out, *r) })
	return out
}

// Each calls f for the rows of Full.
func (v *View) Each(f func(*Row)) { unfold(v.Rows, f) }

// Hides returns the first event without a row and how many events have none; -1 and 0 if all have one.
func (v *View) Hides() (first, n int) {
	if v.Hidden == 0 {
		return -1, 0
	}
	next := 0
	for _, r := range v.Full() {
		if r.Cell != nil {
			if r.Event != next {
				break
			}
			next++
		}
	}
	return next, v.Hidden
}

func unfold(rows []Row, f func(*Row)) {
	for i := range rows {
		switch r := &rows[i]; r.Kind {
		case FoldRow, LoopRow:
			unfold(r.Rows, f)
		default:
			f(r)
		}
	}
}
