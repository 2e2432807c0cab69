package depend

import "math/bits"

// table maps 64-bit keys to 32-bit values: open addressing with linear probing. A trace
// of ten million events looks up a location for each; a Go map takes three times as long
// and twice the memory.
type table struct {
	keys []uint64
	vals []uint32 // value + 1, 0 is free
	n    int
	up   uint // 64 - log2(len(keys))
}

// slot is where key is, or where it would go.
func (t *table) slot(key uint64) int {
	mask := len(t.keys) - 1
	// Fibonacci hashing (Knuth, TAOCP vol. 3, §6.4): neighbours go far apart.
	i := int(key * 0x9e3779b97f4a7c15 >> t.up)
	for t.vals[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// get returns the value of key.
func (t *table) get(key uint64) (uint32, bool) {
	if t.n == 0 {
		return 0, false
	}
	v := t.vals[t.slot(key)]
	return v - 1, v != 0
}

// put sets the value of a key. It must be less than the largest uint32.
func (t *table) put(key uint64, val uint32) {
	if t.n*3 >= len(t.keys)*2 {
		t.grow()
	}
	i := t.slot(key)
	if t.vals[i] == 0 {
		t.keys[i] = key
		t.n++
	}
	t.vals[i] = val + 1
}

func (t *table) grow() {
	keys, vals := t.keys, t.vals
	size := max(64, 2*len(keys))
	t.keys, t.vals = make([]uint64, size), make([]uint32, size)
	t.up = 64 - uint(bits.TrailingZeros(uint(size)))
	for i, v := range vals {
		if v != 0 {
			j := t.slot(keys[i])
			t.keys[j], t.vals[j] = keys[i], v
		}
	}
}
