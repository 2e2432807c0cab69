package pattern

import "testing"

func TestTornRead(t *testing.T) {
	paired(t, TornRead, `
		T1 write low 1
		T1 write high 1
		T1 write low 2
		T2 read low 2
		T2 read high 1 <1
		T1 write high 2 <2
		ends assertion
`, "T2 reads 2 from object 1 after T1 has written it at #2, but 1 from object 2 at #4 before T1 writes it, though the two are always written together.", `
		T1 write high 1
		T1 write low 2
		T1 write low 3
		T1 write low 4
		T2 read low 4
		T2 read high 1 <1
		T1 write high 2 <2
		ends assertion
`, Unserializable)
}

// A reader between two pairs sees the first of them whole.
func TestWholeRead(t *testing.T) {
	x := parse(t, `
		T1 write low 1
		T1 write high 1
		T2 read high 1
		T2 read low 1 <1
		T1 write low 2 <2
		T1 write high 2
	`)
	if m := Of(x); m.Pattern.Name == TornRead {
		t.Error(m.Say(words{x}))
	}
}

// The two places have a lock each, which stand for the accesses.
func TestTornReadAcrossSections(t *testing.T) {
	const reads = `
		T2 lock a
		T2 read x 0
		T2 unlock a
`
	const writes = `
		T1 lock a
		T1 write x 1
		T1 unlock a
		T1 lock b
		T1 write y 1
		T1 unlock b
		T1 lock a
		T1 write x 2
		T1 unlock a
		T1 lock b <1
		T1 write y 2
		T1 unlock b
`
	const last = `
		T2 lock b <2
		T2 read y 2
		ends assertion T2
`
	paired(t, TornRead, reads+writes+last, "T2 reads 2 from object 4 after T1 has written it at #13, but 0 from object 2 at #1 before T1 writes it, though the two are always written together.",
		writes+reads+last, OrderViolation)
}

// What a thread writes in two critical sections of one lock belongs together no more than what others do there in between.
func TestTwoSections(t *testing.T) {
	const one = `
		T1 lock m
		T1 write x 1
		T1 unlock m
		T1 lock m
		T1 write y 1
		T1 unlock m
		T1 lock m
		T1 write x 2
		T1 unlock m
		T2 lock m <1
		T2 read x 2
		T2 read y 1
		T2 unlock m
		T1 lock m <2
		T1 write y 2
		T1 unlock m
		ends assertion T2
`
	if m := Of(parse(t, one)); m.Pattern.Name == TornRead {
		t.Error(m.Say(words{parse(t, one)}))
	}
}
