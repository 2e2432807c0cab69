package ipc

import (
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
)

// Ring is one direction of the shared memory: a single producer, a single consumer, and records
// that never wrap. Cursors are byte counts that only grow.
type Ring struct {
	ctl   *abi.Ring
	bytes []byte
}

func (r *Ring) head() uint64 { return atomic.LoadUint64(&r.ctl.Head) }
func (r *Ring) tail() uint64 { return atomic.LoadUint64(&r.ctl.Tail) }

const (
	recHeader = abi.SizeofRecHeader
	// recDamaged is not in enum hd_record: Next returns it for bytes that cannot be a record.
	recDamaged = ^uint32(0)
)

// Put appends a record as the ring's producer. It reports false if the ring has no room now. The
// store to Head pairs with hd_plan_next's acquire load.
func (r *Ring) Put(kind uint32, payload []byte) bool {
	size := uint64(len(r.bytes))
	need := uint64(recHeader+len(payload)+7) &^ 7
	head := r.ctl.Head // only this side writes it
	pos := head % size
	pad := uint64(0)
	if pos+need > size {
		pad = size - pos
	}
	if head+pad+need-r.tail() > size {
		return false
	}
	if pad > 0 {
		r.header(pos, uint32(pad), abi.RecPad)
		head += pad
		pos = 0
	}
	r.header(pos, uint32(need), kind)
	copy(r.bytes[pos+recHeader:], payload)
	atomic.StoreUint64(&r.ctl.Head, head+need)
	wake(&r.ctl.HeadWaiters, &r.ctl.HeadSeq)
	return true
}

func (r *Ring) header(pos uint64, size, kind uint32) {
	h := (*abi.RecHeader)(unsafe.Pointer(&r.bytes[pos]))
	h.Size, h.Type = size, kind
}

// Next returns the oldest record, as the ring's consumer, or false if the ring is empty. The
// payload is valid until Release. The load of Head pairs with hd_out_end's store.
func (r *Ring) Next() (kind uint32, payload []byte, ok bool) {
	for {
		tail := r.ctl.Tail // only this side writes it
		if r.head() == tail {
			return 0, nil, false
		}
		pos := tail % uint64(len(r.bytes))
		h := (*abi.RecHeader)(unsafe.Pointer(&r.bytes[pos]))
		size := uint64(h.Size)
		if size < recHeader || pos+size > uint64(len(r.bytes)) {
			return recDamaged, nil, true
		}
		if h.Type != abi.RecPad {
			return h.Type, r.bytes[pos+recHeader : pos+size], true
		}
		r.release(h.Size)
	}
}

// Release frees the record that Next returned.
func (r *Ring) Release() {
	pos := r.ctl.Tail % uint64(len(r.bytes))
	r.release((*abi.RecHeader)(unsafe.Pointer(&r.bytes[pos])).Size)
}

// release pairs with hd_out_begin's acquire.
func (r *Ring) release(size uint32) {
	atomic.StoreUint64(&r.ctl.Tail, r.ctl.Tail+uint64(size))
	wake(&r.ctl.TailWaiters, &r.ctl.TailSeq)
}

// Wait sleeps until the producer moves Head, for at most d. Like ring_wait in the runtime, it
// announces itself, looks again, then sleeps.
func (r *Ring) Wait(d time.Duration) {
	tail := r.ctl.Tail
	for i := 0; i < 100; i++ {
		if r.head() != tail {
			return
		}
	}
	seq := atomic.LoadUint32(&r.ctl.HeadSeq)
	atomic.StoreUint32(&r.ctl.HeadWaiters, 1)
	if r.head() != tail {
		return
	}
	futexWait(&r.ctl.HeadSeq, seq, d)
}

func wake(waiters, seq *uint32) {
	if atomic.LoadUint32(waiters) != 0 {
		atomic.StoreUint32(waiters, 0)
		atomic.AddUint32(seq, 1)
		unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(seq)), futexWake, 1, 0, 0, 0)
	}
}

// The futexes are shared between processes: no FUTEX_PRIVATE_FLAG.
const (
	futexWaitOp = 0
	futexWake   = 1
)

func futexWait(word *uint32, value uint32, d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.Syscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWaitOp, uintptr(value), uintptr(unsafe.Pointer(&ts)), 0, 0)
}
