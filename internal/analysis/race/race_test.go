package race

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/heddle-dev/heddle/internal/analysis/hb"
	"github.com/heddle-dev/heddle/trace"
)

// memory configures the accesses of random executions.
type memory struct {
	sites  int      // instructions
	bases  []uint64 // objects that accesses start near
	spread int      // bytes past them
	large  bool     // ranges of many sizes, and blocks freed and allocated
}

// execution draws threads that access memory, sometimes under a lock or after a
// release store. Only its length shrinks.
func execution(t *rapid.T, m memory) *trace.Trace {
	seed := rapid.Uint64().Draw(t, "seed")
	n := rapid.IntRange(20, 150).Draw(t, "events")
	r := rand.New(rand.NewPCG(seed, 1))
	out := &trace.Trace{}
	threads := 1
	holder := map[trace.Object]trace.ThreadID{}
	emit := func(e trace.Event) { out.Events = append(out.Events, e) }
	quiet := 1 + r.IntN(40) // how rarely it synchronises
	for range n {
		id := trace.ThreadID(r.IntN(threads))
		if r.IntN(quiet) == 0 {
			switch r.IntN(5) {
			case 0:
				if threads < 5 {
					op := []trace.Op{trace.OpThreadCreate, trace.OpGo}[r.IntN(2)]
					emit(trace.Event{Thread: id, Op: op, Value: uint64(threads)})
					threads++
				}
			case 1:
				l := trace.Object(1 + r.IntN(2))
				if h, held := holder[l]; !held {
					holder[l] = id
					emit(trace.Event{Thread: id, Op: trace.OpMutexLock, Object: l})
				} else if h == id {
					delete(holder, l)
					emit(trace.Event{Thread: id, Op: trace.OpMutexUnlock, Object: l})
				}
			case 2:
				emit(trace.Event{Thread: id, Op: trace.OpSemPost, Object: 7})
			case 3:
				emit(trace.Event{Thread: id, Op: trace.OpSemWait, Object: 7})
			case 4:
				op := []trace.Op{trace.OpAcquire, trace.OpRelease, trace.OpReleaseMerge, trace.OpReleaseAcquire}[r.IntN(4)]
				emit(trace.Event{Thread: id, Op: op, Object: 8, Flags: trace.FlagNoDecision})
			}
			continue
		}
		site := trace.MakeSite(0, uint64(16*r.IntN(m.sites)))
		object := trace.Object(m.bases[r.IntN(len(m.bases))] + uint64(r.IntN(m.spread)))
		e := trace.Event{Thread: id, Site: site, Object: object, Size: 1 << r.IntN(4)}
		switch op := r.IntN(16); {
		case op < 4:
			e.Op = trace.OpRead
		case op < 8:
			e.Op = trace.OpWrite
		case op == 8:
			e.Op, e.Flags = trace.OpAtomicLoad, orderOf(r)
		case op == 9:
			e.Op, e.Flags = trace.OpAtomicStore, orderOf(r)
		case op == 10:
			e.Op, e.Flags = trace.OpAtomicRmw, orderOf(r)
		case op == 11:
			e.Op, e.Flags, e.Result = trace.OpAtomicCas, orderOf(r), int32(r.IntN(2))
		default:
			e.Op = []trace.Op{trace.OpReadRange, trace.OpWriteRange, trace.OpFree, trace.OpMalloc}[op-12]
			e.Size = uint32(r.IntN(40))
			if r.IntN(4) > 0 {
				e.Flags = trace.FlagHooks
			}
			if m.large {
				e.Size = uint32(1) << r.IntN(22) * uint32(1+r.IntN(3)) / 2
				if r.IntN(2) == 0 {
					e.Object &^= 1<<r.IntN(20) - 1 // aligned, so that whole nodes are met
				}
			} else if e.Op == trace.OpMalloc && r.IntN(3) > 0 {
				continue
			}
		}
		emit(e)
	}
	for id := range threads {
		out.Threads = append(out.Threads, trace.Thread{ID: trace.ThreadID(id)})
	}
	return out
}

func orderOf(r *rand.Rand) trace.Flags { return trace.FlagAtomic | trace.Flags(r.IntN(6))<<4 }

// bytes of an access, as an interval of addresses of one region.
func bytesOf(e *trace.Event) (lo, hi int64) {
	switch size, off := int64(e.Size), int64(e.Object.Offset()); {
	case e.Object.Region() == trace.RegionStack:
		return -off, -off + min(size, off+1)
	default:
		return off, off + size
	}
}

func sameRegion(a, b trace.Object) bool { return a.Region() == b.Region() && a.Index() == b.Index() }

// recorded holds happens-before over recorded events: the epoch of each, and its thread's clock.
type recorded struct {
	epochs []hb.Epoch
	clocks []*hb.Clock
}

func recordedOrder(events []trace.Event) *recorded {
	o := &recorded{}
	engine := hb.New()
	for i := range events {
		engine.Event(&events[i])
		known := &hb.Clock{}
		known.Join(engine.Clock(events[i].Thread))
		o.epochs, o.clocks = append(o.epochs, engine.Epoch(events[i].Thread)), append(o.clocks, known)
	}
	return o
}

// Concurrent reports whether neither of events i < j happened before the other.
func (o *recorded) Concurrent(i, j int) bool {
	return o.epochs[i].Chain() != o.epochs[j].Chain() && !o.clocks[j].Covers(o.epochs[i])
}

// bruteForce examines every pair of accesses and, for those that may race, every allocation in
// between, and for an allocation every plain write. It calls found for each race.
func bruteForce(events []trace.Event, found func(i, j int, lo, hi int64)) {
	order := recordedOrder(events)
	write := func(e *trace.Event) bool {
		switch e.Op {
		case trace.OpWrite, trace.OpWriteRange, trace.OpFree, trace.OpAtomicStore, trace.OpAtomicRmw:
			return true
		}
		return e.Op == trace.OpAtomicCas && e.Result == 1
	}
	access := func(e *trace.Event) bool {
		return write(e) || e.Op == trace.OpRead || e.Op == trace.OpReadRange || e.Op == trace.OpAtomicLoad || e.Op == trace.OpAtomicCas
	}
	for j := range events {
		b := &events[j]
		if !access(b) {
			continue
		}
		for i := range j {
			a := &events[i]
			allocates := a.Op == trace.OpMalloc && a.Size > 0 && a.Hooked()
			if allocates && !b.Hooked() && (b.Op == trace.OpFree || b.Op == trace.OpReadRange || b.Op == trace.OpWriteRange) {
				continue
			}
			if !access(a) && !allocates || !write(a) && !write(b) && !allocates || a.Flags&b.Flags&trace.FlagAtomic != 0 ||
				!order.Concurrent(i, j) || !sameRegion(a.Object, b.Object) {
				continue
			}
			alo, ahi := bytesOf(a)
			blo, bhi := bytesOf(b)
			left := [][2]int64{{max(alo, blo), min(ahi, bhi)}}
			for k := i + 1; k < j; k++ {
				m := &events[k]
				renews := m.Op == trace.OpMalloc || allocates && write(m) && m.Flags&trace.FlagAtomic == 0
				if renews && m.Size > 0 && sameRegion(m.Object, a.Object) {
					mlo, mhi := bytesOf(m)
					var rest [][2]int64
					for _, p := range left {
						for _, q := range [][2]int64{{p[0], min(p[1], mlo)}, {max(p[0], mhi), p[1]}} {
							if q[0] < q[1] { // or their number would double with each write
								rest = append(rest, q)
							}
						}
					}
					left = rest
				}
			}
			for _, p := range left {
				if p[0] < p[1] {
					found(i, j, p[0], p[1])
				}
			}
		}
	}
}

func pairOf(events []trace.Event, i, j int) [2]Access {
	p := [2]Access{{events[i].Site, events[i].Op}, {events[j].Site, events[j].Op}}
	if p[1].compare(p[0]) < 0 {
		p[0], p[1] = p[1], p[0]
	}
	return p
}

func show(events []trace.Event) string {
	s := ""
	for i, e := range events {
		s += fmt.Sprintf("%3d T%d %v site=%#x object=%#x size=%d value=%d result=%d flags=%#x\n",
			i, e.Thread, e.Op, e.Site.Offset(), uint64(e.Object), e.Size, e.Value, e.Result, e.Flags)
	}
	return s
}

var memories = map[string]memory{
	"few bytes": {sites: 12, bases: []uint64{uint64(trace.MakeObject(trace.RegionHeap, 0, 0x1000))}, spread: 20},
	"ranges": {sites: 20, bases: []uint64{
		uint64(trace.MakeObject(trace.RegionHeap, 0, 0x1fe000)), uint64(trace.MakeObject(trace.RegionGlobal, 3, 1<<27-300)),
	}, spread: 600, large: true},
	"stacks": {sites: 12, bases: []uint64{
		uint64(trace.MakeObject(trace.RegionStack, 1, 0)), uint64(trace.MakeObject(trace.RegionStack, 2, 500)),
	}, spread: 24},
}

// TestRacesAreThoseOfBruteForce: of all pairs of accesses that happens-before leaves
// unordered, exactly the same pairs of instructions are found, each with a true witness.
func TestRacesAreThoseOfBruteForce(t *testing.T) {
	for name, m := range memories {
		t.Run(name, func(t *testing.T) {
			pairs := 0
			rapid.Check(t, func(t *rapid.T) {
				tr := execution(t, m)
				want := map[[2]Access]bool{}
				witnesses := map[[2]int][][2]int64{}
				bruteForce(tr.Events, func(i, j int, lo, hi int64) {
					want[pairOf(tr.Events, i, j)] = true
					witnesses[[2]int{i, j}] = append(witnesses[[2]int{i, j}], [2]int64{lo, hi})
				})
				pairs += len(want)
				d := New()
				d.shadow.compactAt = 1 << 30
				got := d.check(tr)
				if !slices.IsSortedFunc(got, Race.Compare) {
					t.Fatalf("races are not sorted: %v", got)
				}
				for _, r := range got {
					if !want[r.Pair] {
						t.Fatalf("%v is not a race\n%s", r, show(tr.Events))
					}
					delete(want, r.Pair)
					if pairOf(tr.Events, r.First, r.Second) != r.Pair {
						t.Fatalf("witness of %v is of other instructions\n%s", r, show(tr.Events))
					}
					lo, hi := bytesOf(&trace.Event{Object: r.Object, Size: r.Size})
					if r.Size == 0 || !slices.ContainsFunc(witnesses[[2]int{r.First, r.Second}], func(p [2]int64) bool { return p[0] <= lo && hi <= p[1] }) {
						t.Fatalf("witness of %v does not race on those bytes\n%s", r, show(tr.Events))
					}
				}
				if len(want) > 0 {
					t.Fatalf("missed: %v\n%s", want, show(tr.Events))
				}
			})
			if pairs == 0 {
				t.Error("no execution had a race")
			}
		})
	}
}

// TestCompactedHistory checks the guarantee for bytes with more accesses than are kept: no false
// race is reported, and every access that races with an earlier one is found to race with one of
// them.
func TestCompactedHistory(t *testing.T) {
	missed := 0
	for name, m := range memories {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				tr := execution(t, m)
				d := New()
				d.shadow.compactAt = 1
				all, second := map[[2]Access]bool{}, map[Access]bool{}
				bruteForce(tr.Events, func(i, j int, _, _ int64) {
					all[pairOf(tr.Events, i, j)] = true
					second[Access{tr.Events[j].Site, tr.Events[j].Op}] = true
				})
				got := d.check(tr)
				for _, r := range got {
					if !all[r.Pair] {
						t.Fatalf("%v is not a race\n%s", r, show(tr.Events))
					}
					delete(second, r.Pair[0])
					delete(second, r.Pair[1])
				}
				if len(second) > 0 {
					t.Fatalf("no race found for %v\n%s", second, show(tr.Events))
				}
				missed += len(all) - len(got)
			})
		})
	}
	if missed == 0 {
		t.Error("nothing was ever compacted away")
	}
}

// TestMemoryOfOneByteIsBounded: many threads that read one byte with many instructions
// take no more than compaction allows.
func TestMemoryOfOneByteIsBounded(t *testing.T) {
	const threads, sites, rounds = 8, 1000, 3
	d := New()
	for id := range trace.ThreadID(threads) {
		d.engine.Announce(id)
	}
	object := trace.MakeObject(trace.RegionHeap, 0, 64)
	for range rounds {
		for site := range uint64(sites) {
			for id := range trace.ThreadID(threads) {
				d.Event(&trace.Event{Thread: id, Op: trace.OpRead, Site: trace.MakeSite(0, site), Object: object, Size: 1})
			}
		}
	}
	leaf := d.shadow.leaf(uint64(object) >> leafBits)
	if n := cap(leaf.cells[uint64(object)>>granuleBits%fan]); n > 4*compactAt {
		t.Errorf("%d records for one byte", n)
	}
	d.Event(&trace.Event{Thread: 0, Op: trace.OpWrite, Site: 1, Object: object, Size: 1})
	// Apart from thread 0 itself, at least one read of each thread is kept.
	if len(d.Races()) == 0 {
		t.Error("the write races with every reader, and no race was found")
	}
}

// TestLargeRangesAreCheap: an access of a gigabyte makes few nodes, wherever it begins and ends.
func TestLargeRangesAreCheap(t *testing.T) {
	for _, offset := range []uint64{0, 1, 511, 4096 + 13} {
		d := New()
		block := trace.MakeObject(trace.RegionHeap, 0, offset)
		for i := range trace.ThreadID(3) {
			d.Event(&trace.Event{Thread: i, Op: trace.OpFree, Site: trace.Site(i + 1), Object: block, Size: 1 << 30})
		}
		if d.shadow.nodes > 2*fan*(topLevel+1) {
			t.Errorf("offset %d: %d nodes for one range", offset, d.shadow.nodes)
		}
		if got := len(d.Races()); got != 3 {
			t.Errorf("offset %d: %d races among three frees of one block, want 3", offset, got)
		}
	}
}

// TestKnownAccessesAreForgotten: accesses known to all live threads take no memory.
func TestKnownAccessesAreForgotten(t *testing.T) {
	d := New()
	object := trace.MakeObject(trace.RegionHeap, 0, 64)
	for site := range uint64(10000) {
		d.Event(&trace.Event{Op: trace.OpWrite, Site: trace.MakeSite(0, site), Object: object, Size: 8})
	}
	leaf := d.shadow.leaf(uint64(object) >> leafBits)
	if n := cap(leaf.cells[uint64(object)>>granuleBits%fan]); n > 16 {
		t.Errorf("%d records, though no other thread ever lived", n)
	}
}

func TestKinds(t *testing.T) {
	site := func(i uint64) trace.Site { return trace.MakeSite(0, i) }
	x := trace.MakeObject(trace.RegionGlobal, 0, 0x40)
	access := func(thread trace.ThreadID, op trace.Op, result int32) trace.Event {
		e := trace.Event{Thread: thread, Op: op, Site: site(uint64(thread)), Object: x, Size: 4, Result: result}
		if op != trace.OpRead && op != trace.OpWrite && op != trace.OpFree {
			e.Flags = trace.FlagAtomic
		}
		return e
	}
	tests := []struct {
		a, b   trace.Op
		result int32
		race   bool
	}{
		{trace.OpRead, trace.OpRead, 0, false},
		{trace.OpRead, trace.OpWrite, 0, true},
		{trace.OpWrite, trace.OpWrite, 0, true},
		{trace.OpRead, trace.OpFree, 0, true},
		{trace.OpAtomicRmw, trace.OpFree, 0, true},
		{trace.OpAtomicLoad, trace.OpRead, 0, false},
		{trace.OpAtomicLoad, trace.OpWrite, 0, true},
		{trace.OpAtomicStore, trace.OpRead, 0, true},
		{trace.OpAtomicStore, trace.OpAtomicStore, 0, false},
		{trace.OpAtomicRmw, trace.OpAtomicLoad, 0, false},
		{trace.OpAtomicCas, trace.OpRead, 0, false},
		{trace.OpAtomicCas, trace.OpRead, 1, true},
		{trace.OpAtomicCas, trace.OpWrite, 0, true},
	}
	for _, test := range tests {
		for _, swap := range []bool{false, true} {
			a, b := access(0, test.a, test.result), access(1, test.b, test.result)
			if swap {
				a, b = access(0, test.b, test.result), access(1, test.a, test.result)
			}
			tr := &trace.Trace{Threads: make([]trace.Thread, 2), Events: []trace.Event{{Op: trace.OpThreadCreate, Value: 1}, a, b}}
			got := Check(tr)
			if (len(got) == 1) != test.race {
				t.Errorf("%v then %v (result %d): %v, want a race: %v", a.Op, b.Op, test.result, got, test.race)
			}
		}
	}
}

// TestBlocksFromAllocs: Trace.Allocs also distinguishes a block allocated again.
func TestBlocksFromAllocs(t *testing.T) {
	x := trace.MakeObject(trace.RegionHeap, 0, 0x40)
	tr := &trace.Trace{Threads: make([]trace.Thread, 2), Events: []trace.Event{
		{Op: trace.OpThreadCreate, Value: 1},
		{Op: trace.OpWrite, Site: 1, Object: x, Size: 4},
		{Op: trace.OpFree, Site: 2, Object: x, Size: 64},
		{Thread: 1, Op: trace.OpWrite, Site: 3, Object: x, Size: 4},
	}}
	if got := len(Check(tr)); got != 2 {
		t.Errorf("use after free: %d races, want 2", got)
	}
	tr.Allocs = []trace.Alloc{{Object: x, Size: 64, Event: 3, Thread: 1, Freed: -1}}
	if got := Check(tr); len(got) != 0 {
		t.Errorf("use of a new block: %v, want no race", got)
	}
}

func TestSites(t *testing.T) {
	races := []Race{
		{Pair: [2]Access{{3, trace.OpRead}, {5, trace.OpWrite}}},
		{Pair: [2]Access{{1, trace.OpWrite}, {3, trace.OpRead}}},
		{Pair: [2]Access{{4, trace.OpFree}, {9, trace.OpAtomicLoad}}},
	}
	if got, want := Sites(races), []trace.Site{1, 3, 4, 5}; !reflect.DeepEqual(got, want) {
		t.Errorf("Sites = %v, want %v", got, want)
	}
}

// TestLaterAccessSurvivesPushingDown: an access of a whole range that is split because of
// an allocation within it must not hide a later one by the same instruction.
func TestLaterAccessSurvivesPushingDown(t *testing.T) {
	heap := func(offset uint64) trace.Object { return trace.MakeObject(trace.RegionHeap, 0, offset) }
	tr := &trace.Trace{Threads: make([]trace.Thread, 3), Events: []trace.Event{
		{Op: trace.OpThreadCreate, Value: 1},
		{Op: trace.OpThreadCreate, Value: 2}, // is ordered after nothing, so that no record is dropped
		{Op: trace.OpWriteRange, Site: 1, Object: heap(0), Size: 512},
		{Op: trace.OpSemPost, Object: 5},
		{Thread: 1, Op: trace.OpSemWait, Object: 5},
		{Op: trace.OpWriteRange, Site: 1, Object: heap(16), Size: 8}, // after the post: thread 1 does not know it
		{Op: trace.OpMalloc, Object: heap(256), Size: 16},
		{Thread: 1, Op: trace.OpRead, Site: 2, Object: heap(8), Size: 8},
		{Thread: 1, Op: trace.OpRead, Site: 3, Object: heap(16), Size: 8},
	}}
	got := Check(tr)
	if len(got) != 1 || got[0].First != 5 || got[0].Second != 8 {
		t.Errorf("races %v, want one of events 5 and 8", got)
	}
}

// TestLostCompareAndSwapDoesNotHideAWonOne by the same instruction.
func TestLostCompareAndSwapDoesNotHideAWonOne(t *testing.T) {
	x := trace.MakeObject(trace.RegionHeap, 0, 8)
	tr := &trace.Trace{Threads: make([]trace.Thread, 2), Events: []trace.Event{
		{Op: trace.OpThreadCreate, Value: 1},
		{Op: trace.OpAtomicCas, Flags: trace.FlagAtomic, Site: 1, Object: x, Size: 8, Result: 1},
		{Op: trace.OpAtomicCas, Flags: trace.FlagAtomic, Site: 1, Object: x, Size: 8, Result: 0},
		{Thread: 1, Op: trace.OpRead, Site: 2, Object: x, Size: 8},
	}}
	if got := Check(tr); len(got) != 1 || got[0].First != 1 {
		t.Errorf("races %v, want one with event 1", got)
	}
}

// TestThreadsWithoutCreation: such threads exist from the start, so no access is known to all
// threads before they have run.
func TestThreadsWithoutCreation(t *testing.T) {
	x := trace.MakeObject(trace.RegionHeap, 0, 8)
	tr := &trace.Trace{Threads: make([]trace.Thread, 2)}
	for site := range trace.Site(40) {
		tr.Events = append(tr.Events, trace.Event{Op: trace.OpWrite, Site: site + 1, Object: x, Size: 8})
	}
	tr.Events = append(tr.Events, trace.Event{Thread: 1, Op: trace.OpWrite, Site: 1, Object: x, Size: 8})
	if got := Check(tr); len(got) != 40 {
		t.Errorf("%d races, want one with each of 40 writes", len(got))
	}
}

// A counter under a Mutex, as Go's race detector sees it: the lock orders nothing, the acquire and
// release around it do. Without them there is a race, and so there is when the clock's function
// accesses memory that the program did not publish to it.
func TestRacesOfGoroutines(t *testing.T) {
	const n, m, timer = trace.Object(0x40), trace.Object(0x80), trace.Object(0xc0)
	at := func(id trace.ThreadID, op trace.Op, o trace.Object, site uint64) trace.Event {
		return trace.Event{Thread: id, Op: op, Object: o, Site: trace.MakeSite(0, site), Size: 1}
	}
	add := func(id trace.ThreadID, synced bool) []trace.Event {
		out := []trace.Event{at(id, trace.OpGmutexLock, m, 1)}
		if synced {
			out = append(out, at(id, trace.OpAcquire, m, 1))
		}
		out = append(out, at(id, trace.OpRead, n, 2), at(id, trace.OpWrite, n, 3))
		if synced {
			out = append(out, at(id, trace.OpRelease, m, 4))
		}
		return append(out, at(id, trace.OpGmutexUnlock, m, 4))
	}
	gos := []trace.Event{{Op: trace.OpGo, Value: 1}, {Op: trace.OpGo, Value: 2}}
	clock := []trace.Event{at(0, trace.OpWrite, n, 5), at(0, trace.OpTimerReset, timer, 6), at(3, trace.OpTimerFire, timer, 0)}
	for _, c := range []struct {
		name   string
		events []trace.Event
		races  int
	}{
		{"locked", slices.Concat(gos, add(1, true), add(2, true)), 0},
		{"not ordered by the lock alone", slices.Concat(gos, add(1, false), add(2, false)), 2}, // write-write, and one of read-write
		{"read and write both ways", slices.Concat(gos, add(1, false), add(2, false), add(1, false)), 2},
		{"clock", slices.Concat(clock, []trace.Event{at(3, trace.OpRead, n, 7)}), 1},
		{"clock after a release", slices.Concat(clock[:1], []trace.Event{at(0, trace.OpReleaseMerge, timer, 6)}, clock[1:],
			[]trace.Event{at(3, trace.OpAcquire, timer, 0), at(3, trace.OpRead, n, 7)}), 0},
	} {
		tr := &trace.Trace{Threads: make([]trace.Thread, 4), Events: c.events}
		tr.Threads[3] = trace.Thread{ID: 3, Label: trace.ClockLabel}
		if got := Check(tr); len(got) != c.races {
			t.Errorf("%s: %d races, want %d: %v", c.name, len(got), c.races, got)
		}
	}
}

// A pool that has run many tasks, a few at a time, costs no more per task than a small one, and the
// race between its last two tasks is found.
func TestManyThreads(t *testing.T) {
	const tasks, shared, lock = 20_000, trace.Object(64), trace.Object(128)
	d := New()
	do := func(thread trace.ThreadID, op trace.Op, o trace.Object, value uint64) {
		d.Event(&trace.Event{Thread: thread, Op: op, Object: o, Value: value, Size: 8, Site: trace.Site(op)})
	}
	for id := trace.ThreadID(1); id <= tasks; id++ {
		do(0, trace.OpThreadCreate, 0, uint64(id))
		do(id, trace.OpThreadStart, 0, 0)
		do(id, trace.OpMutexLock, lock, 0)
		do(id, trace.OpWrite, shared, 0)
		do(id, trace.OpMutexUnlock, lock, 0)
		do(id, trace.OpThreadEnd, 0, 0) // detached: never joined
	}
	if races := d.Races(); len(races) != 0 {
		t.Fatalf("races %v", races)
	}
	if cost := d.engine.KnownCost(); cost > 2*tasks {
		t.Errorf("the clocks have not stayed small: %d", cost)
	}
	do(0, trace.OpThreadCreate, 0, tasks+1)
	do(tasks+1, trace.OpWrite, shared, 0)
	if races := d.Races(); len(races) != 1 {
		t.Errorf("races %v, want one", races)
	}
}
