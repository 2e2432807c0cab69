package pattern

import "testing"

func TestUnserializable(t *testing.T) {
	paired(t, Unserializable, `
		T1 write x 1
		T2 read x 1 <1
		T1 write x 2 <2
`, "", `
		T2 read x 0 <1
		T1 write x 1 <2
		T1 write x 2
`, OrderViolation)
}
