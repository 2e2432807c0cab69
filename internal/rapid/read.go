package rapid

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Header.Target and Header.Strategy of a trace that was read from STD.
const (
	Target   = "std"
	Strategy = "imported from STD"
)

// Result is a trace that was read.
type Result struct {
	Trace *trace.Trace
	Names *Names
	Lost  []Loss
}

// Read reads a trace in STD, compressed with gzip or not. The name says where it is from.
// The trace is valid (trace.Validate): what every heddle trace has and STD need not is put
// in, marked with trace.FlagNoDecision, so it does not count as a step: starts of threads,
// ends of threads that are joined, and the creation, by the first thread, of threads that
// no event forks. Enabled sets are computed from locks, forks and joins.
//
// The error is an *Error for the first line that is not STD, and for the first event that
// no execution can have: of a thread that has not been forked or has ended or was joined,
// a fork of a thread that already exists, an acquire of a lock that another thread holds, a
// release of one that the thread does not hold.
func Read(r io.Reader, name string) (*Result, error) {
	l, err := parse(r)
	if err != nil {
		return nil, err
	}
	b := &builder{lines: l, names: newNames(), t: &trace.Trace{
		Header:  trace.Header{Target: Target, Instrumented: true, Strategy: Strategy},
		Modules: []trace.Module{{Path: cmp.Or(name, "std"), Program: true}},
		Ending:  trace.Ending{Kind: trace.Clean},
	}}
	if err := b.check(); err != nil {
		return nil, err
	}
	b.threads()
	b.events()
	if len(b.t.Threads) == 0 {
		b.t.Ending.Thread = -1
	}
	for i, set := range ops.Enabled(b.t) {
		if b.t.Events[i].Flags&trace.FlagNoDecision == 0 {
			b.t.Events[i].Enabled = set
		}
	}
	return &Result{b.t, b.names, b.lost.list}, nil
}

type builder struct {
	*lines
	t     *trace.Trace
	names *Names
	lost  losses

	first, last []int // of each thread, its first and last line, -1 for none
	forkedBy    []int // of each thread, the line that forks it, -1 for none
	joinedBy    []int
	ids         []trace.ThreadID // by number of appearance
	orphans     []int32          // threads without a fork, except main
}

func (b *builder) fail(line int, format string, args ...any) error {
	return &Error{line + 1, b.text(b.records[line]), fmt.Sprintf(format, args...)}
}

// check looks for what cannot be.
func (b *builder) check() error {
	n := len(b.lines.threads.list)
	none := func() []int { return slices.Repeat([]int{-1}, n) }
	b.first, b.last, b.forkedBy, b.joinedBy = none(), none(), none(), none()
	if n > trace.MaxThreads {
		return &Error{Line: len(b.records), Msg: fmt.Sprintf("there are %d threads, a trace has at most %d", n, trace.MaxThreads)}
	}
	for i, r := range b.records {
		b.last[r.thread] = i
	}
	type holder struct{ thread, count int32 }
	held := make([]holder, len(b.locks.list))
	name := b.lines.threads.list
	for i, r := range b.records {
		if b.first[r.thread] < 0 {
			b.first[r.thread] = i
		}
		if j := b.joinedBy[r.thread]; j >= 0 {
			return b.fail(i, "thread %s was joined in line %d and continues", name[r.thread], j+1)
		}
		switch r.op {
		case opFork:
			switch {
			case r.what == r.thread:
				return b.fail(i, "thread %s forks itself", name[r.thread])
			case b.forkedBy[r.what] >= 0:
				return b.fail(i, "thread %s was forked in line %d", name[r.what], b.forkedBy[r.what]+1)
			case b.first[r.what] >= 0:
				return b.fail(i, "thread %s was there before, from line %d on", name[r.what], b.first[r.what]+1)
			}
			b.forkedBy[r.what] = i
		case opJoin:
			switch {
			case r.what == r.thread:
				return b.fail(i, "thread %s joins itself", name[r.thread])
			case b.last[r.what] < 0 && b.forkedBy[r.what] < 0:
				return b.fail(i, "there is no thread %s", name[r.what])
			case b.last[r.what] > i:
				return b.fail(i, "thread %s has not ended: it goes on until line %d", name[r.what], b.last[r.what]+1)
			}
			if b.joinedBy[r.what] < 0 {
				b.joinedBy[r.what] = i
			}
		case opAcquire:
			h := &held[r.what]
			if h.count > 0 && h.thread != r.thread {
				return b.fail(i, "thread %s has the lock", name[h.thread])
			}
			h.thread, h.count = r.thread, h.count+1
		case opRelease:
			h := &held[r.what]
			if h.count == 0 || h.thread != r.thread {
				return b.fail(i, "the thread does not have the lock")
			}
			h.count--
		}
	}
	return nil
}

// threads numbers the threads in order of creation and makes their table.
func (b *builder) threads() {
	n := len(b.lines.threads.list)
	b.ids = slices.Repeat([]trace.ThreadID{-1}, n)
	add := func(th int32, parent trace.ThreadID) {
		id := trace.ThreadID(len(b.t.Threads))
		b.ids[th] = id
		x := trace.Thread{ID: id, Parent: parent, Name: abi.NameMain, Label: b.lines.threads.list[th]}
		if parent >= 0 {
			x.Nth = 1
			for _, o := range b.t.Threads {
				if o.Parent == parent {
					x.Nth++
				}
			}
			h := fnv.New64a()
			fmt.Fprint(h, "std thread ", x.Label)
			x.Name = h.Sum64()
		}
		b.t.Threads = append(b.t.Threads, x)
	}
	if n == 0 {
		return
	}
	add(b.records[0].thread, -1)
	for th := range int32(n) {
		if b.forkedBy[th] < 0 && b.ids[th] < 0 {
			b.orphans = append(b.orphans, th)
			add(th, 0)
		}
	}
	for _, r := range b.records {
		if r.op == opFork {
			add(r.what, b.ids[r.thread])
		}
	}
}

// events makes the events.
func (b *builder) events() {
	b.t.Events = make([]trace.Event, 0, len(b.records)+3*len(b.t.Threads))
	quiet := func(th int32, op trace.Op, value uint64) {
		b.t.Events = append(b.t.Events, trace.Event{Thread: b.ids[th], Op: op, Value: value, Flags: trace.FlagNoDecision})
	}
	for i, r := range b.records {
		if i == b.first[r.thread] && r.op != opBegin {
			quiet(r.thread, trace.OpThreadStart, 0)
		}
		if i == 0 && r.op != opBegin {
			b.createOrphans(quiet)
		}
		ev := trace.Event{Thread: b.ids[r.thread], Site: trace.MakeSite(0, uint64(r.loc))}
		switch r.op {
		case opRead, opWrite:
			ev.Op, ev.Object, ev.Size = trace.OpRead, b.names.variable(b.vars.list[r.what]), wordSize
			if r.op == opWrite {
				ev.Op = trace.OpWrite
			}
		case opAcquire, opRelease:
			ev.Op, ev.Object = trace.OpMutexLock, b.names.lock(b.locks.list[r.what])
			if r.op == opRelease {
				ev.Op = trace.OpMutexUnlock
			}
		case opFork:
			ev.Op, ev.Value = trace.OpThreadCreate, uint64(b.ids[r.what])
		case opJoin:
			if b.last[r.what] < 0 {
				// It was forked and did nothing that is recorded.
				quiet(r.what, trace.OpThreadStart, 0)
				quiet(r.what, trace.OpThreadEnd, 0)
				b.t.Threads[b.ids[r.what]].Ended = true
				b.last[r.what] = i
			}
			ev.Op, ev.Value = trace.OpThreadJoin, uint64(b.ids[r.what])
		case opBegin:
			if i != b.first[r.thread] {
				b.lost.add(i+1, "begins of atomic blocks inside of a thread")
				continue
			}
			ev.Op = trace.OpThreadStart
		case opEnd:
			if i != b.last[r.thread] {
				b.lost.add(i+1, "ends of atomic blocks inside of a thread")
				continue
			}
			ev.Op = trace.OpThreadEnd
			b.t.Threads[ev.Thread].Ended = true
		}
		b.t.Events = append(b.t.Events, ev)
		if i == 0 && r.op == opBegin {
			b.createOrphans(quiet)
		}
		if i == b.last[r.thread] && r.op != opEnd && b.joinedBy[r.thread] >= 0 {
			quiet(r.thread, trace.OpThreadEnd, 0)
			b.t.Threads[ev.Thread].Ended = true
		}
	}
}

func (b *builder) createOrphans(quiet func(int32, trace.Op, uint64)) {
	for _, th := range b.orphans {
		quiet(b.records[0].thread, trace.OpThreadCreate, uint64(b.ids[th]))
	}
}

// Names are what variables and locks are called in STD. Names that are a letter and a
// number, V123 and L3, are kept in the objects; others are numbered.
type Names struct {
	byName [2]map[string]trace.Object
	of     map[trace.Object]string
}

func newNames() *Names {
	return &Names{byName: [2]map[string]trace.Object{{}, {}}, of: map[trace.Object]string{}}
}

// Objects read from STD are in RegionOther: the sort (variable, lock) and the number.
const (
	wordSize   = 8
	sortBit    = 1 << 44 // a lock
	otherBit   = 1 << 43 // its name is not a letter and a number
	maxNatural = otherBit/wordSize - 1
)

var letters = [2]string{"V", "L"}

func (n *Names) variable(name string) trace.Object { return n.object(0, name) }
func (n *Names) lock(name string) trace.Object     { return n.object(1, name) }

func (n *Names) object(sort int, name string) trace.Object {
	if o, ok := n.byName[sort][name]; ok {
		return o
	}
	number, ok := natural(letters[sort], name)
	at := number * wordSize
	if !ok {
		at = otherBit + uint64(len(n.of))*wordSize
	}
	// Nothing is at 0, which would be no object.
	at += wordSize
	if sort == 1 {
		at += sortBit
	}
	o := trace.MakeObject(trace.RegionOther, 0, at)
	n.byName[sort][name] = o
	if !ok {
		n.of[o] = name
	}
	return o
}

// natural is the number of a name like V123, which is how it would be written again.
func natural(letter, name string) (uint64, bool) {
	digits, ok := strings.CutPrefix(name, letter)
	if !ok || digits == "" || len(digits) > 1 && digits[0] == '0' || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	v, err := strconv.ParseUint(digits, 10, 64)
	return v, err == nil && v < maxNatural
}

// Lost returns what a format without names loses: names that are not a letter and a number.
func (n *Names) Lost() []Loss {
	if n == nil || len(n.of) == 0 {
		return nil
	}
	return []Loss{{What: "names of variables and locks that are not like V1 and L1: numbered instead", Count: len(n.of)}}
}

// NameOf returns what to call an object of an imported trace: its name in STD, or, where the trace
// does not keep it, its number.
func NameOf(o trace.Object) string {
	at := o.Offset()
	if at&otherBit != 0 {
		return fmt.Sprintf("object #%d", (at&(otherBit-1))/wordSize-1)
	}
	name, _ := (*Names)(nil).name(o)
	return name
}

// name is what an object that was read from STD is called, false if it was not.
func (n *Names) name(o trace.Object) (string, bool) {
	if n != nil {
		if s, ok := n.of[o]; ok {
			return s, true
		}
	}
	at := o.Offset()
	if o.Region() != trace.RegionOther || o.Index() != 0 || at < wordSize || at%wordSize != 0 {
		return "", false
	}
	sort := 0
	if at&sortBit != 0 {
		sort, at = 1, at-sortBit
	}
	return letters[sort] + strconv.FormatUint(at/wordSize-1, 10), true
}
