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

// What free and realloc give back to libc and the kernel can become a stack or a mapping, whose names count then.
func TestMemoryFreedBlockIsReused(t *testing.T) {
	const block, size, lo, hi, at = 0x7f0000000010, 0x800000, 0x7f0000100000, 0x7f0000300000, 0x7f0000200000
	v := newValued(&trace.Trace{Threads: make([]trace.Thread, 2)}, []event{{record{kind: kindStack, object: hi, value: lo}, 1}}, &head{}, nil)
	record := func(kind uint32, thread int, object, value uint64) {
		t.Helper()
		if e := (&event{record{kind: kind, object: object, value: value}, thread}); !v.only(e) {
			v.complete(e, &trace.Event{Op: operations[kind]})
		}
	}
	is := func(what string, address uint64, want trace.Object) {
		t.Helper()
		if o, _ := v.object(address); o != want {
			t.Errorf("%s: %v, want %v", what, o, want)
		}
	}
	heap := func(offset uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, offset) }
	stack := trace.MakeObject(trace.RegionStack, 1, hi-at)

	record(kindMalloc, 0, block, size) // before main
	v.main = mainStack{lo: 0x7fff00000000, hi: 0x7fff00100000, top: 0x7fff00110000}
	is("allocated", at, heap(at-block))
	record(kindCreate, 0, 0, 1)
	is("allocated, a thread about to be created", at, heap(at-block))
	record(kindFree, 0, block, 0)
	is("freed, a thread about to be created", at, stack)
	is("freed", lo-8, heap(lo-8-block))
	record(kindCreated, 0, 0, 1)
	is("freed, and the thread created", at, stack)
	is("a pointer that was kept", lo-8, heap(lo-8-block))

	second := uint64(size + 32)
	record(kindMalloc, 0, block, size)
	is("allocated where the thread has ended", at, heap(second+at-block))
	record(kindFree, 0, block, 0) // by realloc, which shrinks the block in place
	record(kindMalloc, 0, block, 100)
	third := second + size + 32
	is("in the smaller block", block+99, heap(third+99))
	is("behind the smaller block", at, stack)
	record(kindFree, 0, block, 0)
	record(kindMap, 0, block-0x10, size)
	is("mapped where a block was freed", block+8, other(firstMapping+0x18))
	record(kindUnmap, 0, block-0x10, size)
	is("unmapped", block+8, heap(third+8))
}
