package symbol

import (
	"math/bits"
	"sort"

	"github.com/heddle-dev/heddle/trace"
)

// blockIndex finds the heap block at an address as of an event. Blocks of different lifetimes may
// overlap in any way, because freed memory is reused.
//
// A block of up to 2^n bytes is filed under the one or two aligned ranges of 2^n bytes that it
// touches. For each n, only few blocks in one range are alive at a time, so a lookup examines few
// other blocks.
type blockIndex struct {
	allocs []trace.Alloc
	// filed holds indices of allocs in order of allocation; levels the values of n in use.
	filed  map[stretch][]int32
	levels []uint
}

type stretch struct {
	level uint
	start trace.Object // in units of 2^level bytes
}

func newBlockIndex(allocs []trace.Alloc) *blockIndex {
	x := &blockIndex{allocs: allocs, filed: map[stretch][]int32{}}
	order := make([]int32, len(allocs))
	for i := range order {
		order[i] = int32(i)
	}
	sort.SliceStable(order, func(i, j int) bool { return allocs[order[i]].Event < allocs[order[j]].Event })
	var used [65]bool
	for _, i := range order {
		a := &allocs[i]
		level := uint(bits.Len64(blockSize(a) - 1))
		if level > 46 { // larger than an Object can represent: damaged
			continue
		}
		used[level] = true
		first := stretch{level, a.Object >> level}
		last := stretch{level, (a.Object + trace.Object(blockSize(a)-1)) >> level}
		x.filed[first] = append(x.filed[first], i)
		if last != first {
			x.filed[last] = append(x.filed[last], i)
		}
	}
	for level, u := range used {
		if u {
			x.levels = append(x.levels, uint(level))
		}
	}
	return x
}

// blockSize returns the size to use for lookups: at least 1, because an empty block still has an
// address.
func blockSize(a *trace.Alloc) uint64 { return max(a.Size, 1) }

// find returns the index of the last block containing obj that had been allocated by event at, or
// -1.
func (x *blockIndex) find(obj trace.Object, at int) int {
	best := int32(-1)
	for _, level := range x.levels {
		list := x.filed[stretch{level, obj >> level}]
		n := sort.Search(len(list), func(i int) bool { return x.allocs[list[i]].Event > at })
		for n--; n >= 0; n-- {
			a := &x.allocs[list[n]]
			if best >= 0 && (a.Event < x.allocs[best].Event || a.Event == x.allocs[best].Event && list[n] < best) {
				break
			}
			if a.Object <= obj && uint64(obj-a.Object) < blockSize(a) {
				best = list[n]
				break
			}
		}
	}
	return int(best)
}
