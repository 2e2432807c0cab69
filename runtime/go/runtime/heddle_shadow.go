//go:build heddle

// Shadow memory. Each granule of 8 bytes has the number of a set of accesses: those that later ones
// can race with. Sets are immutable and unique. So an access is a transition from one set to
// another, and transitions are cached: an access repeated by the same instruction in the same epoch
// is found there and needs no comparison. hdFollow decides which accesses a set keeps; the rules
// are those of the controller's internal/analysis/race, which is the reference.
//
// The numbers of sets grow from execution to execution within a process. A number from before the
// current execution means the empty set, so nothing needs resetting between executions.
package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

const (
	hdGranuleBits  = 3
	hdRegionBits   = 22 // bytes of memory covered by a region of the shadow
	hdRegionCells  = 1 << (hdRegionBits - hdGranuleBits)
	hdAddressBits  = 47
	hdMapNoreserve = 0x4000
)

// hdTouchKind is the kind of an access, as far as races are concerned.
type hdTouchKind uint8

const (
	hdPlainRead hdTouchKind = 1 + iota
	hdPlainWrite
	hdAtomicRead
	hdAtomicWrite
)

// hdConflicts are the kinds that an access of each kind races with, as bits.
var hdConflicts = [...]uint8{
	hdPlainRead:   1<<hdPlainWrite | 1<<hdAtomicWrite,
	hdPlainWrite:  1<<hdPlainRead | 1<<hdPlainWrite | 1<<hdAtomicRead | 1<<hdAtomicWrite,
	hdAtomicRead:  1 << hdPlainWrite,
	hdAtomicWrite: 1<<hdPlainRead | 1<<hdPlainWrite,
}

// hdTouch is an access that later ones can race with.
type hdTouch struct {
	at     hdEpoch
	pc     uintptr
	thread uint32 // its number
	op     uint16
	mask   uint8 // bytes of the granule
	kind   hdTouchKind
}

const (
	hdSizeofTouch = unsafe.Sizeof(hdTouch{})

	// hdCompactAt is the number of accesses from which a set drops those that a later one of
	// the same chain covers; from hdMaxTouches on it also drops the older half.
	hdCompactAt  = 64
	hdMaxTouches = 128
)

// hdSet is a set of accesses, the oldest first.
type hdSet struct {
	_     sys.NotInHeap
	hash  uint32
	n     uint32
	next  uint32 // next set in the same bucket
	_     uint32
	touch [hdMaxTouches + 1]hdTouch // n of them
}

const hdSizeofSet = 16 // without its accesses

type hdRegion struct {
	_     sys.NotInHeap
	cells [hdRegionCells]uint32 // sets
	syncs [hdRegionCells]uint32 // hdSyncVars of a granule, linked
	next  *hdRegion
	index uintptr
}

// hdSyncVar is the happens-before state of an address that orders threads.
type hdSyncVar struct {
	_        sys.NotInHeap
	addr     uintptr
	next     uint32 // next of the same granule
	released hdReleased
}

const (
	hdStepSlots  = 1 << 12
	hdBuckets    = 1 << 15
	hdRacePairs  = 1 << 12
	hdCounters   = 1 << 13
	hdTimesClass = 27
	hdWatchLeast = 1 << 20 // bytes
	hdWatchMost  = 8 << 30 // the numbers of sets have 32 bits
)

type hdPairOf struct {
	pc  [2]uintptr
	op  [2]uint16
	run uint32
}

// hdShade is the state of race detection, in memory of its own.
var hdShade *hdShadeState

type hdShadeState struct {
	_       sys.NotInHeap
	all     *hdRegion // linked
	regions [1 << (hdAddressBits - hdRegionBits)]*hdRegion
	// step caches transitions.
	step [hdStepSlots]struct {
		from, to uint32
		at       hdEpoch
		pc       uintptr
		key      uint32
	}
	buckets [hdBuckets]uint32
	pairs   [hdRacePairs]hdPairOf
	count   [hdCounters]struct {
		pc    uintptr
		run   uint32
		count uint64
	}
	counted [hdCounters]uint16 // the counters in use
	free    [hdChainsFree]hdEpoch
	vectors [hdTimesClass + 1]*hdTimes // free lists, linked through the first entry

	scratch  [hdMaxTouches + 1]hdTouch
	run      uint32 // number of the execution
	ncounted uint32
	npairs   uint32
	nfree    uint32
	nextFree uint32
	chains   uint32

	budget uint64 // bytes
	used   uint64
	areas  [3]struct { // sets, synchronisation addresses, clocks
		at   uintptr
		size uintptr
		used uintptr
	}
	setBase  uint32 // number of the first set of the execution, less 1
	syncBase uint32
}

const (
	hdAreaSets = iota
	hdAreaSyncs
	hdAreaTimes
)

// hdShadeBegin is called when an execution begins that is to be watched with a budget in bytes. It
// reports whether the memory is available.
func hdShadeBegin(budget uint64) bool {
	if hdShade == nil {
		p, err := mmap(nil, unsafe.Sizeof(hdShadeState{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE|hdMapNoreserve, -1, 0)
		if err != 0 {
			return false
		}
		hdShade = (*hdShadeState)(p)
	}
	s := hdShade
	s.budget, s.used = min(max(budget, hdWatchLeast), hdWatchMost), 0
	for i := range s.areas {
		a := &s.areas[i]
		if a.size < uintptr(s.budget) {
			if a.at != 0 {
				munmap(unsafe.Pointer(a.at), a.size)
			}
			size := alignUp(uintptr(s.budget), physPageSize)
			p, err := mmap(nil, size, _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE|hdMapNoreserve, -1, 0)
			if err != 0 {
				a.at, a.size = 0, 0
				return false
			}
			a.at, a.size = uintptr(p), size
		}
	}
	sets := s.setBase + uint32(s.areas[hdAreaSets].used/8)
	syncs := s.syncBase + uint32(s.areas[hdAreaSyncs].used/unsafe.Sizeof(hdSyncVar{}))
	if most := uint32(s.budget / 8); sets > 1<<32-1-most-64 || syncs > 1<<32-1-most-64 {
		hdShadeForget()
		sets, syncs = 0, 0
	}
	s.setBase, s.syncBase = sets, syncs
	for i := range s.areas {
		s.areas[i].used = 0
	}
	s.vectors = [hdTimesClass + 1]*hdTimes{}
	s.ncounted, s.npairs, s.nfree, s.nextFree, s.chains = 0, 0, 0, 0, 0
	s.run++
	return true
}

// hdShadeForget resets all numbers.
func hdShadeForget() {
	s := hdShade
	for s.all != nil {
		r := s.all
		s.all = r.next
		s.regions[r.index] = nil
		munmap(unsafe.Pointer(r), unsafe.Sizeof(*r))
	}
	s.buckets = [hdBuckets]uint32{}
	for i := range s.step {
		s.step[i].to = 0
	}
}

// hdShadeGet allocates n bytes in an area. If the budget is used up it returns 0, and the execution
// is no longer watched.
func hdShadeGet(area int, n uintptr) uintptr {
	s := hdShade
	a := &s.areas[area]
	if s.used+uint64(n) > s.budget || a.used+n > a.size {
		if hd.watching {
			hdWatchStops()
			hd.result.Notes |= hdNoteUnwatched
		}
		return 0
	}
	p := a.at + a.used
	a.used += n
	s.used += uint64(n)
	return p
}

// hdTimesGet allocates 1 << class entries of a clock.
func hdTimesGet(class uint32) *hdTimes {
	s := hdShade
	if p := s.vectors[class]; p != nil {
		s.vectors[class] = *(**hdTimes)(unsafe.Pointer(p))
		return p
	}
	return (*hdTimes)(unsafe.Pointer(hdShadeGet(hdAreaTimes, unsafe.Sizeof(hdTime{})<<class)))
}

// hdTimesPut frees v's entries.
func hdTimesPut(v *hdVector) {
	if v.cap == 0 {
		return
	}
	class := sys.TrailingZeros32(v.cap)
	*(**hdTimes)(unsafe.Pointer(v.times)) = hdShade.vectors[class]
	hdShade.vectors[class] = v.times
	v.times, v.cap = nil, 0
}

// hdRegionOf returns the part of the shadow that covers addr, nil if none exists; with make set, it
// creates one.
func hdRegionOf(addr uintptr, make bool) *hdRegion {
	if addr>>hdAddressBits != 0 {
		return nil
	}
	at := &hdShade.regions[addr>>hdRegionBits]
	if *at == nil && make {
		p, err := mmap(nil, unsafe.Sizeof(hdRegion{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE|hdMapNoreserve, -1, 0)
		if err == 0 {
			*at = (*hdRegion)(p)
			(*at).next, (*at).index = hdShade.all, addr>>hdRegionBits
			hdShade.all = *at
		}
	}
	return *at
}

func hdCellOf(addr uintptr) uintptr { return addr >> hdGranuleBits % hdRegionCells }

// hdShadeRenew forgets the accesses to the memory at p, which now holds a new object.
func hdShadeRenew(p, size uintptr) {
	for end := p + size; p < end; {
		next := min(end, (p>>hdRegionBits+1)<<hdRegionBits)
		if r := hdRegionOf(p, false); r != nil {
			from, to := hdCellOf(p), hdCellOf(next-1)+1
			memclrNoHeapPointers(unsafe.Pointer(&r.cells[from]), (to-from)*4)
			memclrNoHeapPointers(unsafe.Pointer(&r.syncs[from]), (to-from)*4)
		}
		p = next
	}
}

// hdReleasedAt returns the clock released at addr.
func hdReleasedAt(addr uintptr) *hdReleased {
	r := hdRegionOf(addr, true)
	if r == nil {
		return nil
	}
	s := hdShade
	a := &s.areas[hdAreaSyncs]
	cell := &r.syncs[hdCellOf(addr)]
	first := *cell
	for i := first; i > s.syncBase; {
		v := (*hdSyncVar)(unsafe.Pointer(a.at + uintptr(i-s.syncBase-1)*unsafe.Sizeof(hdSyncVar{})))
		if v.addr == addr {
			return &v.released
		}
		i = v.next
	}
	p := hdShadeGet(hdAreaSyncs, unsafe.Sizeof(hdSyncVar{}))
	if p == 0 {
		return nil
	}
	v := (*hdSyncVar)(unsafe.Pointer(p))
	*v = hdSyncVar{addr: addr, next: first}
	*cell = s.syncBase + uint32((p-a.at)/unsafe.Sizeof(hdSyncVar{})) + 1
	return &v.released
}

// ---- sets

func hdSetAt(id uint32) *hdSet {
	s := hdShade
	return (*hdSet)(unsafe.Pointer(s.areas[hdAreaSets].at + uintptr(id-s.setBase-1)*8))
}

// hdIntern returns the number of the set of the first n accesses of the scratch, 0 if memory runs
// out.
func hdIntern(n int) uint32 {
	s := hdShade
	h := uint64(n)
	for i := range n {
		x := &s.scratch[i]
		h = hdMix(h, uint64(x.at)^uint64(x.pc)*31^uint64(x.thread)<<40^uint64(x.op)<<16^uint64(x.mask)<<8^uint64(x.kind))
	}
	bucket := &s.buckets[h>>32%hdBuckets]
	first := *bucket
	if first <= s.setBase {
		first = 0
	}
	for id := first; id != 0; {
		set := hdSetAt(id)
		if set.hash == uint32(h) && int(set.n) == n {
			same := true
			for i := range n {
				if set.touch[i] != s.scratch[i] {
					same = false
					break
				}
			}
			if same {
				return id
			}
		}
		id = set.next
	}
	p := hdShadeGet(hdAreaSets, hdSizeofSet+uintptr(n)*hdSizeofTouch)
	if p == 0 {
		return 0
	}
	set := (*hdSet)(unsafe.Pointer(p))
	set.hash, set.n, set.next = uint32(h), uint32(n), first
	for i := range n {
		set.touch[i] = s.scratch[i]
	}
	id := s.setBase + uint32((p-s.areas[hdAreaSets].at)/8) + 1
	*bucket = id
	return id
}

// hdShadeAccess checks an access of t to bytes [addr, addr+size) against earlier ones and adds it
// to them.
func hdShadeAccess(t *hdThread, kind hdTouchKind, op uint16, pc, addr, size uintptr) {
	s := hdShade
	t.accesses()
	hd.result.Watched++
	at := t.order.epoch
	r := hdRegionOf(addr, true)
	if size == 0 || r == nil {
		return
	}
	lastFrom, lastTo, lastMask := uint32(0), uint32(0), uint8(0)
	for end := addr + size; addr < end; {
		next := min(end, addr&^7+8)
		mask := uint8(0xff) >> (8 - (next - addr)) << (addr & 7)
		cell := &r.cells[hdCellOf(addr)]
		from := *cell
		if from <= s.setBase {
			from = 0
		}
		if from == lastFrom && mask == lastMask {
			*cell = lastTo // for a long access
		} else {
			key := uint32(op)<<16 | uint32(kind)<<8 | uint32(mask)
			step := &s.step[(uint64(from)*0x9e3779b1^uint64(pc)*31^uint64(at)*0x85ebca77^uint64(at>>32)*0xc2b2ae3d^uint64(mask))%hdStepSlots]
			if step.from != from || step.at != at || step.pc != pc || step.key != key || step.to <= s.setBase {
				to := hdFollow(t, from, &hdTouch{at: at, pc: pc, thread: t.number, op: op, mask: mask, kind: kind}, addr&^7)
				if to == 0 {
					return // the budget is used up
				}
				step.from, step.to, step.at, step.pc, step.key = from, to, at, pc, key
			}
			*cell = step.to
			lastFrom, lastTo, lastMask = from, step.to, mask
		}
		if addr = next; addr%(1<<hdRegionBits) == 0 && addr < end {
			if r = hdRegionOf(addr, true); r == nil {
				return
			}
		}
	}
}

// hdFollow returns the set that results from adding x to set from, and reports races.
func hdFollow(t *hdThread, from uint32, x *hdTouch, granule uintptr) uint32 {
	s := hdShade
	n := 0
	if from != 0 {
		set := hdSetAt(from)
		for i := range set.n {
			o := &set.touch[i]
			if o.pc == x.pc && o.op == x.op && o.at == x.at && o.mask == x.mask && o.kind == x.kind {
				return from // its races have been reported
			}
			if m := o.mask & x.mask; m != 0 && hdConflicts[x.kind]>>o.kind&1 != 0 && !t.order.clock.covers(o.at) {
				first := sys.TrailingZeros8(m)
				bytes := sys.TrailingZeros8(^(m >> first)) // a mask may have gaps
				hdRaced(t, o, x, granule+uintptr(first), uint32(bytes))
			}
		}
		for i := range set.n {
			o := set.touch[i]
			// A record of the same instruction, by one thread or by two one after the
			// other, is replaced: the later one races with whatever the earlier one
			// would.
			if o.mask&x.mask != 0 && o.pc == x.pc && o.op == x.op && o.kind == x.kind && o.at>>32 == x.at>>32 {
				if o.mask &^= x.mask; o.mask == 0 {
					continue
				}
			}
			s.scratch[n] = o
			n++
		}
	}
	s.scratch[n] = *x
	n++
	if n >= hdCompactAt {
		if n = hdCompact(n); n >= hdMaxTouches {
			for i := range hdMaxTouches / 2 {
				s.scratch[i] = s.scratch[n-hdMaxTouches/2+i]
			}
			n = hdMaxTouches / 2
		}
	}
	return hdIntern(n)
}

// hdCompact drops accesses from the first n of the scratch: those for which a later one of the same
// chain races with everything that they race with.
func hdCompact(n int) int {
	s := hdShade
	kept := 0
	for i := range n {
		x := s.scratch[i]
		stands := false
		for j := i + 1; j < n && !stands; j++ {
			o := &s.scratch[j]
			stands = o.at>>32 == x.at>>32 && hdConflicts[x.kind]&^hdConflicts[o.kind] == 0 && x.mask&^o.mask == 0
		}
		if !stands {
			s.scratch[kept] = x
			kept++
		}
	}
	return kept
}
