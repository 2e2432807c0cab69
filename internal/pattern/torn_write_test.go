package pattern

import "testing"

func TestTornWrite(t *testing.T) {
	paired(t, TornWrite, `
		T1 write low 1 <1
		T2 write low 2 <2
		T2 write high 2
		T1 write high 1
		ends assertion
`, "object 1 keeps 2 from T2's write at #1, but object 2 1 from T1's at #3, though the two are always written together.", `
		T1 write low 1 <1
		T2 write low 2 <2
		T1 write high 1
		T2 write high 2
		ends assertion
`, OrderViolation)
}
