package engine

import "testing"

// Whatever the size, each number comes once; other seeds give other orders; and the first ones of a long list are spread.
func TestPermuted(t *testing.T) {
	t.Parallel()
	for _, size := range []int{1, 2, 3, 4, 5, 7, 16, 17, 63, 64, 65, 1000, 4097} {
		for seed := range uint64(8) {
			seen := make([]bool, size)
			for i := range size {
				n := permuted(i, size, seed)
				if n < 0 || n >= size || seen[n] {
					t.Fatalf("size %d, seed %d: number %d is %d, which is outside or came before", size, seed, i, n)
				}
				seen[n] = true
			}
		}
	}
	same := 0
	for i := range 1000 {
		if permuted(i, 1000, 1) == permuted(i, 1000, 2) {
			same++
		}
	}
	if same > 20 {
		t.Errorf("two seeds have %d of 1000 numbers at the same places", same)
	}
	const size, drawn, parts = 1 << 40, 64_000, 64
	var counts [parts]int
	for i := range drawn {
		counts[permuted(i, size, 7)/(size/parts)]++
	}
	for part, n := range counts {
		if n < drawn/parts*8/10 || n > drawn/parts*12/10 {
			t.Errorf("%d of %d numbers are in part %d of %d", n, drawn, part, parts)
		}
	}
}
