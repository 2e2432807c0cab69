package hb

import "github.com/heddle-dev/heddle/trace"

// lock is a mutex, spin lock, once or read-write lock; all but the last only write.
type lock struct {
	wrote  released // by those that held it alone
	read   released // by readers since
	writer trace.ThreadID
}

const (
	// ownerDead is EOWNERDEAD: a robust mutex was taken, its last holder having died.
	ownerDead = 130
	// notRecoverable is ENOTRECOVERABLE: after that nobody had put it right.
	notRecoverable = 131
	// cancelled is ECANCELED: the thread begins to unwind.
	cancelled = 125
)

// tookLock reports whether a lock operation got the lock. Any result but these two means
// that it did not: EBUSY, ETIMEDOUT, EDEADLK, EINVAL, …
func tookLock(ev *trace.Event) bool { return ev.Result == 0 || ev.Result == ownerDead }

func (e *Engine) lock(o trace.Object) *lock {
	l := e.locks[o]
	if l == nil {
		l = &lock{writer: -1}
		e.locks[o] = l
	}
	return l
}

// lockEvent handles locks and once; false means that the operation is none of theirs.
func (e *Engine) lockEvent(t *thread, ev *trace.Event) bool {
	switch ev.Op {
	case trace.OpMutexLock, trace.OpMutexTrylock, trace.OpMutexTimedlock,
		trace.OpSpinLock, trace.OpSpinTrylock, trace.OpOnceBegin:
		if tookLock(ev) {
			t.take(&e.lock(ev.Object).wrote)
		}
	case trace.OpMutexUnlock, trace.OpMutexAbandon, trace.OpSpinUnlock, trace.OpOnceEnd:
		// Inner unlocks of a recursive mutex release too early, but nobody can acquire
		// before the outer one, which releases at least as much.
		if ev.Result == 0 {
			e.leave(t, &e.lock(ev.Object).wrote)
		}
	case trace.OpRwlockRdlock, trace.OpRwlockTryrdlock, trace.OpRwlockTimedrdlock:
		if tookLock(ev) {
			t.take(&e.lock(ev.Object).wrote)
		}
	case trace.OpRwlockWrlock, trace.OpRwlockTrywrlock, trace.OpRwlockTimedwrlock:
		if tookLock(ev) {
			l := e.lock(ev.Object)
			t.take(&l.wrote)
			t.take(&l.read)
			l.writer = t.id
		}
	case trace.OpRwlockUnlock:
		if ev.Result == 0 {
			l := e.lock(ev.Object)
			if l.writer == t.id {
				l.writer = -1
				e.leave(t, &l.wrote)
			} else {
				e.leave(t, &l.read)
			}
		}
	case trace.OpMutexInit, trace.OpMutexDestroy, trace.OpSpinInit, trace.OpSpinDestroy,
		trace.OpRwlockInit, trace.OpRwlockDestroy:
		if ev.Result == 0 {
			delete(e.locks, ev.Object)
		}
	default:
		return false
	}
	return true
}
