//go:build heddle

// Recording. Events are collected and sent in blocks; each call stack is sent once and then
// referred to by number. Objects are numbered in the order in which an execution first touches
// their memory blocks, so their names do not depend on the allocator.
package runtime

import "unsafe"

const (
	hdBlockEvents    = 512
	hdStackSlots     = 1 << 12
	hdSignatureSlots = 1 << 14
	hdPointSlots     = 1 << 12
	hdObjSlots       = 1 << 20
)

// hdBig is the recorder's data, in memory of its own.
type hdBig struct {
	block  [hdBlockEvents]hdEvent
	stacks [hdStackSlots]struct {
		hash   uint64
		number uint32
		epoch  uint32
	}
	signature [hdSignatureSlots]struct {
		obj   uintptr
		hash  uint64
		epoch uint64
	}
	objects [hdObjSlots]struct {
		base  uintptr
		id    uint32
		epoch uint32
	}
}

var hdEv struct {
	*hdBig
	n       int
	epoch   uint64
	nstacks uint32
	nobj    uint32
	sent    uint64 // events of the execution
}

func hdEventInit() {
	p, err := mmap(nil, unsafe.Sizeof(hdBig{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
	if err != 0 {
		hdLeave(hdStateFatal, "no memory for events")
	}
	hdEv.hdBig = (*hdBig)(p)
}

func hdEventBegin() {
	hdEv.n, hdEv.nstacks, hdEv.nobj, hdEv.sent = 0, 0, 0, 0
	hdUnsettled.event = 0
	hdEv.epoch++
}

func hdFlush() {
	hdSettleValue()
	if hdEv.n > 0 {
		hdOut(hdRecEvents, unsafe.Pointer(&hdEv.block[0]), uintptr(hdEv.n)*hdSizeofEvent)
	}
	hdEv.n = 0
}

// hdRecordSlot records that t occupies its slot from now on.
func hdRecordSlot(t *hdThread) {
	if hdEv.n == hdBlockEvents {
		hdFlush()
	}
	hdEv.block[hdEv.n] = hdEvent{Thread: t.number, Value: uint64(t.index)}
	hdEv.n++
}

// hdRecord records operation p of thread t.
func hdRecord(t *hdThread, p *hdPend, flags uint32) {
	object := hdObject(p.obj)
	if object == hdNameless && p.op >= hdOpRead && p.op <= hdOpWriteRange {
		if flags&hdEvNodecision != 0 {
			return
		}
		object = 0
	}
	hdSettleValue()
	ext := 0
	if hd.nwords > 1 && flags&hdEvNodecision == 0 {
		ext = int(hd.nwords-1+7) / 8
	}
	if hdEv.n+1+ext > hdBlockEvents {
		hdFlush()
	}
	e := &hdEv.block[hdEv.n]
	hdEv.n++
	hdEv.sent++
	*e = hdEvent{Thread: t.number, Op: p.op, Size: p.size, Pc: uint64(p.pc), Object: object,
		Value: p.value, Aux: uint64(p.aux), Flags: uint16(flags), Result: p.result, Stack: p.stack}
	if p.op >= hdOpAtomicLoad && p.op <= hdOpAtomicCas {
		e.Flags |= hdEvAtomic | 5<<4 // Go's are sequentially consistent
		if p.size == 8 {
			e.Value, e.Aux = hdPointer(e.Value), hdPointer(e.Aux)
		}
	}
	if hd.values && p.op >= hdOpRead && p.op <= hdOpWriteRange {
		hdValue(e, p)
	}
	if flags&hdEvNodecision == 0 {
		e.Enabled = hd.decision[0]
		e.Mask = uint32(ext)
	} else {
		e.Enabled = 0
		if t.index < 64 {
			e.Enabled = 1 << t.index
		}
	}
	if ext > 0 {
		words := (*[hdWords]uint64)(unsafe.Pointer(&hdEv.block[hdEv.n]))
		for i := range ext * 8 {
			words[i] = 0
			if i+1 < int(hd.nwords) {
				words[i] = hd.decision[i+1]
			}
		}
		hdEv.n += ext
	}
}

// hdNote records an operation of the running goroutine that is not a scheduling decision.
//
//go:nosplit
func hdNote(op uint16, pc, obj uintptr, value uint64) {
	if !hd.active || !hd.record {
		return
	}
	t := hdThreadOf(getg().m.curg)
	if t == nil {
		return
	}
	systemstack(func() {
		p := hdPend{op: op, pc: pc, obj: obj, value: value}
		hdRecord(t, &p, hdEvNodecision)
	})
}

// hdPointer returns a value of an atomic operation. If it is the address of a heap object, that is
// the object's name: addresses differ between processes.
func hdPointer(v uint64) uint64 {
	if span := spanOf(uintptr(v)); span != nil && span.state.get() == mSpanInUse {
		return hdObject(uintptr(v))
	}
	return v
}

// hdObject returns the name of the memory at addr.
func hdObject(addr uintptr) uint64 {
	if addr == 0 {
		return 0
	}
	for md := &firstmoduledata; md != nil; md = md.next {
		if addr >= md.text && addr < md.end {
			return uint64(addr) // the controller resolves addresses of the program's data
		}
	}
	if span := spanOf(addr); span != nil {
		switch span.state.get() {
		case mSpanInUse:
			base := span.base() + span.objIndex(addr)*span.elemsize
			return hdTyped(base, hdHeap(base, uint64(addr-base)))
		case mSpanManual:
			for i := range hd.nthreads {
				t := &hd.threads[i]
				gp := t.gp.ptr()
				if gp != nil && t.goid == gp.goid && t.state != hdEnded && addr >= gp.stack.lo && addr < gp.stack.hi {
					return hdStackObject(t.number, uint64(gp.stack.hi-addr))
				}
			}
		}
	}
	return hdHeap(addr&^(1<<13-1), uint64(addr&(1<<13-1)))
}

// hdStackObject is trace.MakeObject of a stack.
func hdStackObject(thread uint32, off uint64) uint64 {
	if thread >= 1<<hdIndexBits {
		return hdRegionFarStack<<hdRegionShift | uint64(thread)<<hdFarOffsetBits | off
	}
	return hdRegionStack<<hdRegionShift | uint64(thread)<<hdOffsetBits | off
}

// hdHeap returns the name of offset off in the object at base, numbered by first touch.
func hdHeap(base uintptr, off uint64) uint64 {
	base += uintptr(off >> hdHeapOffsetBits << hdHeapOffsetBits)
	off &= 1<<hdHeapOffsetBits - 1
	i := hdObjectSlot(base)
	if i < 0 {
		return hdNameless
	}
	o := &hdEv.objects[i]
	if o.epoch != uint32(hdEv.epoch) {
		o.epoch, o.base, o.id = uint32(hdEv.epoch), base, 0
	}
	if o.id == 0 {
		hdEv.nobj++
		o.id = hdEv.nobj
	}
	return hdRegionHeap<<hdRegionShift | uint64(o.id)<<hdHeapOffsetBits | off
}

// hdNameless represents every object beyond the capacity of the name table. Synchronisation on them
// counts as being on one object, which adds ordering; accesses to them are not recorded,
// because two unrelated ones would look like a race.
const hdNameless = hdRegionHeap << hdRegionShift

// hdObjectSlot returns the slot of the object at base, occupied or free; -1 if the table is full.
func hdObjectSlot(base uintptr) int {
	i, step := uint64(base>>4), uint64(0)
	for range 1 << 10 {
		if o := &hdEv.objects[i%hdObjSlots]; o.epoch != uint32(hdEv.epoch) || o.base == base {
			return int(i % hdObjSlots)
		}
		i, step = hdNextSlot(i, step, base)
	}
	return -1
}

// hdNextSlot returns the slot to try after slot i of a hash table whose keys are addresses. The
// first slot tried is the address itself, so that neighbours share pages and a new process touches
// few; later ones are far apart.
func hdNextSlot(i, step uint64, key uintptr) (next, nextStep uint64) {
	if step == 0 {
		step = hdMix(uint64(key), 0x6f) | 1
	}
	return i + step, step
}

// hdAllocated is called when size bytes have been allocated at p.
//
//go:nosplit
func hdAllocated(p unsafe.Pointer, size uintptr) {
	if !hd.active {
		return
	}
	if gp := getg(); gp.hd != nil && gp.hd.goid == gp.goid {
		hd.allocated += uint64(size)
	}
	if hd.record && hdEv.nobj > 0 {
		systemstack(func() { hdRenew(uintptr(p)) })
	}
	if hd.watching {
		systemstack(func() { hdShadeRenew(uintptr(p), size) })
	}
}

// hdRenew separates the new object at p from the freed one that was there before: operations on the
// old object do not concern the new one. With the race tag no two objects share a block, however
// small they are.
func hdRenew(p uintptr) {
	span := spanOfHeap(p)
	if span == nil {
		return
	}
	base := span.base() + span.objIndex(p)*span.elemsize
	for at := base; at < base+span.elemsize; at += 1 << hdHeapOffsetBits {
		if i := hdObjectSlot(at); i >= 0 && hdEv.objects[i].base == at {
			hdEv.objects[i].id = 0
		}
	}
}

// hdStack returns the number of gp's stack from pc outwards, without the part up to from.
func hdStack(gp *g, pc, fp, from uintptr) uint32 {
	pcs := hdPcs(gp, pc, fp)
	for i, p := range pcs {
		if p == from {
			pcs = pcs[i+1:]
			break
		}
	}
	for len(pcs) > 0 && hdClassOf(pcs[len(pcs)-1]) == hdSkipLibrary { // runtime.goexit
		pcs = pcs[:len(pcs)-1]
	}
	if len(pcs) == 0 {
		return 0
	}
	h := uint64(len(pcs))
	for _, p := range pcs {
		h = hdMix(h, uint64(p))
	}
	for n, i := 0, h>>40%hdStackSlots; n < 16; n, i = n+1, (i+1)%hdStackSlots {
		s := &hdEv.stacks[i]
		if s.epoch == uint32(hdEv.epoch) {
			if s.hash == h {
				return s.number
			}
			continue
		}
		hdEv.nstacks++
		s.epoch, s.hash, s.number = uint32(hdEv.epoch), h, hdEv.nstacks
		head := [2]uint32{s.number, uint32(len(pcs))}
		hdOut2(hdRecStack, unsafe.Pointer(&head), 8, unsafe.Pointer(&pcs[0]), uintptr(len(pcs))*8)
		return s.number
	}
	return 0
}

// hdBacktrace sends the stack of the goroutine that ends the execution.
//
//go:nosplit
func hdBacktrace(pc, fp uintptr) {
	systemstack(func() {
		pcs := hdPcs(getg().m.curg, pc, fp)
		for len(pcs) > 1 && hdClassOf(pcs[0]) == hdSkipLibrary {
			pcs = pcs[1:]
		}
		hdSendBacktrace(pcs)
	})
}

func hdSendBacktrace(pcs []uintptr) {
	if len(pcs) > 0 {
		hdOut(hdRecBacktrace, unsafe.Pointer(&pcs[0]), uintptr(len(pcs))*8)
	}
}

// hdThreads reports all threads of the execution whose slots have not been reused.
func hdThreads() {
	for i := range hd.nthreads {
		hdReport(&hd.threads[i])
	}
}

func hdReport(t *hdThread) {
	info := hdThreadInfo{Number: t.number, Parent: t.parent, Nth: t.nth, Name: t.name, Entry: uint64(t.entry)}
	if t.state == hdEnded {
		info.Flags |= 1
	}
	if t == hd.clock {
		info.Flags |= 8
	}
	hdOut(hdRecThread, unsafe.Pointer(&info), hdSizeofThreadInfo)
}

// hdSignature chains the thread's operation to those of its object. The sum over all threads is
// equal for executions that order conflicting operations alike (runtime/c/core/signature.c).
func hdSignature(t *hdThread) {
	p := &t.pend
	i, step := uint64(p.obj>>3), uint64(0)
	for range 8 {
		if c := &hdEv.signature[i%hdSignatureSlots]; c.epoch != hdEv.epoch || c.obj == p.obj {
			break
		}
		i, step = hdNextSlot(i, step, p.obj)
	}
	c := &hdEv.signature[i%hdSignatureSlots]
	if c.epoch != hdEv.epoch || c.obj != p.obj {
		c.epoch, c.obj, c.hash = hdEv.epoch, p.obj, 0x9e37
	}
	h := hdMix(c.hash, t.name+uint64(p.pc)*31+uint64(p.op)+uint64(t.choice)<<32)
	hd.signature += h
	switch p.op {
	case hdOpRead, hdOpReadRange, hdOpAtomicLoad, hdOpThreadStart, hdOpThreadEnd:
		return
	case hdOpChanSend, hdOpChanRecv:
		if p.result != 0 { // an attempt that failed has changed nothing
			return
		}
	}
	c.hash = h
}

// ---- memory instructions that are scheduling points

func hdSetPoints(list unsafe.Pointer, n uint32) {
	clear(hd.points_[:])
	hd.npoints = min(n, hdPointSlots/2)
	for i := range hd.npoints {
		pc := uintptr(*(*uint64)(add(list, uintptr(i)*8)))
		j := hdMix(uint64(pc), 0x70) % hdPointSlots
		for hd.points_[j] != 0 && hd.points_[j] != pc {
			j = (j + 1) % hdPointSlots
		}
		hd.points_[j] = pc
	}
}

//go:nosplit
func hdIsPoint(pc uintptr) bool {
	if hd.npoints == 0 {
		return false
	}
	for j := hdMix(uint64(pc), 0x70) % hdPointSlots; hd.points_[j] != 0; j = (j + 1) % hdPointSlots {
		if hd.points_[j] == pc {
			return true
		}
	}
	return false
}
