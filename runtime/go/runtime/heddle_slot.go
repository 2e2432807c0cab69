//go:build heddle

// Slots of threads. A slot is a place in hd.threads, and so a bit in every set of threads. Slots of
// ended goroutines are reused, the one that has been free for longest first: a goroutine's slot is
// a function of the schedule. A plan's threads are found by name.
package runtime

import "unsafe"

const (
	// hdSlotsMax is how many goroutines can exist at one time. The enabled set of an event
	// that many goroutines share fills at most half a block of events (heddle_event.go).
	hdSlotsMax    = 1 << 17
	hdPlanThreads = 1 << 20 // trace.MaxThreads: goroutines of an execution, and entries of a plan's table
	hdNameSlots   = 2 * hdPlanThreads
)

// hdTooMany states hdSlotsMax in words: its users must not allocate.
const hdTooMany = "more than 131072 goroutines at one time"

var _ [0]struct{} = [hdSlotsMax - 131072]struct{}{}

// hdSlots is in memory of its own; executions touch only the parts that they need.
var hdSlots struct {
	*hdSlotTables
	first, n uint32 // of free, which is a ring
	names    uint32 // size of byName in use, a power of two
	indexed  uint64 // id of the plan that byName describes
	expected uint32 // plan index of the thread likely to be created next
}

type hdSlotTables struct {
	free    [hdSlotsMax]uint32
	planned [hdPlanThreads]uint32 // plan index to slot + 1; the slot may hold another thread by now
	byName  [hdNameSlots]uint32   // plan index + 1, by hash
}

func hdSlotInit() {
	p, err := mmap(nil, unsafe.Sizeof(hdSlotTables{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
	if err != 0 {
		hdLeave(hdStateFatal, "no memory for the places of goroutines")
	}
	hdSlots.hdSlotTables = (*hdSlotTables)(p)
}

func hdSlotBegin() { hdSlots.first, hdSlots.n = 0, 0 }

// hdSlotRetire is called when t has ended.
func hdSlotRetire(t *hdThread) {
	hdSlots.free[(hdSlots.first+hdSlots.n)%hdSlotsMax] = t.index
	hdSlots.n++
}

// hdSlotGet returns a slot for a new thread, ^0 if none exists. It does not reuse the slot of the
// thread that ran last, whose data may still be needed.
func hdSlotGet() uint32 {
	for range hdSlots.n {
		i := hdSlots.free[hdSlots.first]
		hdSlots.first = (hdSlots.first + 1) % hdSlotsMax
		hdSlots.n--
		t := &hd.threads[i]
		if t != hd.cur && t != hd.turn && i != hd.lastRan {
			if hd.record || hd.settle.recorded {
				hdReport(t)
			}
			return i
		}
		hdSlotRetire(t)
	}
	i := hd.nthreads
	if i >= hdSlotsMax {
		return ^uint32(0)
	}
	hd.nthreads++
	if hd.nthreads > 64*hd.nwords {
		hd.enabled[hd.nwords], hd.decision[hd.nwords] = 0, 0
		hd.nwords++
	}
	return i
}

// ---- a plan's threads

func hdPlanName(i uint32) uint64 { return *(*uint64)(add(hd.names, uintptr(i)*8)) }

func hdNamePlace(name uint64) uint32 { return uint32(hdMix(name, 0x73)>>32) & (hdSlots.names - 1) }

func hdScriptBegin() {
	if hd.budget = uint64(hd.plan.MaxSteps); hdEndsWithScript() {
		hd.budget = 1<<32 - 1
	}
	n := min(hd.plan.Nthreads, hdPlanThreads)
	clear(hdSlots.planned[:n])
	hdSlots.expected = 0
	if n == 0 || hdSlots.indexed == hd.plan.Id {
		return
	}
	for hdSlots.names = 64; hdSlots.names < 2*n; {
		hdSlots.names *= 2
	}
	clear(hdSlots.byName[:hdSlots.names])
	for i := range n {
		name := hdPlanName(i)
		h := hdNamePlace(name)
		for hdSlots.byName[h] != 0 && hdPlanName(hdSlots.byName[h]-1) != name {
			h = (h + 1) & (hdSlots.names - 1)
		}
		if hdSlots.byName[h] == 0 {
			hdSlots.byName[h] = i + 1
		}
	}
	hdSlots.indexed = hd.plan.Id
}

// hdScriptThread finds the thread in the plan's table.
func hdScriptThread(t *hdThread) {
	n := min(hd.plan.Nthreads, hdPlanThreads)
	if n == 0 {
		return
	}
	i := hdSlots.expected
	if i >= n || hdPlanName(i) != t.name {
		for h := hdNamePlace(t.name); ; h = (h + 1) & (hdSlots.names - 1) {
			if hdSlots.byName[h] == 0 {
				return
			}
			if i = hdSlots.byName[h] - 1; hdPlanName(i) == t.name {
				break
			}
		}
	}
	hdSlots.expected = i + 1
	hdSlots.planned[i] = t.index + 1
	t.planned = i + 1
}

// hdPlanned returns the thread at index i of the plan's table, nil if it has not been created yet
// or has ended.
func hdPlanned(i uint32) *hdThread {
	if i >= min(hd.plan.Nthreads, hdPlanThreads) || hdSlots.planned[i] == 0 {
		return nil
	}
	if t := &hd.threads[hdSlots.planned[i]-1]; t.planned == i+1 {
		return t
	}
	return nil
}
