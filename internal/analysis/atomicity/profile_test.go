package atomicity_test

import (
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/internal/analysis/atomicity"
	"github.com/heddle-dev/heddle/trace"
)

// parse returns the trace of a text with threads main and two others, and a heap block.
func recording(events ...trace.Event) *trace.Trace {
	t := &trace.Trace{Header: trace.Header{Target: "c", Instrumented: true}, Modules: []trace.Module{{Path: "p", Program: true}}}
	for i := range 3 {
		t.Threads = append(t.Threads, trace.Thread{ID: trace.ThreadID(i), Parent: -1, Nth: i})
	}
	t.Events = events
	return t
}

func at(line int) trace.Site { return trace.MakeSite(0, uint64(line)) }

var (
	x  = trace.MakeObject(trace.RegionGlobal, 0, 64)
	mu = trace.MakeObject(trace.RegionGlobal, 0, 128)
)

func access(thread, line int, op trace.Op) trace.Event {
	return trace.Event{Thread: trace.ThreadID(thread), Op: op, Site: at(line), Object: x, Size: 4}
}

func lock(thread, line int) trace.Event {
	return trace.Event{Thread: trace.ThreadID(thread), Op: trace.OpMutexLock, Site: at(line), Object: mu}
}

func unlock(thread, line int) trace.Event {
	return trace.Event{Thread: trace.ThreadID(thread), Op: trace.OpMutexUnlock, Site: at(line), Object: mu}
}

func yield(thread int) trace.Event {
	return trace.Event{Thread: trace.ThreadID(thread), Op: trace.OpYield}
}

// TestGapBetweenCriticalSections: where one lock guards p, c and r in turn, the gap runs from the end
// of p's section to the beginning of c's (ASPLOS'09, §4.3.2), and the waiting place of c is the lock
// before it. For a remote access without the lock, the gap is that between p and c.
func TestGapBetweenCriticalSections(t *testing.T) {
	t.Parallel()
	p := atomicity.NewProfile()
	p.Add(recording(
		lock(1, 10), access(1, 11, trace.OpRead), yield(1), yield(1), unlock(1, 12), // p ends at time 5
		yield(1),
		lock(1, 20), yield(1), access(1, 21, trace.OpWrite), unlock(1, 22), // c's section begins at 7
		lock(2, 30), access(2, 31, trace.OpWrite), unlock(2, 32),
		access(2, 41, trace.OpWrite),
	), nil)
	for _, want := range []struct {
		r     int
		gap   uint64
		outer trace.Site
	}{{31, 2, at(30)}, {41, 7, 0}} {
		found := false
		for _, i := range p.Targets() {
			if i.P.Site == at(11) && i.C.Site == at(21) && i.R.Site == at(want.r) {
				found = true
				if i.Gap != want.gap || i.Instances != 1 || i.Outer != [2]trace.Site{at(20), want.outer} || i.Pattern != atomicity.ReadWriteWrite {
					t.Errorf("remote access at %d: %+v, want gap %d, outer %v", want.r, i, want.gap, want.outer)
				}
			}
		}
		if !found {
			t.Errorf("no target with the remote access at %d: %+v", want.r, p.All())
		}
	}
}

// TestSharedSection: r's section cannot run while one section of the same lock holds both p and c.
func TestSharedSection(t *testing.T) {
	t.Parallel()
	p := atomicity.NewProfile()
	p.Add(recording(
		lock(1, 10), access(1, 11, trace.OpRead), access(1, 12, trace.OpWrite), unlock(1, 13),
		lock(2, 20), access(2, 21, trace.OpWrite), unlock(2, 22),
	), nil)
	all := p.All()
	if len(all) != 1 || all[0].Feasible || all[0].Pruned != atomicity.ByExclusion {
		t.Errorf("%+v, want one interleaving, pruned for its lock", all)
	}
}

// TestLifetimes: what accessed a block before it was freed does not interleave with what accesses the
// next block at its address.
func TestLifetimes(t *testing.T) {
	t.Parallel()
	tr := recording(
		access(1, 11, trace.OpRead), access(1, 12, trace.OpWrite),
		access(2, 21, trace.OpWrite),
	)
	tr.Allocs = []trace.Alloc{{Object: x, Size: 8, Event: 0, Freed: -1}, {Object: x, Size: 8, Event: 2, Freed: -1}}
	p := atomicity.NewProfile()
	p.Add(tr, nil)
	all := p.All()
	if len(all) != 1 || all[0].Feasible || all[0].Pruned != atomicity.ByLifetime {
		t.Errorf("%+v, want one interleaving, pruned for the lifetime", all)
	}
}

// TestRank: a narrow window first, then a remote access that is far away.
func TestRank(t *testing.T) {
	t.Parallel()
	list := []atomicity.Interleaving{{Gap: 1000, Distance: 5, First: 0}, {Gap: 3, Distance: 5, First: 1}, {Gap: 2, Distance: 900, First: 2}, {Gap: 0, First: 3}}
	atomicity.Rank(list)
	for i, want := range []int{3, 2, 1, 0} {
		if list[i].First != want {
			t.Fatalf("order %+v", list)
		}
	}
}

// TestExercisedDropsOut: what a recording has shown drops out, and counts once for a recording.
func TestExercisedDropsOut(t *testing.T) {
	t.Parallel()
	events := []trace.Event{access(1, 11, trace.OpRead), access(2, 21, trace.OpWrite), access(1, 12, trace.OpWrite)}
	p := atomicity.NewProfile()
	if fresh := p.Add(recording(append(events, events...)...), nil); fresh == 0 {
		t.Error("nothing was exercised")
	}
	if fresh := p.Add(recording(events...), nil); fresh != 0 {
		t.Errorf("%d exercised that the first recording had not", fresh)
	}
	want := atomicity.Interleaving{Triple: atomicity.Triple{
		P: atomicity.Statement{Site: at(11), Op: trace.OpRead, Effect: atomicity.Reads},
		C: atomicity.Statement{Site: at(12), Op: trace.OpWrite, Effect: atomicity.Writes},
		R: atomicity.Statement{Site: at(21), Op: trace.OpWrite, Effect: atomicity.Writes},
	}, Outer: [2]trace.Site{at(15)}}
	for _, i := range p.Targets() {
		if i.Triple == want.Triple {
			t.Errorf("an exercised interleaving is a target: %+v", i)
		}
	}
	if !atomicity.Exercised(recording(events...), want)[0] {
		t.Error("Exercised misses it")
	}
	if atomicity.Exercised(recording(events[0], events[2], events[1]), want)[0] {
		t.Error("Exercised sees what did not occur")
	}
	failed := recording(events[:2]...)
	if atomicity.Exercised(failed, want)[0] {
		t.Error("Exercised sees a thread before c where none is")
	}
	failed.Ending = trace.Ending{Kind: trace.Signal, Waiters: []trace.Waiter{{Thread: 1, Op: trace.OpWrite, Site: at(12), Object: x, Ready: true, Holder: -1}}}
	if !atomicity.Exercised(failed, want)[0] {
		t.Error("Exercised misses the thread before c when the execution failed")
	}
	failed.Ending.Waiters[0] = trace.Waiter{Thread: 1, Op: trace.OpMutexLock, Site: at(15), Object: x, Holder: 2}
	if !atomicity.Exercised(failed, want)[0] {
		t.Error("Exercised misses the thread before the critical section of c when the execution failed")
	}
	failed.Events[0].Object = trace.MakeObject(trace.RegionGlobal, 0, 1024)
	if atomicity.Exercised(failed, want)[0] {
		t.Error("Exercised sees a thread before c on other bytes")
	}
}

// TestReproducible: the same recordings give the same profile, down to the order in which pairs and
// interleavings were seen: a search chooses by it, and its seed must repeat it.
func TestReproducible(t *testing.T) {
	t.Parallel()
	var events []trace.Event
	for n := range 20 {
		for thread := 1; thread <= 2; thread++ {
			for line := range 2 {
				e := access(thread, 100*n+10*thread+line, trace.OpWrite)
				e.Object = trace.MakeObject(trace.RegionGlobal, 0, uint64(64*n))
				events = append(events, e)
			}
		}
	}
	profile := func() *atomicity.Profile {
		p := atomicity.NewProfile()
		p.Add(recording(events...), nil)
		return p
	}
	want := profile()
	for range 20 {
		if got := profile(); !reflect.DeepEqual(got.Unordered(), want.Unordered()) || !reflect.DeepEqual(got.All(), want.All()) {
			t.Fatal("two profiles of one recording differ")
		}
	}
}

// TestStaleRead: a thread that accesses again what another has overwritten since it read there.
func TestStaleRead(t *testing.T) {
	t.Parallel()
	first, size := x.Bytes(4)
	for name, c := range map[string]struct {
		events []trace.Event
		want   bool
	}{
		"overwritten":      {[]trace.Event{access(1, 11, trace.OpRead), access(2, 21, trace.OpWrite), access(1, 12, trace.OpWrite)}, true},
		"written, no read": {[]trace.Event{access(1, 11, trace.OpWrite), access(2, 21, trace.OpWrite), access(1, 12, trace.OpWrite)}, false},
		"not again":        {[]trace.Event{access(1, 11, trace.OpRead), access(2, 21, trace.OpWrite)}, false},
		"only read":        {[]trace.Event{access(1, 11, trace.OpRead), access(2, 21, trace.OpRead), access(1, 12, trace.OpWrite)}, false},
		"by the other":     {[]trace.Event{access(2, 11, trace.OpRead), access(1, 21, trace.OpWrite), access(2, 12, trace.OpWrite)}, false},
	} {
		if got := atomicity.StaleRead(recording(c.events...), 1, first, size); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
