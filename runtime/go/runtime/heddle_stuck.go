//go:build heddle

// Goroutines that are deadlocked beside others that go on, such as one with a ticker. A goroutine waits forever if none that may
// still run can reach the object it waits for: then none can send, close, unlock, signal or be done. What may run is what is enabled, waits
// for time or for the outside, was there before the execution, or waits for an object that such a goroutine, a global variable, a
// timer, a finalizer or a weak pointer leads to. Memory is read conservatively, as if each word of it was a pointer: an object that
// is not reached so is certainly out of reach.
//
// A lock may be within reach and still never be released: if it has been unlocked by its own goroutines only, and one of those that hold it
// is deadlocked.
package runtime

import (
	"internal/goarch"
	"internal/runtime/sys"
	"unsafe"
)

const (
	hdStuckFrom   = 20000   // points after which an execution is examined first, then each time after twice as many
	hdReachSlots  = 1 << 21 // of a hash table
	hdReachMost   = 1 << 20 // objects; of more, all count as reached
	hdReachWords  = 1 << 25 // likewise, words of memory
	hdStuckSpread = 8       // examinations after which they are a point further apart
)

type hdReachTables struct {
	_   sys.NotInHeap
	set [hdReachSlots]struct {
		block uintptr
		round uint64
	}
	todo [hdReachMost]uintptr
}

// hdReach is what is in reach of the goroutines that may run.
var hdReach struct {
	*hdReachTables
	round uint64
	n     uint32 // of todo
	found uint32
	words int
	all   bool // there is too much of it, or it cannot be known
}

var hdStuck struct {
	next     uint64 // points at which the execution is examined next
	looks    uint64
	blocked  bool // a goroutine has blocked since the last examination
	followed bool // the script was followed to its end at the last examination
	thread   *hdThread
}

func hdStuckBegin() {
	s := &hdStuck
	s.next, s.looks, s.blocked, s.followed, s.thread = hdStuckFrom, 0, false, false, nil
	if hd.plan.Flags&hdPlanCycles != 0 {
		s.next = 0
	}
}

// hdStuckLook ends the execution if goroutines are deadlocked beside others: where the plan asks for that, once one has blocked; without, only
// if the first goroutine is among them, and after many points.
func hdStuckLook() {
	s := &hdStuck
	if hd.points < s.next || hd.plan.ScriptMode == hdScriptStrict && hd.pos < hd.plan.Nsteps || hd.settle.phase != hdSettleNone {
		return
	}
	asked := hd.plan.Flags&hdPlanCycles != 0
	if !asked {
		s.next = 2 * hd.points
		if hdMainThread().state != hdBlocked {
			return
		}
	} else {
		if s.followed && !s.blocked {
			return
		}
		s.looks++
		s.next = hd.points + s.looks/hdStuckSpread
		s.followed, s.blocked = true, false
	}
	if !hdFindStuck() {
		return
	}
	t := hdMainThread()
	if t.live {
		if t = hdStuckRing(); t == nil || !asked {
			return
		}
	}
	s.thread = t
	hdMessage("other goroutines or timers go on")
	hdFail(hdOutDeadlock, 0, t.pend.pc)
}

// hdFindStuck sets live of each goroutine that may still run, and reports whether others are left.
func hdFindStuck() bool {
	if !hdReachBegin() {
		return false
	}
	left := false
	for i := range hd.nthreads {
		t := &hd.threads[i]
		t.live = t != hd.clock && t.state != hdEnded && !hdWaitsFor(t)
		left = left || t != hd.clock && t.state != hdEnded && !t.live
	}
	if !left {
		return false
	}
	hdReachRoots()
	for i := range hd.nthreads {
		if t := &hd.threads[i]; t.live {
			hdReachThread(t)
		}
	}
	for again := true; again; {
		again = false
		hdReachDrain()
		for i := range hd.nthreads {
			t := &hd.threads[i]
			if t == hd.clock || t.state == hdEnded || t.live || !hdMayWake(t) {
				continue
			}
			t.live, again = true, true
			hdReachThread(t)
		}
	}
	left = false
	for i := range hd.nthreads {
		t := &hd.threads[i]
		left = left || t != hd.clock && t.state != hdEnded && !t.live
	}
	return left && !hdReach.all
}

// hdWaitsFor reports whether t waits for an object of the program's, in a way that is known.
func hdWaitsFor(t *hdThread) bool {
	gp := t.gp.ptr()
	if t.state != hdBlocked || t.held || t.old || gp == nil || readgstatus(gp)&^_Gscan != _Gwaiting {
		return false
	}
	reason := gp.waitreason.String()
	switch hdOperation(t) {
	case hdOpChanSend:
		return reason == "chan send" || reason == "chan send (nil chan)"
	case hdOpChanRecv:
		return reason == "chan receive" || reason == "chan receive (nil chan)"
	case hdOpSelect:
		return reason == "select" || reason == "select (no cases)"
	case hdOpGmutexLock:
		return reason == "sync.Mutex.Lock"
	case hdOpRwLock:
		return reason == "sync.Mutex.Lock" || reason == "sync.RWMutex.Lock"
	case hdOpRwRlock:
		return reason == "sync.RWMutex.RLock"
	case hdOpWgWait:
		return reason == "sync.WaitGroup.Wait" || reason == "semacquire"
	case hdOpGcondWait:
		return reason == "sync.Cond.Wait"
	case hdOpOnceDo:
		return reason == "sync.Mutex.Lock"
	}
	return false
}

// hdMayWake reports whether something that is in reach may wake t.
func hdMayWake(t *hdThread) bool {
	switch hdOperation(t) {
	case hdOpGmutexLock, hdOpRwLock, hdOpRwRlock:
		if hdOwnLock(t, t.pend.obj) && hdStuckHolder(t) != nil {
			return false
		}
	}
	return hdWaitReached(t)
}

// hdWaitReached reports whether what t waits for is in reach.
func hdWaitReached(t *hdThread) bool {
	switch op, obj := hdOperation(t), t.pend.obj; op {
	case hdOpChanSend, hdOpChanRecv:
		return obj != 0 && hdReached(obj) // a nil channel is never ready
	case hdOpSelect:
		for i := range t.ncases {
			if c := hdCase(t, i); c != nil && hdReached(uintptr(unsafe.Pointer(c))) {
				return true
			}
		}
		return false
	default:
		return hdReached(obj)
	}
}

// hdStuckHolder returns a goroutine that is not live and that holds the lock t waits for, or waits to write what t
// waits to read; nil for none.
func hdStuckHolder(t *hdThread) *hdThread {
	for i := range hd.nthreads {
		u := &hd.threads[i]
		if u == hd.clock || u.state == hdEnded || u.live {
			continue
		}
		if hdLockAt(&u.locks, t.pend.obj) < u.locks.n {
			return u
		}
	}
	if hdOperation(t) != hdOpRwRlock {
		return nil
	}
	for i := range hd.nthreads {
		if u := &hd.threads[i]; u != hd.clock && u.state == hdBlocked && !u.live && u.pend.obj == t.pend.obj && hdOperation(u) == hdOpRwLock {
			return u
		}
	}
	return nil
}

// hdStuckRing returns one of some goroutines each of which waits for a lock that the next holds, nil for none.
func hdStuckRing() *hdThread {
	for i := range hd.nthreads {
		t := &hd.threads[i]
		if t == hd.clock || t.state == hdEnded || t.live {
			continue
		}
		u := t
		for range hd.nthreads {
			switch hdOperation(u) {
			case hdOpGmutexLock, hdOpRwLock, hdOpRwRlock:
				u = hdStuckHolder(u)
			default:
				u = nil
			}
			if u == t {
				return t
			}
			if u == nil {
				break
			}
		}
	}
	return nil
}

// hdStuckWaiter adds to a report of where t is: whether it may go on, or else who holds the lock that it waits for.
func hdStuckWaiter(t *hdThread, w *hdWaiter) {
	if t.live {
		w.Flags, w.Holder = hdWaitReady, 0
		return
	}
	switch w.Op {
	case hdOpGmutexLock, hdOpRwLock, hdOpRwRlock:
		if u := hdStuckHolder(t); u != nil {
			w.Holder = u.number + 1
		}
	}
}

// hdCaseOp returns what a case of the select that t is in does.
func hdCaseOp(t *hdThread, i uint32) uint16 {
	if i < t.sends {
		return hdOpChanSend
	}
	return hdOpChanRecv
}

// hdCase returns the channel of a case of the select that t is in.
func hdCase(t *hdThread, i uint32) *hchan {
	at := t.cases
	if gp := t.gp.ptr(); at < gp.stack.hi-gp.stack.lo { // on the stack
		at = gp.stack.hi - at
	}
	return (*scase)(unsafe.Pointer(at + uintptr(i)*unsafe.Sizeof(scase{}))).c
}

// hdReachBegin prepares the marking of what is in reach; false if that cannot be known.
func hdReachBegin() bool {
	r := &hdReach
	if iscgo {
		return false // C may keep any pointer
	}
	if r.hdReachTables == nil {
		p, err := mmap(nil, unsafe.Sizeof(hdReachTables{}), _PROT_READ|_PROT_WRITE, _MAP_ANON|_MAP_PRIVATE, -1, 0)
		if err != 0 {
			return false
		}
		r.hdReachTables = (*hdReachTables)(p)
	}
	r.round++
	r.n, r.found, r.words, r.all = 0, 0, 0, false
	return true
}

// hdReachRoots marks what is in reach whichever goroutines may run.
func hdReachRoots() {
	for _, gp := range allgs { // they lead to all that waits
		hdReachAdd(uintptr(unsafe.Pointer(gp)), false)
	}
	for _, pp := range allp { // has addresses of free memory; of what it leads to, only timers are the program's
		hdReachAdd(uintptr(unsafe.Pointer(pp)), false)
		hdReachMemory(uintptr(unsafe.Pointer(&pp.timers)), unsafe.Sizeof(pp.timers))
	}
	queues, end := uintptr(unsafe.Pointer(&semtable)), uintptr(unsafe.Pointer(&semtable))+unsafe.Sizeof(semtable)
	globals := func(from, to uintptr, pointers *byte) {
		for i := uintptr(0); from+i*goarch.PtrSize < to; i++ {
			at := from + i*goarch.PtrSize
			if *addb(pointers, i/8)>>(i%8)&1 != 0 && (at < queues || at >= end) {
				hdReachAdd(*(*uintptr)(unsafe.Pointer(at)), true)
			}
		}
	}
	for md := &firstmoduledata; md != nil; md = md.next {
		globals(md.data, md.edata, md.gcdatamask.bytedata)
		globals(md.bss, md.ebss, md.gcbssmask.bytedata)
	}
	for _, gp := range allgs {
		if t := hdThreadOf(gp); t == nil && gp != hd.runner {
			hdReachG(gp, 0)
		}
	}
	for _, s := range mheap_.allspans {
		if s.state.get() != mSpanInUse {
			continue
		}
		for sp := s.specials; sp != nil; sp = sp.next {
			switch sp.kind {
			case _KindSpecialFinalizer:
				hdReachMemory(uintptr(unsafe.Pointer(sp)), unsafe.Sizeof(specialfinalizer{}))
			case _KindSpecialCleanup:
				hdReachMemory(uintptr(unsafe.Pointer(sp)), unsafe.Sizeof(specialCleanup{}))
				continue
			case _KindSpecialWeakHandle:
			default:
				continue
			}
			hdReachAdd(s.base()+uintptr(sp.offset), true)
		}
	}
}

// hdReachThread marks what t leads to. After a test, the frames of the test's function are gone from its goroutine.
func hdReachThread(t *hdThread) {
	gp := t.gp.ptr()
	if t.index != 0 {
		hdReachG(gp, 0)
		return
	}
	if hd.testOver {
		hdReachG(gp, hd.testDepth)
	} else {
		hdReachG(gp, 0)
	}
	if hd.runner != nil {
		hdReachG(hd.runner, 0) // it waits for t
	}
}

// hdReachG marks what goroutine gp leads to. Of its stack, the most bytes at the top count, all if most is 0.
func hdReachG(gp *g, most uintptr) {
	sp := gp.sched.sp
	switch readgstatus(gp) &^ _Gscan {
	case _Gdead:
		return
	case _Gsyscall:
		sp = gp.syscallsp
	case _Grunning:
		if gp != getg().m.curg {
			hdReach.all = true
			return
		}
	}
	if sp < gp.stack.lo || sp > gp.stack.hi {
		hdReach.all = hdReach.all || gp.stack.lo != 0
		return
	}
	if most != 0 && gp.stack.hi-sp > most {
		sp = gp.stack.hi - most
	}
	hdReachMemory(sp, gp.stack.hi-sp)
	hdReachMemory(uintptr(unsafe.Pointer(gp)), unsafe.Sizeof(*gp))
}

func hdReachMemory(p, n uintptr) {
	if hdReach.words += int(n / goarch.PtrSize); hdReach.words > hdReachWords {
		hdReach.all = true
	}
	if hdReach.all {
		return
	}
	for at := p; at+goarch.PtrSize <= p+n; at += goarch.PtrSize {
		hdReachAdd(*(*uintptr)(unsafe.Pointer(at)), true)
	}
}

func hdReachDrain() {
	r := &hdReach
	for r.n > 0 && !r.all {
		r.n--
		if block := r.todo[r.n]; block != 0 {
			hdReachMemory(block, spanOf(block).elemsize)
		}
	}
}

// hdReachAdd marks the object on the heap that contains p. With leads set, so is what it leads to.
func hdReachAdd(p uintptr, leads bool) {
	span := spanOfHeap(p)
	if span == nil || hdReach.all {
		return
	}
	r := &hdReach
	block := span.base() + span.objIndex(p)*span.elemsize
	s := hdReachSlot(block)
	if r.set[s].round == r.round {
		return
	}
	r.set[s].block, r.set[s].round = block, r.round
	if r.found++; r.found >= hdReachMost {
		r.all = true
		return
	}
	if leads && !span.spanclass.noscan() {
		r.todo[r.n] = block
		r.n++
	}
}

// hdReachSlot returns the slot of a block, which is free if its round is another one.
func hdReachSlot(block uintptr) uint64 {
	r := &hdReach
	i := hdMix(uint64(block), 0x72) % hdReachSlots
	for r.set[i].round == r.round && r.set[i].block != block {
		i = (i + 1) % hdReachSlots
	}
	return i
}

// hdReached reports whether what may still run leads to the object at p.
func hdReached(p uintptr) bool {
	r := &hdReach
	if r.all {
		return true
	}
	if span := spanOfHeap(p); span != nil {
		block := span.base() + span.objIndex(p)*span.elemsize
		return r.set[hdReachSlot(block)].round == r.round
	}
	if span := spanOf(p); span != nil && span.state.get() == mSpanManual { // on a stack
		for i := range hd.nthreads {
			t := &hd.threads[i]
			if gp := t.gp.ptr(); gp != nil && t.goid == gp.goid && t.state != hdEnded && p >= gp.stack.lo && p < gp.stack.hi {
				return t.live
			}
		}
	}
	return true
}
