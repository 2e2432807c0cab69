package pattern

import "testing"

func TestOrderViolation(t *testing.T) {
	paired(t, OrderViolation, `
		T0 read x 0 <1
		T1 write x 1 <2
		ends assertion T0
	`, "", `
		T0 read x 0
		T1 write x 1
		ends assertion T0
	`, "")
}
