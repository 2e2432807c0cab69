package symbol

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// A block has the number of the one that the same thread allocated in the same call in the other execution, whichever thread came first.
func TestBlocksAs(t *testing.T) {
	heap := func(off uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, off) }
	here, there := trace.MakeSite(0, 0x40), trace.MakeSite(0, 0x80)
	threads := []trace.Thread{{ID: 0, Name: 10}, {ID: 1, Name: 11}, {ID: 2, Name: 12}}
	alloc := func(at int, th trace.ThreadID, s trace.Site, stack uint32) trace.Alloc {
		return trace.Alloc{Object: heap(uint64(at) * 0x100), Size: 32, Thread: th, Site: s, Stack: stack, Event: at, Freed: -1}
	}
	modules := []trace.Module{{Path: "/nowhere/x", Program: true}}
	as := &trace.Trace{
		Modules: modules, Threads: threads, Stacks: [][]trace.Site{nil, {here}, {there}},
		Allocs: []trace.Alloc{alloc(1, 1, here, 1), alloc(2, 2, here, 1), alloc(3, 1, here, 1), alloc(4, 1, here, 2)},
	}
	of := &trace.Trace{
		Modules: modules, Threads: threads, Stacks: [][]trace.Site{nil, {there}, {here}}, // other numbers of the same calls
		Allocs: []trace.Alloc{alloc(1, 2, here, 2), alloc(2, 0, here, 2), alloc(3, 1, here, 1), alloc(4, 1, here, 2), alloc(5, 1, here, 2), alloc(6, 1, here, 2)},
	}
	o := New(modules, Options{DebugDirs: []string{}}).ObjectsAs(of, as)
	for i, want := range []string{"block #2", "block #5", "block #4", "block #1", "block #3", "block #6"} {
		a := &of.Allocs[i]
		if n := o.Name(a.Object+4, 0, a.Event); n.Text != want+"+4" || n.Base != want || n.Alloc != i {
			t.Errorf("the block of event %d is %q of block %d, want %s", a.Event, n.Text, n.Alloc, want)
		}
	}
}
