//go:build heddle

// Goroutines that are left when an execution ends.
package runtime

import (
	"internal/stringslite"
	"unsafe"
)

// hdAnyThread reports whether any thread is as is says.
func hdAnyThread(is func(*hdThread) bool) bool {
	for i := range hd.nthreads {
		if is(&hd.threads[i]) {
			return true
		}
	}
	return false
}

// hdLeft reports whether t is a goroutine that the execution has left behind.
func hdLeft(t *hdThread) bool {
	return t.index != 0 && t != hd.clock && t.state != hdEnded && !t.old
}

// hdLeaked is hdLeft, but for those that the user allows.
func hdLeaked(t *hdThread) bool {
	if !hdLeft(t) {
		return false
	}
	entry, created := hdFuncName(t.entry), hdFuncName(t.created)
	for rest := hd.leakIgnore; rest != ""; {
		var one string
		one, rest, _ = stringslite.Cut(rest, "\n")
		if one != "" && (stringslite.Index(entry, one) >= 0 || stringslite.Index(created, one) >= 0) {
			return false
		}
	}
	return true
}

// hdWaiters reports the goroutines that have not ended.
func hdWaiters(outcome uint32) {
	for i := range hd.nthreads {
		t := &hd.threads[i]
		if t == hd.clock || t.state == hdEnded || t.index == 0 && outcome == hdOutLeak || t.old && t.pend.op != hdOpResume || outcome == hdOutLeak && !hdLeaked(t) {
			continue
		}
		w := hdWaiter{Thread: t.number, Op: t.pend.op, Pc: uint64(t.pend.pc), Object: hdObject(t.pend.obj)}
		if t.pend.op == hdOpResume {
			w.Op = uint16(t.pend.value)
		}
		if t.state == hdReady || t.state == hdRunning {
			w.Flags = hdWaitReady
		}
		if gp := t.gp.ptr(); gp != nil && t.state == hdBlocked {
			w.Stack = hdStack(gp, gp.sched.pc, gp.stack.hi-gp.sched.bp, t.pend.pc)
		}
		if o := hdOwner(t.pend.obj); o != 0 && (w.Op >= hdOpGmutexLock && w.Op <= hdOpRwUnlock) {
			w.Holder = o
		}
		hdOut(hdRecWaiter, unsafe.Pointer(&w), hdSizeofWaiter)
	}
}
