package depend

import "math/bits"

// Table maps 64-bit keys to 32-bit values, with open addressing and linear probing. A trace of ten
// million events looks up a location for each; a Go map takes three times as long and twice the
// memory. The zero value is an empty table.
type Table struct {
	keys []uint64
	vals []uint32 // value + 1, 0 is free
	n    int
	up   uint // 64 - log2(len(keys))
}

// Len returns the number of keys.
func (t *Table) Len() int { return t.n }

// Number returns the key's value. A new key gets the number of keys before it.
func (t *Table) Number(key uint64) uint32 {
	if v, ok := t.Get(key); ok {
		return v
	}
	t.Put(key, uint32(t.n))
	return uint32(t.n - 1)
}

// slot returns the slot of key, occupied or free.
func (t *Table) slot(key uint64) int {
	mask := len(t.keys) - 1
	// Fibonacci hashing (Knuth, TAOCP vol. 3, §6.4) spreads neighbouring keys.
	i := int(key * 0x9e3779b97f4a7c15 >> t.up)
	for t.vals[i] != 0 && t.keys[i] != key {
		i = (i + 1) & mask
	}
	return i
}

// Get returns the value of key and whether key is present.
func (t *Table) Get(key uint64) (uint32, bool) {
	if t.n == 0 {
		return 0, false
	}
	v := t.vals[t.slot(key)]
	return v - 1, v != 0
}

// Put sets the value of a key. The value must be less than the largest uint32.
func (t *Table) Put(key uint64, val uint32) {
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

func (t *Table) grow() {
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
