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

// TestOverlap: of two accesses to a map at the same time, one begins while another thread is in the middle of the other, whichever of
// them the ordering delays.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		execution     string
		begun, during int
	}{
		{`
		go
		T1 write n 0
		T1 write m 0
		T2 write m 0 <1
		ends fatal-error concurrent map writes
		passing:
		T1 write m 0
		T1 write m 0 <2
`, 1, 2},
		{`
		go
		T2 write n 0
		T2 write m 0 <1
		T1 write m 0
		ends fatal-error concurrent map writes
		passing:
		T1 write m 0
		T1 write m 0 <2
`, 1, 2},
		{`
		go
		T2 write n 0
		T2 write m 0 <1
		T1 write k 0
		ends fatal-error concurrent map writes
		passing:
		T1 write k 0
		T1 write m 0 <2
`, 0, 0},
	} {
		m := Of(parse(t, c.execution))
		if m == nil || m.Begun != c.begun || m.During != c.during {
			t.Errorf("%+v, want %d and %d, in %s", m, c.begun, c.during, c.execution)
		}
	}
}
