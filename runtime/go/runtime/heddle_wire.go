//go:build heddle

package runtime

import (
	"internal/runtime/atomic"
	"unsafe"
)

// Shared futexes, since the controller uses them too: runtime.futexsleep would use private ones. A
// wait lasts at most a tenth of a second.
func hdFutex(word *uint32, op uintptr, value uint32) {
	ts := timespec{tv_nsec: 100e6}
	hdFutexCall(word, op, value, &ts)
}

//go:noescape
func hdFutexCall(word *uint32, op uintptr, value uint32, timeout *timespec)

// hdWait waits until the controller has changed *word from value. The waiter announces itself
// before it checks again, and the waker checks for waiters after it has published
// (internal/target/ipc, ring).
func hdWait(waiters, seq *uint32, word *uint64, value uint64) {
	for range 200 {
		if atomic.Load64(word) != value {
			return
		}
		procyield(10)
	}
	s := atomic.Load(seq)
	atomic.Store(waiters, 1)
	if atomic.Load64(word) != value || atomic.Load(&hd.shm.Stop) != 0 {
		return
	}
	hdFutex(seq, hdFutexWait, s)
}

// The controller is woken for an execution that failed or ended the process, for every
// hdWakeEvery-th otherwise, and whenever this process is about to wait for it. It checks for
// results ten times a second anyway, so correctness does not depend on other wake-ups: most
// executions of a small test take less time than a wake-up.
const (
	hdWakeEvery = 16
	hdWakeBytes = 1 << 20 // of results
)

var hdUnwoken struct {
	results uint32
	head    uint64 // head of the result ring when the controller was last woken
}

func hdWakeController() {
	r := &hd.shm.ResultRing
	hdUnwoken.results, hdUnwoken.head = 0, r.Head
	hdWake(&r.HeadWaiters, &r.HeadSeq)
}

// hdTold is called after the result of an execution has been sent.
func hdTold(urgent bool) {
	hdUnwoken.results++
	if urgent || hdUnwoken.results >= hdWakeEvery || hd.shm.ResultRing.Head-hdUnwoken.head >= hdWakeBytes {
		hdWakeController()
	}
}

func hdWake(waiters, seq *uint32) {
	if atomic.Load(waiters) != 0 {
		atomic.Store(waiters, 0)
		atomic.Xadd(seq, 1)
		hdFutex(seq, hdFutexWake, 1)
	}
}

// hdNextPlan sets hd.plan and hd.index to the next execution.
func hdNextPlan() {
	if hd.planned {
		return // the plan has executions left
	}
	s := hd.shm
	r := &s.PlanRing
	for {
		if atomic.Load(&s.Stop) != 0 {
			hdState(hdStateEnded)
			exit(0)
		}
		head := atomic.Load64(&r.Head)
		if head == r.Tail {
			hdWakeController()
			hdWait(&r.HeadWaiters, &r.HeadSeq, &r.Head, head)
			continue
		}
		h := (*hdRecHeader)(add(unsafe.Pointer(s), uintptr(s.PlanOff+r.Tail%s.PlanSize)))
		hd.plans = uint64(h.Size)
		if h.Type != hdRecPad {
			p := add(unsafe.Pointer(h), hdSizeofRecHeader)
			if h.Type == hdPlanFar {
				p = add(unsafe.Pointer(s), uintptr(s.FarOff))
			}
			hd.planAt = uintptr(p)
			hd.plan = *(*hdPlan)(p)
			hd.planned = true
			hd.index = 0
			return
		}
		hdReleasePlan()
	}
}

func hdReleasePlan() {
	r := &hd.shm.PlanRing
	atomic.Store64(&r.Tail, r.Tail+hd.plans)
	hdWake(&r.TailWaiters, &r.TailSeq)
}

func hdEndPlan() {
	id := hd.plan.Id
	hd.planned = false
	hdReleasePlan()
	hdOut(hdRecPlanEnd, unsafe.Pointer(&id), 8)
}

// hdRingReuse is how many bytes of the result ring are used while the controller keeps up.
const hdRingReuse = 1 << 20

// hdOut sends one record.
func hdOut(kind uint32, data unsafe.Pointer, n uintptr) { hdOut2(kind, data, n, nil, 0) }

func hdOut2(kind uint32, a unsafe.Pointer, na uintptr, b unsafe.Pointer, nb uintptr) {
	if hd.warm {
		return
	}
	s := hd.shm
	r := &s.ResultRing
	need := uint64(hdSizeofRecHeader+na+nb+7) &^ 7
	head := r.Head
	pos, pad := head%s.ResultSize, uint64(0)
	// A ring that has been read to its end restarts at the beginning, whose pages are in memory
	// already.
	if pos+need > s.ResultSize || pos >= hdRingReuse && atomic.Load64(&r.Tail) == head {
		pad = s.ResultSize - pos
	}
	for {
		tail := atomic.Load64(&r.Tail)
		if head+pad+need-tail <= s.ResultSize {
			break
		}
		hdWakeController()
		hdWait(&r.TailWaiters, &r.TailSeq, &r.Tail, tail)
		if atomic.Load(&s.Stop) != 0 {
			exit(0)
		}
	}
	at := func(pos uint64) *hdRecHeader {
		return (*hdRecHeader)(add(unsafe.Pointer(s), uintptr(s.ResultOff+pos)))
	}
	if pad > 0 {
		*at(pos) = hdRecHeader{Size: uint32(pad), Type: hdRecPad}
		head += pad
		pos = 0
	}
	h := at(pos)
	*h = hdRecHeader{Size: uint32(need), Type: kind}
	p := add(unsafe.Pointer(h), hdSizeofRecHeader)
	memmove(p, a, na)
	if nb > 0 {
		memmove(add(p, na), b, nb)
	}
	// The head moves once the record is complete, so if the process dies, the controller sees
	// only complete records.
	atomic.Store64(&r.Head, head+need)
	if r.Head-hdUnwoken.head >= hdWakeBytes {
		hdWakeController()
	}
}

// hdMessageMost is the length of the longest message, in bytes.
const hdMessageMost = 4000

func hdMessage(text string) {
	hdMessageOf(unsafe.Pointer(unsafe.StringData(text)), uintptr(min(len(text), hdMessageMost)))
}

// hdMessageOf sends a message of n bytes at p, at most hdMessageMost.
func hdMessageOf(p unsafe.Pointer, n uintptr) {
	zero := byte(0)
	hdOut2(hdRecMessage, p, n, unsafe.Pointer(&zero), 1)
}
