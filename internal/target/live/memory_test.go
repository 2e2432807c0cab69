package live

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// pthread_create is recorded before the kernel maps the new stack, which may then lie where a mapping or another stack is
// still in use.
func TestMemoryStackBecomesKnown(t *testing.T) {
	const lo, hi, at = 0x7f0000000000, 0x7f0000800000, 0x7f0000400000
	v := newValued(&trace.Trace{Threads: make([]trace.Thread, 4)}, []event{
		{record{kind: kindStack, object: hi, value: lo}, 2},
		{record{kind: kindStack, object: hi, value: lo}, 3},
	}, &head{}, nil)
	v.main = mainStack{lo: 0x7fff00000000, hi: 0x7fff00100000, top: 0x7fff00110000}
	record := func(kind uint32, thread int, object, value uint64) {
		t.Helper()
		if e := (&event{record{kind: kind, object: object, value: value}, thread}); !v.only(e) {
			v.complete(e, &trace.Event{Op: operations[kind]})
		}
	}
	is := func(what string, want trace.Object) {
		t.Helper()
		if o, _ := v.object(at); o != want {
			t.Errorf("%s: %v, want %v", what, o, want)
		}
	}
	mapping := func(n uint64) trace.Object { return other(firstMapping + (n*(hi-lo+pageSize) + at - lo)) }
	stack := func(thread int) trace.Object { return trace.MakeObject(trace.RegionStack, thread, hi-at) }

	record(kindMap, 1, lo, hi-lo)
	is("mapped", mapping(0))
	record(kindCreate, 0, 0, 2)
	is("mapped, thread 2 about to be created", mapping(0))
	record(kindUnmap, 1, lo, hi-lo)
	is("unmapped, thread 2 about to be created", stack(2))
	record(kindCreated, 0, 0, 2)
	is("thread 2 created", stack(2))
	record(kindStack, 2, hi, lo)
	is("thread 2 running", stack(2))
	record(kindCreate, 0, 0, 3)
	is("thread 3 about to be created where thread 2 ends", stack(2))
	record(kindStack, 3, hi, lo)
	is("thread 3 running", stack(3))
	record(kindMap, 1, lo, hi-lo)
	is("mapped where a thread has ended", mapping(1))
}
