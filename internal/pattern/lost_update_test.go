package pattern

import "testing"

func TestLostUpdate(t *testing.T) {
	paired(t, LostUpdate, `
		T1 read x 0
		T2 read x 0
		T2 write x 1 <1
		T1 write x 1 <2
`, "", `
		T2 read x 0
		T2 write x 1 <1
		T1 read x 1 <2
		T1 write x 2
`, OrderViolation)
}
