//go:build heddle

// The locks that each goroutine holds, which Go's locks do not store. A goroutine acquires a lock when package sync says so to the race
// detector: when it has the lock, not when it asks for it.
package runtime

const (
	hdLocksMost = 16 // of one goroutine; of more, the last ones are not known
	hdHanded    = 64 // slots of a hash table
	hdRwSize    = 24 // bytes of a sync.RWMutex: its calls name semaphores in it
)

type hdLocks struct {
	n      uint32
	waits  uintptr // the lock that Cond.Wait has released and acquires again
	shared uint32  // bit i: held[i] is held for reading
	held   [hdLocksMost]uintptr
}

// hdUnlocks has what is known about who unlocks a lock, by a hash of its address: Go lets any goroutine do so. A collision only
// adds to what another goroutine is taken to have unlocked.
var hdUnlocks struct {
	own    [hdHanded]uintptr // the last lock that its own goroutine has unlocked
	others [hdHanded]bool    // another goroutine has unlocked one
	lost   bool              // a goroutine held too many locks
}

func hdLocksBegin() {
	u := &hdUnlocks
	clear(u.own[:])
	clear(u.others[:])
	u.lost = false
}

func hdLockSlot(lock uintptr) uint64 { return hdMix(uint64(lock), 0x77) % hdHanded }

// hdOperation returns the operation that t is in, also once it has been woken in it.
//
//go:nosplit
func hdOperation(t *hdThread) uint16 {
	if t.pend.op == hdOpResume {
		return uint16(t.pend.value)
	}
	return t.pend.op
}

// hdLocked is called when t acquires or releases the object at addr, in an operation of package sync or another one.
//
//go:nosplit
func hdLocked(t *hdThread, acquires bool, addr uintptr) {
	l, lock := &t.locks, t.pend.obj
	switch op := hdOperation(t); {
	case op == hdOpGcondWait: // the operation's object is not the lock
		if acquires && addr == l.waits {
			l.waits = 0
			hdLockAdd(l, addr, false)
		} else if i := hdLockAt(l, addr); !acquires && i < l.n {
			l.waits = addr
			hdLockDel(l, i)
		}
	case op == hdOpGmutexLock || op == hdOpGmutexTrylock:
		if acquires && addr == lock {
			hdLockAdd(l, lock, false)
		}
	case op == hdOpRwLock || op == hdOpRwTrylock || op == hdOpRwRlock || op == hdOpRwTryrlock:
		if acquires && addr-lock < hdRwSize && (hdLockAt(l, lock) == l.n || op == hdOpRwRlock || op == hdOpRwTryrlock) {
			hdLockAdd(l, lock, op == hdOpRwRlock || op == hdOpRwTryrlock)
		}
	case op == hdOpGmutexUnlock || op == hdOpRwUnlock || op == hdOpRwRunlock:
		if acquires || addr-lock >= hdRwSize || op == hdOpGmutexUnlock && addr != lock {
			break
		}
		s := hdLockSlot(lock)
		if i := hdLockAt(l, lock); i < l.n {
			hdLockDel(l, i)
			hdUnlocks.own[s] = lock
			break
		}
		hdUnlocks.others[s] = true
		for i := range hd.nthreads {
			o := &hd.threads[i].locks
			if at := hdLockAt(o, lock); at < o.n {
				hdLockDel(o, at)
				break
			}
		}
	}
}

//go:nosplit
func hdLockAt(l *hdLocks, lock uintptr) uint32 {
	for i := range l.n {
		if l.held[i] == lock {
			return i
		}
	}
	return l.n
}

//go:nosplit
func hdLockAdd(l *hdLocks, lock uintptr, shared bool) {
	if l.n == hdLocksMost {
		hdUnlocks.lost = true
		return
	}
	l.held[l.n] = lock
	if shared {
		l.shared |= 1 << l.n
	}
	l.n++
}

//go:nosplit
func hdLockDel(l *hdLocks, i uint32) {
	l.n--
	last := l.shared >> l.n & 1
	l.held[i] = l.held[l.n]
	l.shared = l.shared&^(1<<i|1<<l.n) | last<<i
	if i == l.n {
		l.shared &^= 1 << i
	}
}

// hdOwner returns the number + 1 of the goroutine that alone holds the lock, 0 if it is unknown.
func hdOwner(lock uintptr) uint32 {
	for i := range hd.nthreads {
		t := &hd.threads[i]
		if at := hdLockAt(&t.locks, lock); t.state != hdEnded && at < t.locks.n && t.locks.shared>>at&1 == 0 {
			return t.number + 1
		}
	}
	return 0
}

// hdOwnLock reports whether a lock that t waits for is taken to be unlocked by the goroutines that hold it and no others.
func hdOwnLock(t *hdThread, lock uintptr) bool {
	s := hdLockSlot(lock)
	if hdUnlocks.others[s] || hdUnlocks.lost {
		return false
	}
	// A mutex that its goroutine locks twice may be a signal for it that another one gives.
	return hdLockAt(&t.locks, lock) == t.locks.n || hdOperation(t) != hdOpGmutexLock || hdUnlocks.own[s] == lock
}
