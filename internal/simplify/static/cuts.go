package static

// A cut is how many segments of each thread have run. The fewest intervals for what remains after a
// cut, for some of the threads, are found by visiting all cuts from the last to the first: an
// interval never has a reason to end before it must, since having run more only ever leaves less to
// run.

// none16 marks a cut from which no continuation exists: it is after something that has to come
// before.
const none16 = 0xffff

// table holds, for every cut of a group of threads, the fewest intervals for the rest of those
// threads' segments, ignoring all other threads.
type table struct {
	threads []int
	stride  []int // of each of threads, in mixed radix
	fewest  []uint16
}

// cells returns how many cuts a group of threads has, -1 if more than limit.
func (c *chains) cells(threads []int, limit int) int {
	n := 1
	for _, t := range threads {
		n *= len(c.of[t]) + 1
		if n > limit {
			return -1
		}
	}
	return n
}

// tabulate fills the table of a group.
func (c *chains) tabulate(threads []int, cells int) *table {
	w := len(threads)
	tb := &table{threads: threads, stride: make([]int, w), fewest: make([]uint16, cells)}
	at := 1
	for i, t := range threads {
		tb.stride[i] = at
		at *= len(c.of[t]) + 1
	}
	// going[x*w+i]: the fewest further pieces from cut x while threads[i] is running.
	going := make([]uint16, cells*w)
	cut := make([]int, w)
	for i, t := range threads {
		cut[i] = len(c.of[t])
	}
	ready := make([]bool, w)
	for x := cells - 1; x >= 0; x-- {
		c.stop.Check()
		best, rest := uint16(none16), false
		for i, t := range threads {
			ready[i] = cut[i] < len(c.of[t]) && c.readyAmong(threads, i, cut)
			if cut[i] < len(c.of[t]) {
				rest = true
			}
			if ready[i] {
				if v := going[(x+tb.stride[i])*w+i]; v != none16 {
					best = min(best, v+1)
				}
			}
		}
		if !rest {
			best = 0
		}
		tb.fewest[x] = best
		for i := range threads {
			going[x*w+i] = best
			if ready[i] {
				going[x*w+i] = going[(x+tb.stride[i])*w+i]
			}
		}
		for i, t := range threads { // the cut before
			if cut[i]--; cut[i] >= 0 {
				break
			}
			cut[i] = len(c.of[t])
		}
	}
	return tb
}

// at returns the entry for a cut of all threads.
func (tb *table) at(cut []int32) int {
	x := 0
	for i, t := range tb.threads {
		x += int(cut[t]) * tb.stride[i]
	}
	return int(tb.fewest[x])
}

// walk follows the table of all threads from the start.
func (c *chains) walk(tb *table) []int32 {
	cut := make([]int32, len(c.of))
	var out []int32
	for {
		best, bestT := none16, -1
		for t := range c.of {
			next := c.run(cut, t)
			if next == nil {
				continue
			}
			if v := tb.at(next); v < best {
				best, bestT = v, t
			}
		}
		if bestT < 0 {
			return out
		}
		next := c.run(cut, bestT)
		for range next[bestT] - cut[bestT] {
			out = append(out, int32(bestT))
		}
		cut = next
	}
}

// run returns the cut after an interval of thread t that continues for as long as it can, nil if it
// cannot start.
func (c *chains) run(cut []int32, t int) []int32 {
	k := cut[t]
	for int(k) < len(c.of[t]) && c.ready(t, int(k), cut) {
		k++
	}
	if k == cut[t] {
		return nil
	}
	next := make([]int32, len(cut))
	copy(next, cut)
	next[t] = k
	return next
}
