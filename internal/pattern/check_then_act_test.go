package pattern

import "testing"

func TestCheckThenAct(t *testing.T) {
	paired(t, CheckThenAct, `
		T1 lock m
		T1 read x 1
		T1 unlock m
		T2 lock m
		T2 write x 0 <1
		T2 unlock m
		T1 lock m
		T1 read x 0 <2
`, "", `
		T2 lock m
		T2 write x 0 <1
		T2 unlock m
		T1 lock m
		T1 read x 0 <2
		T1 read x 0
`, OrderViolation)
}
