//go:build heddle

// Holds keep threads before instructions, as docs/scheduler.md specifies. A held thread is hidden from
// the policy but stays enabled.
package runtime

import (
	"internal/runtime/sys"
	"unsafe"
)

const hdHoldSlots = 2 * hdHoldObjects

// hdHoldObject is an object on which holds depend.
type hdHoldObject struct {
	obj   uintptr
	last  uint64 // the instruction that changed it last, 0 if none is remembered
	done  uint64 // the holds whose until was done on it
	epoch uint64
}

// hdHolding is the state of holds in an execution.
var hdHolding struct {
	*hdHoldTables
	list     unsafe.Pointer // of hdHold, in the plan
	counts   [hdHolds]hdHoldCount
	once     uint64          // the holds whose until was done on any object
	waiting  [hdWords]uint64 // threads with holds for their pending operations
	held     [hdWords]uint64 // those for which one was in force at the present decision
	shown    [hdWords]uint64 // hd.enabled, while threads are hidden
	n        uint32          // threads in held
	nobjects uint32
	epoch    uint64
}

// hdHoldTables is in memory of its own; executions touch only the parts that they need.
type hdHoldTables struct {
	_        sys.NotInHeap
	arrivals [hdSlotsMax][hdHolds]uint32 // by slot: the thread's arrivals at each hold's site
	objects  [hdHoldSlots]hdHoldObject
}

func hdHold_(i uint32) *hdHold { return (*hdHold)(add(hdHolding.list, uintptr(i)*hdSizeofHold)) }

func hdHoldsBegin() {
	p := &hd.plan
	if p.Nholds == 0 || hd.warm {
		p.Nholds = 0
		return
	}
	h := &hdHolding
	if h.hdHoldTables == nil {
		m, err := mmap(nil, unsafe.Sizeof(hdHoldTables{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
		if err != 0 {
			hdLeave(hdStateFatal, "no memory for holds")
		}
		h.hdHoldTables = (*hdHoldTables)(m)
	}
	h.list = add(hd.names, uintptr(p.Nthreads)*8+uintptr(p.Npoints)*8)
	clear(h.counts[:])
	clear(h.waiting[:])
	clear(h.held[:])
	h.once, h.n, h.nobjects = 0, 0, 0
	h.epoch++
}

func hdHoldsThread(t *hdThread) {
	clear(hdHolding.arrivals[t.index][:])
	hdDel(&hdHolding.waiting, t.index)
}

// hdHoldsObject returns what is remembered of an object, nil if nothing is or, with create, if too
// many are.
func hdHoldsObject(obj uintptr, create bool) *hdHoldObject {
	h := &hdHolding
	for i := hdMix(uint64(obj), 0x68) >> 20 % hdHoldSlots; ; i = (i + 1) % hdHoldSlots {
		o := &h.objects[i]
		if o.epoch == h.epoch {
			if o.obj == obj {
				return o
			}
			continue
		}
		if !create || h.nobjects == hdHoldObjects {
			return nil
		}
		h.nobjects++
		*o = hdHoldObject{obj: obj, epoch: h.epoch}
		return o
	}
}

func hdSameObject(a, b *hdPend) bool {
	na, nb := max(uintptr(a.size), 1), max(uintptr(b.size), 1)
	if a.op == hdOpSelect || b.op == hdOpSelect {
		na, nb = 1, 1 // their sizes count cases
	}
	return a.obj != 0 && b.obj != 0 && a.obj < b.obj+nb && b.obj < a.obj+na
}

// hdHoldPasses reports whether u's operation is on an object that ends a hold of t.
func hdHoldPasses(h *hdHold, t, u *hdThread) bool {
	return h.Flags&hdHoldSame == 0 || hdSameObject(&t.pend, &u.pend)
}

// hdInstruction reports whether t stands before an instruction of the program that holds may name.
func hdInstruction(t *hdThread) bool {
	return t != hd.clock && t.pend.pc != 0 && t.pend.op != hdOpThreadStart && t.pend.op != hdOpResume && !t.forced
}

// Reasons why a hold ends.
const (
	hdHoldDone = iota
	hdHoldNobody
	hdHoldSteps
	hdHoldScript
)

// hdHoldEnds ends hold i of t. It counts if the hold was in force.
func hdHoldEnds(t *hdThread, i uint32, why int) {
	if t.felt>>i&1 != 0 {
		c := &hdHolding.counts[i]
		switch why {
		case hdHoldDone:
			c.Done++
		case hdHoldNobody:
			c.Nobody++
		case hdHoldSteps:
			c.Steps++
		case hdHoldScript:
			c.Script++
		}
	}
	if t.holds &^= 1 << i; t.holds == 0 {
		hdDel(&hdHolding.waiting, t.index)
	}
}

// hdHoldStands reports whether another thread stands before the until of a hold for t.
func hdHoldStands(h *hdHold, t *hdThread) bool {
	for i := range hd.nthreads {
		u := &hd.threads[i]
		if u != t && u.state == hdReady && hdInstruction(u) && uint64(u.pend.pc) == h.Until && hdHoldPasses(h, t, u) {
			return true
		}
	}
	return false
}

// hdHoldsArrive is called when t has reached its pending operation.
func hdHoldsArrive(t *hdThread) {
	t.holds, t.felt = 0, 0
	hdDel(&hdHolding.waiting, t.index)
	if !hdInstruction(t) {
		return
	}
	pc := uint64(t.pend.pc)
	for i := range hd.plan.Nholds {
		h := hdHold_(i)
		if h.Site != pc || h.Thread != ^uint32(0) && h.Thread+1 != t.planned {
			continue
		}
		hdHolding.arrivals[t.index][i]++
		if h.Arrival != 0 && h.Arrival != hdHolding.arrivals[t.index][i] {
			continue
		}
		hdHolding.counts[i].Arrived++
		if h.Flags&hdHoldEver != 0 {
			done := hdHolding.once
			if h.Flags&hdHoldSame != 0 {
				done = 0
				if o := hdHoldsObject(t.pend.obj, false); o != nil {
					done = o.done
				}
			}
			if done>>i&1 != 0 {
				continue
			}
		}
		if h.Flags&hdHoldReached != 0 && hdHoldStands(h, t) {
			continue
		}
		t.holds |= 1 << i
	}
	t.heldAt = hd.points
	for w := range hd.nwords {
		for m := hdHolding.waiting[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			for b := u.holds; b != 0; b &= b - 1 {
				i := uint32(sys.TrailingZeros64(b))
				if h := hdHold_(i); h.Flags&hdHoldReached != 0 && h.Until == pc && hdHoldPasses(h, u, t) {
					hdHoldEnds(u, i, hdHoldDone)
				}
			}
		}
	}
	if t.holds != 0 {
		hdAdd(&hdHolding.waiting, t.index)
	}
}

// hdHoldInForce reports whether the object that t is about to touch is in the state in which h is in
// force.
func hdHoldInForce(h *hdHold, t *hdThread) bool {
	if h.Last == 0 {
		return true
	}
	o := hdHoldsObject(t.pend.obj, false)
	return (o != nil && o.last == h.Last) != (h.Flags&hdHoldNot != 0)
}

// hdHoldsLook determines, before a decision, which threads are held.
func hdHoldsLook(lingers bool) {
	late := lingers || hd.late
	hdHolding.n = 0
	for w := range hd.nwords {
		hdHolding.held[w] = 0
		for m := hdHolding.waiting[w]; m != 0; m &= m - 1 {
			t := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			inForce := false
			for b := t.holds; b != 0; b &= b - 1 {
				i := uint32(sys.TrailingZeros64(b))
				h := hdHold_(i)
				if late || h.Steps != 0 && hd.points-t.heldAt >= uint64(h.Steps) {
					hdHoldEnds(t, i, hdHoldSteps)
				} else if hdHoldInForce(h, t) {
					inForce = true
					if t.felt>>i&1 == 0 {
						t.felt |= 1 << i
						hdHolding.counts[i].Held++
					}
				}
			}
			if inForce {
				hdAdd(&hdHolding.held, t.index)
				hdHolding.n++
			}
		}
	}
}

// hdHoldsChosen ends the holds of the chosen thread.
func hdHoldsChosen(t *hdThread, script bool) {
	why := hdHoldNobody
	if script {
		why = hdHoldScript
	} else if hd.points-t.ran >= hdStarved {
		why = hdHoldSteps
	}
	for b := t.holds; b != 0; b &= b - 1 {
		i := uint32(sys.TrailingZeros64(b))
		if hdHoldInForce(hdHold_(i), t) {
			hdHoldEnds(t, i, why)
		} else {
			hdHoldEnds(t, i, hdHoldDone)
		}
	}
}

// hdChanges reports whether the operation may have changed its object.
func hdChanges(p *hdPend) bool {
	return !hdReads(p.op) && (p.op != hdOpAtomicCas || p.result != 0)
}

// hdHoldsDone is called when t's operation is an event, with its flags.
func hdHoldsDone(t *hdThread, flags uint32) {
	if !hdInstruction(t) || flags&hdEvForced != 0 {
		return
	}
	pc, ever, keep := uint64(t.pend.pc), uint64(0), false
	for i := range hd.plan.Nholds {
		h := hdHold_(i)
		if h.Until == pc && h.Flags&hdHoldEver != 0 {
			ever |= 1 << i
		}
		keep = keep || h.Last == pc
	}
	hdHolding.once |= ever
	if t.pend.obj != 0 {
		change := hdChanges(&t.pend)
		if o := hdHoldsObject(t.pend.obj, ever != 0 || keep && change); o != nil {
			o.done |= ever
			if change {
				o.last = pc
			}
		}
	}
	for w := range hd.nwords {
		for m := hdHolding.waiting[w]; m != 0; m &= m - 1 {
			u := &hd.threads[w*64+uint32(sys.TrailingZeros64(m))]
			if u == t {
				continue
			}
			for b := u.holds; b != 0; b &= b - 1 {
				i := uint32(sys.TrailingZeros64(b))
				if h := hdHold_(i); h.Until == pc && hdHoldPasses(h, u, t) {
					hdHoldEnds(u, i, hdHoldDone)
				}
			}
		}
	}
}

// hdHoldWaits reports whether u can do no more than wait for a held thread, or for one that is not
// enabled: it spins, and has looked since anything changed.
func hdHoldWaits(u *hdThread) bool { return u != hd.clock && hdSpinning(u) && u.ran > hd.progress }

// hdHoldsHide removes the threads that the policy must not choose from the enabled ones; false if no
// thread is held.
func hdHoldsHide() bool {
	h := &hdHolding
	if h.n == 0 {
		return false
	}
	only := hdHoldsOnly()
	for w := range hd.nwords {
		h.shown[w] = hd.enabled[w]
		if only {
			hd.enabled[w] = hd.decision[w] & h.held[w]
		} else {
			hd.enabled[w] &^= h.held[w]
		}
	}
	return true
}

// hdHoldsOnly reports whether all threads that are not held wait, and a held one is enabled.
func hdHoldsOnly() bool {
	h := &hdHolding
	blocked, some := true, false
	for w := range hd.nwords {
		some = some || hd.decision[w]&h.held[w] != 0
		for m := hd.enabled[w] &^ h.held[w]; m != 0 && blocked; m &= m - 1 {
			blocked = hdHoldWaits(&hd.threads[w*64+uint32(sys.TrailingZeros64(m))])
		}
	}
	return blocked && some
}

// hdHoldsWait reports whether time may pass, since of the enabled threads only those that are held could go on.
func hdHoldsWait() bool {
	h := &hdHolding
	if h.n == 0 || !hdHoldsOnly() {
		return false
	}
	for w := range hd.nwords {
		for m := h.held[w]; m != 0; m &= m - 1 {
			for b := hd.threads[w*64+uint32(sys.TrailingZeros64(m))].holds; b != 0; b &= b - 1 {
				if hdHold_(uint32(sys.TrailingZeros64(b))).Flags&hdHoldTime != 0 {
					return true
				}
			}
		}
	}
	return false
}

func hdHoldsShow() {
	for w := range hd.nwords {
		hd.enabled[w] = hdHolding.shown[w]
	}
}

func hdHoldsReport() {
	if n := hd.plan.Nholds; n != 0 {
		hdOut(hdRecHolds, unsafe.Pointer(&hdHolding.counts), uintptr(n)*hdSizeofHoldCount)
	}
}
