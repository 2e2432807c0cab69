package pattern

import (
	"fmt"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// parse makes an execution of lines, each an event:
//
//	T1 read x 0
//
// A name stands for an object, x+4 for what lies 4 bytes behind it. `<1` and `<2` at the end of a line mark the events of the ordering, and
// `<w` the last event of a thread for whose wait the ordering is. After `passing:` come the events of the execution that does not fail,
// before it lines that say how the other one ends:
//
//	ends deadlock
//	T1 waits lock m T2
func parse(t *testing.T, text string) *Execution {
	t.Helper()
	x := &Execution{Trace: &trace.Trace{}}
	order := &Order{First: -1, Second: -1}
	objects := map[string]trace.Object{}
	object := func(name string) trace.Object {
		base, offset, _ := strings.Cut(name, "+")
		if objects[base] == 0 {
			objects[base] = trace.MakeObject(trace.RegionGlobal, 0, uint64(64*len(objects)+64))
		}
		n, _ := strconv.Atoi(offset)
		return objects[base] + trace.Object(n)
	}
	number := func(s string) uint64 {
		n, err := strconv.ParseInt(strings.TrimPrefix(s, "T"), 10, 64)
		if err != nil {
			t.Fatalf("%q is not a number", s)
		}
		return uint64(n)
	}
	in := x.Trace
	x.Trace.Header.Target = "c"
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		switch words[0] {
		case "go":
			x.Trace.Header.Target = "go"
			continue
		case "passing:":
			x.Passing = &trace.Trace{}
			in = x.Passing
			continue
		case "ends":
			for k := trace.Kind(0); k <= trace.Livelock; k++ {
				if strings.ReplaceAll(k.String(), " ", "-") == words[1] {
					x.Trace.Ending.Kind = k
				}
			}
			if x.Trace.Ending.Kind == trace.Clean {
				t.Fatalf("no kind is called %s", words[1])
			}
			if len(words) > 2 && strings.HasPrefix(words[2], "T") {
				x.Trace.Ending.Thread = trace.ThreadID(number(words[2]))
				if len(words) > 3 {
					x.Trace.Ending.Object = object(words[3])
				}
			} else {
				x.Trace.Ending.Message = strings.Join(words[2:], " ")
			}
			continue
		}
		mark := ""
		if last := words[len(words)-1]; last[0] == '<' {
			mark, words = last, words[:len(words)-1]
		}
		ev := trace.Event{Thread: trace.ThreadID(number(words[0])), Size: 4}
		if words[1] == "waits" {
			w := trace.Waiter{Thread: ev.Thread, Op: known(t, words[2]), Holder: -1}
			if len(words) > 3 {
				w.Object = object(words[3])
			}
			if len(words) > 4 {
				w.Holder = trace.ThreadID(number(words[4]))
			}
			w.Ready = w.Op == trace.OpYield
			x.Trace.Ending.Waiters = append(x.Trace.Ending.Waiters, w)
			continue
		}
		ev.Op = known(t, words[1])
		if strings.HasPrefix(words[1], "try") {
			ev.Value, ev.Result = 1, int32(syscall.EAGAIN)
		}
		if ev.Op == trace.OpThreadCreate {
			ev.Value = number(words[2])
		} else if len(words) > 2 {
			ev.Object = object(words[2])
		}
		switch {
		case len(words) <= 3:
		case ev.Op == trace.OpCondWait || ev.Op == trace.OpCondWake:
			ev.Aux = uint64(object(words[3]))
		case ev.Op == trace.OpCondSignal:
			ev.Value = number(words[3]) + 1
		case ev.Op == trace.OpAtomicCas:
			ev.Value, ev.Result = number(words[3]), 1
			if len(words) > 4 {
				ev.Result = 0
			}
		case ev.Op == trace.OpResume:
			ev.Value = uint64(known(t, words[3]))
		default:
			ev.Value = number(words[3])
		}
		if words[1] == "address" {
			ev.Flags, ev.Size = trace.FlagPointer, 8
		}
		if ev.Op == trace.OpAcquire || ev.Op == trace.OpRelease {
			ev.Flags = trace.FlagNoDecision
		}
		if ev.Op == trace.OpFree && Freed(&trace.Trace{Allocs: x.Trace.Allocs, Events: in.Events, Ending: trace.Ending{Kind: trace.Misuse, Object: ev.Object, Thread: ev.Thread}}) < 0 {
			x.Trace.Allocs = append(x.Trace.Allocs, trace.Alloc{Object: ev.Object, Size: 16, Freed: len(in.Events)})
		}
		switch n := len(in.Events); mark {
		case "<1":
			order.First, x.Order = n, order
		case "<2":
			if in == x.Passing {
				order.InPassing = n
			} else {
				order.Second = n
			}
		case "<w":
			order.Second, order.Waiting = n, true
		}
		in.Events = append(in.Events, ev)
	}
	for _, t := range []*trace.Trace{x.Trace, x.Passing} {
		for th := trace.ThreadID(0); t != nil && int(th) < threads; th++ {
			t.Threads = append(t.Threads, trace.Thread{ID: th, Name: uint64(th) + 1})
		}
	}
	return x
}

// threads is how many threads an execution has.
const threads = 8

// known returns the operation that tests call by a word.
func known(t *testing.T, word string) trace.Op {
	t.Helper()
	op, ok := map[string]trace.Op{
		"create": trace.OpThreadCreate, "read": trace.OpRead, "write": trace.OpWrite, "load": trace.OpAtomicLoad, "store": trace.OpAtomicStore,
		"address": trace.OpAtomicLoad, "cas": trace.OpAtomicCas, "free": trace.OpFree, "lock": trace.OpMutexLock, "unlock": trace.OpMutexUnlock,
		"rdlock": trace.OpRwlockRdlock, "wrlock": trace.OpRwlockWrlock, "wait": trace.OpCondWait, "awake": trace.OpCondWake, "signal": trace.OpCondSignal,
		"broadcast": trace.OpCondBroadcast, "yield": trace.OpYield, "post": trace.OpSemPost, "send": trace.OpChanSend, "recv": trace.OpChanRecv,
		"trysend": trace.OpChanSend, "tryrecv": trace.OpChanRecv,
		"close": trace.OpChanClose, "select": trace.OpSelect, "resume": trace.OpResume, "add": trace.OpWgAdd, "wgwait": trace.OpWgWait, "golock": trace.OpGmutexLock,
		"gordlock": trace.OpRwRlock, "gordunlock": trace.OpRwRunlock, "gowrlock": trace.OpRwLock,
		"gounlock": trace.OpGmutexUnlock, "gowait": trace.OpGcondWait, "gosignal": trace.OpGcondSignal, "acquire": trace.OpAcquire, "release": trace.OpRelease,
		"deliver": trace.OpSignalDeliver, "return": trace.OpSignalReturn,
	}[word]
	if !ok {
		t.Fatalf("no operation is called %q", word)
	}
	return op
}

// words calls objects by their offset.
type words struct{ x *Execution }

func (w words) Event(i int) string {
	return fmt.Sprintf("T%d's %s%s", w.x.event(i).Thread, w.x.event(i).Op, w.Place(i))
}
func (w words) Place(i int) string  { return fmt.Sprintf("#%d", i) }
func (w words) Object(i int) string { return fmt.Sprintf("object %d", w.x.event(i).Object.Offset()/64) }
func (w words) Value(i int) string {
	if !isAccess(w.x.event(i)) || ops.Does(w.x.event(i).Op) == ops.Compare {
		return ""
	}
	return strconv.FormatUint(w.x.event(i).Value, 10)
}
func (w words) Wait(th trace.ThreadID) string { return fmt.Sprintf("T%d waits", th) }

func (w words) Brief() bool { return false }
func (w words) Threads(list []trace.ThreadID) string {
	return strings.Trim(fmt.Sprint(list), "[]")
}

// paired checks that an execution shows a pattern, and what is said of it, and that one which is near to it has another one.
func paired(t *testing.T, name, has, said, near, other string) {
	t.Helper()
	x := parse(t, has)
	m := Of(x)
	switch {
	case m == nil:
		t.Errorf("no pattern, want %s", name)
	case m.Pattern.Name != name:
		t.Errorf("%s, want %s", m.Pattern.Name, name)
	default:
		got := ""
		if m.Say != nil {
			got = m.Say(words{x})
		}
		if got != said {
			t.Errorf("says %q, want %q", got, said)
		}
	}
	got := ""
	if m := Of(parse(t, near)); m != nil {
		got = m.Pattern.Name
	}
	if got != other {
		t.Errorf("the near execution: %q, want %q", got, other)
	}
}

// A thread's place in its stack that another function's frame takes is another variable.
func TestReused(t *testing.T) {
	at := func(offset uint64) trace.Site { return trace.MakeSite(0, offset) }
	place := trace.MakeObject(trace.RegionStack, 0, 0x570)
	access := func(th trace.ThreadID, op trace.Op, site trace.Site, stack uint32) trace.Event {
		return trace.Event{Thread: th, Op: op, Site: site, Stack: stack, Object: place, Size: 4}
	}
	x := &Execution{Trace: &trace.Trace{
		Stacks: [][]trace.Site{nil, {at(100)}, {at(210), at(200)}, {at(300)}},
		Events: []trace.Event{
			access(0, trace.OpWrite, at(10), 1), // main calls f, whose variable it is
			access(0, trace.OpRead, at(20), 1),  // elsewhere in f
			access(1, trace.OpWrite, at(900), 3),
			access(0, trace.OpWrite, at(30), 2), // main has called g, which called a function that wrote g's variable
			access(0, trace.OpRead, at(30), 2),
		},
		Locals: []trace.Local{
			{Object: place, Site: at(10), Function: at(1), CFA: -64, SP: 48, Event: 0},
			{Object: place, Site: at(210), Function: at(201), CFA: -128, SP: 32, Event: 3},
		},
	}}
	for _, c := range []struct {
		i, j int
		want bool
	}{{0, 1, false}, {1, 3, true}, {3, 4, false}, {1, 2, false}} {
		if got := x.reused(c.i, c.j); got != c.want {
			t.Errorf("events %d and %d: %v", c.i, c.j, got)
		}
	}
}
