package canonical

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"maps"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/heddle-dev/heddle/trace"
)

// Deviation is how an execution deviates from the golden one; a higher one implies more.
type Deviation uint8

const (
	Same    Deviation = iota
	Data              // the same operation on the same place, with another value or result
	Address           // the same instruction, at another place
	Control           // another instruction or operation, or an end
)

func (d Deviation) String() string { return [...]string{"none", "data", "address", "control"}[d] }

// Outcome is the consequence of an execution's deviations, as fault injection classifies it.
type Outcome uint8

const (
	Benign    Outcome = iota // it ended as the golden one, with the same output
	Corrupted                // it ended as the golden one, with another output
	Crashed                  // a signal, an assertion, a panic, …
	Hung                     // a hang or a deadlock
	Detected                 // the program exited with another status
	Undecided                // heddle ended one of them before it was over
)

func (o Outcome) String() string {
	return [...]string{"benign", "silent data corruption", "crash", "hang", "detected", "unknown"}[o]
}

// Buckets is the number of parts into which the golden thread's events are divided, for the spread
// of deviations over time.
const Buckets = 32

// Comparison is the result of Compare.
type Comparison struct {
	Deviation Deviation // the highest of any thread
	Outcome   Outcome
	Threads   []ThreadComparison // of all threads of either execution, breadth first
	// First is the index in Threads of the thread with the deviation that happened first in the other
	// execution, or, where the order of events is not known, of the first thread that deviates; -1 for
	// none.
	First int
	// Ordered reports whether the order of events is known: the other execution was not read from a
	// sanitised file.
	Ordered bool
}

// ThreadComparison is what Compare found of one thread.
type ThreadComparison struct {
	Name          string
	Golden, Other int // events
	// Compared is the number of golden events up to which the thread was compared: all, or those up to a control deviation
	// after which the executions do not become the same again.
	Compared int
	Count    [Control + 1]int // pairs of events by how they deviate; Count[Same] are equal
	First    *Difference      // nil for none
	Control  *Difference      // where the control flow deviates first; nil if it does not
	// Rejoined counts the control deviations after which the executions became the same again.
	Rejoined int
	// Skipped and Extra are the events of the golden and of the other execution that were passed over until then.
	Skipped, Extra int
	// Contents counts the events that are equal but for the contents of a range of one size, which may differ without a
	// cause (contentsMark). They deviate only if the executions have different outcomes and nothing else does,
	// and are otherwise counted as Same.
	Contents int
	// Spread counts deviating events by the part of the golden thread in which they are.
	Spread [Buckets]int

	contents       *Difference // the first of Contents
	contentsSpread [Buckets]int
}

// Difference is a pair of events that differ. An empty string stands for an event that does not
// exist: the thread had ended, or was never created.
type Difference struct {
	Kind          Deviation
	Event         int // of the golden thread, from 0
	Golden, Other Event
	Index         int // of Other's event in its trace; -1 if it is not known
}

// Event is an event of a sanitised trace in its parts; the zero value is "no event".
type Event struct {
	Op    string
	Site  string // module+0xoffset
	Place string
	Size  string
	Value string // with former values and results
}

// Names translates what two builds name differently. The identity is right for executions of one
// build.
type Names interface {
	// Site returns a name of an instruction of the build that is the same in the other build. op is
	// the operation, as in Event: the site of the start of a thread is its entry, all others are
	// return addresses.
	Site(op, site string) string
	// Place does the same for a place in memory.
	Place(place string) string
}

// Compare compares an execution with the golden one, thread by thread, event by event. After a
// control deviation, it goes on where the events of the thread become the same again (rejoin.go), if they do. golden and
// other translate names, and may be nil. If only one execution has entries and
// exits of functions, they are not compared.
func Compare(ctx context.Context, a, b *Execution, golden, other Names) (*Comparison, error) {
	c := &Comparison{First: -1, Ordered: b.store != nil, Outcome: outcome(&a.Ending, &b.Ending)}
	type pair struct{ a, b *Thread }
	var pairs []pair
	for i, j := 0, 0; i < len(a.Threads) || j < len(b.Threads); {
		order := 0
		switch {
		case i == len(a.Threads):
			order = 1
		case j == len(b.Threads):
			order = -1
		default:
			order = compareThreads(a.Threads[i].Name, b.Threads[j].Name)
		}
		var p pair
		if order <= 0 {
			p.a = &a.Threads[i]
			i++
		}
		if order >= 0 {
			p.b = &b.Threads[j]
			j++
		}
		pairs = append(pairs, p)
	}
	c.Threads = make([]ThreadComparison, len(pairs))
	all := func(blocks shifts) (found shifts, err error) {
		group, ctx := errgroup.WithContext(ctx)
		group.SetLimit(runtime.GOMAXPROCS(0))
		each := make([]shifts, len(pairs))
		for i, p := range pairs {
			group.Go(func() (err error) {
				each[i] = shifts{}
				t := &threadComparer{ctx: ctx, golden: golden, other: other, blocks: blocks, found: each[i]}
				var x, y lines
				if p.a != nil {
					t.Name, t.Golden, x = p.a.Name, p.a.Events, a.lines(p.a)
				}
				if p.b != nil {
					t.Name, t.Other, y = p.b.Name, p.b.Events, b.lines(p.b)
				}
				if a.Functions != b.Functions {
					x, y = withoutCalls(x), withoutCalls(y)
				}
				t.a, t.b = &ahead{lines: x, key: keyOf(golden)}, &ahead{lines: y, key: keyOf(other)}
				c.Threads[i], err = t.run()
				return err
			})
		}
		err = group.Wait()
		found = shifts{}
		for _, s := range each {
			maps.Copy(found, s)
		}
		return found, err
	}
	blocks, err := all(nil)
	if err == nil && len(blocks) > 0 { // which block is which is known now
		_, err = all(blocks)
	}
	if err != nil {
		return nil, err
	}
	blamed := c.Outcome != Benign && !slices.ContainsFunc(c.Threads, func(t ThreadComparison) bool { return t.First != nil })
	for i := range c.Threads {
		t := &c.Threads[i]
		if blamed {
			t.blameContents()
		}
		for d := range t.Count {
			if t.Count[d] > 0 {
				c.Deviation = max(c.Deviation, Deviation(d))
			}
		}
		if t.First != nil && (c.First < 0 || c.Ordered && earlier(t.First, c.Threads[c.First].First)) {
			c.First = i
		}
	}
	return c, nil
}

// blameContents makes deviations of the other contents of ranges.
func (t *ThreadComparison) blameContents() {
	t.First, t.Spread = t.contents, t.contentsSpread
	t.Count[Same] -= t.Contents
	t.Count[Data] += t.Contents
}

// earlier orders differences by when they happened in the other execution. An event that is missing
// there happened after all others.
func earlier(a, b *Difference) bool {
	return a.Index >= 0 && (b.Index < 0 || a.Index < b.Index)
}

// outcome classifies how b ended, where a is the golden execution.
func outcome(a, b *Ending) Outcome {
	switch {
	case a.Kind == trace.Unfinished || b.Kind == trace.Unfinished:
		return Undecided
	case b.Kind == a.Kind && b.Status == a.Status && bytes.Equal(a.Output, b.Output):
		return Benign
	case b.Kind == trace.Hang || b.Kind == trace.Livelock || b.Kind == trace.Deadlock || b.Kind == trace.Leak:
		return Hung
	case b.Kind == trace.WrongOutput, b.Kind == a.Kind && b.Status == a.Status:
		return Corrupted
	case b.Kind == trace.Clean || b.Kind == trace.Exit:
		return Detected
	}
	return Crashed
}

// OutcomeOf classifies how an execution ended, of which only that is known.
func OutcomeOf(golden, other *trace.Ending) Outcome {
	return outcome(&Ending{Kind: golden.Kind, Status: golden.Status, Output: golden.Output}, &Ending{Kind: other.Kind, Status: other.Status, Output: other.Output})
}

type threadComparer struct {
	ThreadComparison
	ctx           context.Context
	golden, other Names
	a, b          *ahead
	blocks        shifts // of all threads; nil while they are not known
	found         shifts // of this thread
}

func (t *threadComparer) run() (ThreadComparison, error) {
	for i, steps := 0, 0; ; i, steps = i+1, steps+1 {
		if steps&(1<<14-1) == 0 && t.ctx.Err() != nil {
			return t.ThreadComparison, context.Cause(t.ctx)
		}
		x, was, err := t.a.next()
		if err != nil {
			return t.ThreadComparison, err
		}
		y, index, err := t.b.next()
		switch {
		case err != nil:
			return t.ThreadComparison, err
		case x == nil && y == nil:
			return t.ThreadComparison, nil
		}
		kind, g, o := t.difference(x, y)
		part := t.part(i)
		if kind == Data && g.Size == o.Size && strings.HasPrefix(g.Value, string(contentsMark)) {
			kind = Same
			t.Contents++
			t.contentsSpread[part]++
			if t.contents == nil {
				t.contents = &Difference{Kind: Data, Event: i, Golden: g, Other: o, Index: index}
			}
		}
		t.Count[kind]++
		if x != nil {
			t.Compared++
		}
		if t.Rejoined > 0 && kind != Control {
			t.match(x, y)
		}
		if kind == Same {
			continue
		}
		t.Spread[part]++
		d := &Difference{Kind: kind, Event: i, Golden: g, Other: o, Index: index}
		t.First = cmp.Or(t.First, d)
		if kind != Control {
			continue
		}
		t.Control = cmp.Or(t.Control, d)
		if x == nil || y == nil {
			return t.ThreadComparison, nil
		}
		t.a.unread(x, was)
		t.b.unread(y, index)
		skipped, extra, ok, err := rejoin(t.a, t.b)
		if err != nil || !ok {
			return t.ThreadComparison, err
		}
		t.passOver(i, skipped, extra)
		i += skipped - 1
	}
}

// part is the part of the thread in which a golden event is.
func (t *threadComparer) part(event int) int { return min(event*Buckets/max(t.Golden, 1), Buckets-1) }

// passOver passes over events on the way to where the executions are the same again.
func (t *threadComparer) passOver(from, skipped, extra int) {
	for k := range skipped {
		if k > 0 { // the first has been counted
			t.Spread[t.part(from+k)]++
		}
	}
	for _, e := range t.b.queue[:extra] {
		t.found.passOver(e.line)
	}
	t.a.queue, t.b.queue = t.a.queue[skipped:], t.b.queue[extra:]
	t.Rejoined++
	t.Skipped += skipped
	t.Extra += extra
	t.Compared += skipped - 1
}

// match notes which block an allocation makes.
func (t *threadComparer) match(x, y []byte) {
	if !bytes.HasPrefix(y, mallocs) {
		return
	}
	a, b := split(x), split(y)
	t.found.match(&a, &b)
}

var mallocs = []byte(opName(trace.OpMalloc) + " ")

func next(l lines) ([]byte, int, error) {
	if l == nil {
		return nil, -1, nil
	}
	line, index, err := l.next()
	if err == io.EOF {
		return nil, -1, nil
	}
	return line, index, err
}

// uncalled are the lines of a thread but for the entries and exits of functions.
type uncalled struct{ lines }

func withoutCalls(l lines) lines {
	if l == nil {
		return nil
	}
	return uncalled{l}
}

func (u uncalled) next() ([]byte, int, error) {
	for {
		line, index, err := u.lines.next()
		op, _, _ := bytes.Cut(line, []byte{' '})
		if err != nil || string(op) != calls[0] && string(op) != calls[1] {
			return line, index, err
		}
	}
}

var calls = [2]string{opName(trace.OpFunctionEntry), opName(trace.OpFunctionExit)}

// sized are the operations whose size the program computes, so that another one is a deviation in data.
var sized = []string{trace.OpMalloc.String(), trace.OpFree.String(), opName(trace.OpReadRange), opName(trace.OpWriteRange)}

// opName is the name of an operation in a sanitised trace.
func opName(op trace.Op) string { return strings.ReplaceAll(op.String(), " ", "-") }

// difference classifies a pair of lines, nil for none. It splits only lines that differ.
func (t *threadComparer) difference(x, y []byte) (Deviation, Event, Event) {
	if bytes.Equal(x, y) && t.golden == nil && t.other == nil && t.blocks == nil {
		return Same, Event{}, Event{}
	}
	a, b := split(x), split(y)
	switch {
	case x == nil || y == nil, a.Op != b.Op, a.Size != b.Size && !slices.Contains(sized, a.Op), siteOf(t.golden, &a) != siteOf(t.other, &b):
		return Control, a, b
	case placeOf(t.golden, a.Place) != t.otherPlace(b.Place):
		return Address, a, b
	case a.Size != b.Size, !t.equalValues(a.Value, b.Value):
		return Data, a, b
	}
	return Same, a, b
}

// equalValues compares values, whose words may be pointers.
func (t *threadComparer) equalValues(a, b string) bool {
	if a == b && t.blocks == nil {
		return true
	}
	return slices.EqualFunc(strings.Fields(a), strings.Fields(b), func(a, b string) bool {
		from, x, ok := strings.Cut(a, "*")
		to, y, both := strings.Cut(b, "*")
		if !ok || !both {
			return a == b
		}
		return from == to && placeOf(t.golden, x) == t.otherPlace(y)
	})
}

func siteOf(n Names, e *Event) string {
	if n == nil {
		return e.Site
	}
	return n.Site(e.Op, e.Site)
}

func placeOf(n Names, s string) string {
	if n == nil {
		return s
	}
	return n.Place(s)
}

// otherPlace is the golden execution's name of a place of the other one.
func (t *threadComparer) otherPlace(place string) string {
	place = placeOf(t.other, place)
	if t.blocks == nil {
		return place
	}
	return t.blocks.place(place)
}

func split(line []byte) (e Event) {
	rest := strings.TrimSuffix(string(line), "\n")
	for _, field := range []*string{&e.Op, &e.Site, &e.Place, &e.Size} {
		*field, rest, _ = strings.Cut(rest, " ")
	}
	e.Value = rest
	return e
}
