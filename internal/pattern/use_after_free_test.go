package pattern

import "testing"

func TestUseAfterFree(t *testing.T) {
	paired(t, UseAfterFree, `
		T1 read x 1 <1
		T0 write x 0 <2
		T0 free b
		ends misuse T1 b
`, "The execution ends as T1 accesses memory after T0's free#2.", `
		T1 read x 1 <1
		T0 write x 0 <2
		T1 free b
		ends misuse T1 b
`, OrderViolation)
}
