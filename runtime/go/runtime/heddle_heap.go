//go:build heddle

// The collector, and where memory lies. What a program can see of either must be the same in
// every process that runs the same schedule: collections empty sync.Pools and run finalizers,
// and the order of a map whose keys are pointers is that of addresses. So a collection in an
// execution comes when the program asks for one, or when it has allocated so much, and does
// its whole work at once (GODEBUG gcstoptheworld=2); and the program is given memory from an
// address on that does not depend on what came before, where the size of the environment and
// of paths has had a part.
package runtime

import "unsafe"

const (
	hdCollectEvery = 512 << 20 // bytes that an execution allocates between two collections
	// hdCollectBetween is how many bytes are allocated between two collections between executions.
	// Memory that is used again costs no page faults, and stays in the processor's caches.
	hdCollectBetween = 6 << 20
	hdHeapAlign      = 32 << 20
)

// hdCollects reports whether it is time for a collection.
func hdCollects() bool { return hd.allocated >= hd.collectAt }

// hdCollecting is called when a collection begins.
func hdCollecting() {
	if hd.active {
		hd.collectAt = hd.allocated + hdCollectEvery
	}
}

// hdGosched is Gosched for the collector, to let its own goroutines run: the number of
// times depends on the size of the heap.
func hdGosched() {
	checkTimeouts()
	mcall(gosched_m)
}

// hdClearPools empties all of sync.Pool, so that what is in one does not depend on the
// executions before.
func hdClearPools() {
	if poolcleanup != nil {
		poolcleanup() // what they hold
		poolcleanup() // what a collection has set aside
	}
}

// hdFreshHeap sees to it that memory is given to the program from hd.heapFrom on, or with
// next from a new address on.
func hdFreshHeap(next bool) {
	if !hd.on || !next {
		return
	}
	systemstack(func() {
		mp := getg().m
		getMCache(mp).releaseAll()
		h := &mheap_
		lock(&h.lock)
		mp.p.ptr().pcache.flush(&h.pages)
		for n := uintptr(pallocChunkPages); n > 0; n /= 2 { // all that is free so far
			for at, _ := h.pages.alloc(n); at != 0; at, _ = h.pages.alloc(n) {
			}
		}
		h.curArena.base = min(alignUp(h.curArena.base, hdHeapAlign), h.curArena.end)
		hd.heapFrom = h.curArena.base
		unlock(&h.lock)
	})
}

// hdRetire keeps spans from before hd.heapFrom from being used again.
func hdRetire(c *mcentral) {
	if !hd.on {
		return
	}
	gen := mheap_.sweepgen
	for s := c.partialSwept(gen).pop(); s != nil; s = c.partialSwept(gen).pop() {
		if s.base() >= hd.heapFrom {
			c.partialSwept(gen).push(s)
			return
		}
		c.fullSwept(gen).push(s)
	}
}

// hdKept reports whether pages at base are not to be given out again.
func hdKept(base uintptr) bool { return base < hd.heapFrom }

// hdEarlyHeap is hdFreshHeap at a moment before main, up to which what was
// allocated depends on the environment.
//
//go:linkname hdEarlyHeap
func hdEarlyHeap() { hdFreshHeap(!hd.begun) }

// hdPool is the address on whose behalf a sync.Pool orders the handing on of p, nil for that
// which Go would choose: by a hash of where p lies.
//
//go:linkname hdPool
func hdPool(p unsafe.Pointer) unsafe.Pointer {
	if !hd.on || spanOfHeap(uintptr(p)) == nil {
		return nil // no memory that the race detector knows
	}
	return p
}
