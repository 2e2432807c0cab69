package pattern

import "testing"

func TestMapAccess(t *testing.T) {
	paired(t, MapAccess, `
		go
		T1 read m 0
		T2 write m 0 <1
		ends fatal-error concurrent map writes
		passing:
		T1 write n 0 <2
`, "", `
		go
		T1 read m 0
		T2 write m 0 <1
		ends fatal-error out of memory
		passing:
		T1 write n 0 <2
`, OrderViolation)
}
