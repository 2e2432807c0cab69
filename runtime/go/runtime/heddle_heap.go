//go:build heddle

// The collector and heap addresses. A program must see the same of both in every process that runs
// the same schedule: collections empty sync.Pools and run finalizers, and the order of a map whose
// keys are pointers depends on addresses. So a collection runs during an execution only when the
// program requests one or has allocated a fixed amount, and then does all its work at once (GODEBUG
// gcstoptheworld=2). The program gets memory from an address that does not depend on earlier
// allocations, which vary with the size of the environment and of paths.
package runtime

import "unsafe"

const (
	hdCollectEvery = 512 << 20 // bytes that an execution allocates between two collections
	// hdCollectBetween is how many bytes are allocated between two collections outside
	// executions. Reused memory costs no page faults and stays in the processor's caches.
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

// hdGosched is Gosched for the collector, which calls it to let its own goroutines run. The number
// of calls depends on the size of the heap.
func hdGosched() {
	checkTimeouts()
	mcall(gosched_m)
}

// hdClearPools empties all sync.Pools, so that their contents do not depend on earlier executions.
func hdClearPools() {
	if poolcleanup != nil {
		poolcleanup() // their current contents
		poolcleanup() // the contents that a collection has set aside
	}
}

// hdFreshHeap makes the allocator give the program memory from hd.heapFrom on. With next set, it
// first moves hd.heapFrom to a new address.
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
		for n := uintptr(pallocChunkPages); n > 0; n /= 2 { // all free pages so far
			for at, _ := h.pages.alloc(n); at != 0; at, _ = h.pages.alloc(n) {
			}
		}
		h.curArena.base = min(alignUp(h.curArena.base, hdHeapAlign), h.curArena.end)
		hd.heapFrom = h.curArena.base
		unlock(&h.lock)
	})
}

// hdRetire keeps spans below hd.heapFrom from being reused.
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

// hdKept reports whether the pages at base must not be allocated again.
func hdKept(base uintptr) bool { return base < hd.heapFrom }

// hdEarlyHeap is hdFreshHeap shortly before main: allocations up to then depend on the environment.
//
//go:linkname hdEarlyHeap
func hdEarlyHeap() { hdFreshHeap(!hd.begun) }

// hdPool returns the address through which a sync.Pool orders the passing on of p. It returns nil
// for Go's own choice, a hash of p's address.
//
//go:linkname hdPool
func hdPool(p unsafe.Pointer) unsafe.Pointer {
	if !hd.on || spanOfHeap(uintptr(p)) == nil {
		return nil // memory unknown to the race detector
	}
	return p
}
