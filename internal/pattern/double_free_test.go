package pattern

import "testing"

func TestDoubleFree(t *testing.T) {
	paired(t, DoubleFree, `
		T0 write x 0 <1
		T0 free b
		T1 read x 0 <2
		T1 free b
		ends misuse T1 b
`, "The execution ends as T1 frees memory after T0's free#1.", `
		T0 write x 0 <1
		T0 free b
		T1 read x 0 <2
		ends misuse T1 b
`, UseAfterFree)
}
