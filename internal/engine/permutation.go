package engine

import "math/bits"

// permuted returns the i-th number of a permutation of 0 to size-1 that the seed draws, so that the first ones are a
// sample without repetition, however long the list. It is a Feistel network over the next even number of bits, walked until it
// hits the range (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
func permuted(i, size int, seed uint64) int {
	const rounds = 6
	half := (max(bits.Len(uint(size-1)), 2) + 1) / 2
	mask := uint64(1)<<half - 1
	x := uint64(i)
	for {
		left, right := x>>half, x&mask
		for r := range uint64(rounds) {
			left, right = right, left^mixed(seed, r, right)&mask
		}
		if x = left<<half | right; x < uint64(size) {
			return int(x)
		}
	}
}

// mixed hashes its arguments, by SplitMix64's finaliser.
func mixed(seed, round, x uint64) uint64 {
	x += seed + (round+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	x += seed
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return x ^ x>>31
}
