package pattern

import "testing"

func TestUseBeforeInit(t *testing.T) {
	paired(t, TooEarly, `
		T1 read x 0 <1
		ends signal T1
		passing:
		T0 write x 7 <2
`, "It is 0, and no write of it came before.", `
		T0 write x 0
		T1 read x 0 <1
		ends signal T1
		passing:
		T0 write x 7 <2
`, OrderViolation)
}
