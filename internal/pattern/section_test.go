package pattern

import (
	"slices"
	"testing"
)

// TestGuarded: two acquisitions stand for accesses in their critical sections, also where the second one's thread never gets the lock, and
// where a channel serves as the lock.
func TestGuarded(t *testing.T) {
	for name, c := range map[string]struct {
		execution string
		events    []int
		later     int
	}{
		"both": {`
		T1 lock m <1
		T1 write x 1
		T1 unlock m
		T2 lock m <2
		T2 read x 1
`, []int{1, 4}, -1},
		"never": {`
		T1 lock m <1
		T1 read x 0
		T2 lock m <2
		ends deadlock
		passing:
		T2 lock m
		T2 write x 1
		T2 unlock m
		T1 lock m
`, []int{1}, 1},
		"channel": {`
		go
		T1 send ch <1
		T1 read x 0
		T2 send ch <2
		ends deadlock
		passing:
		T2 send ch
		T2 write x 1
		T2 recv ch
		T1 send ch
`, []int{1}, 1},
		"no lock": {`
		go
		T1 send ch <1
		T1 read x 0
		T2 send ch <2
		ends deadlock
		passing:
		T2 send ch
		T2 write x 1
		T2 send ch
		T1 send ch
`, nil, -1},
	} {
		x := parse(t, c.execution)
		if events, later := x.Guarded(x.Order); !slices.Equal(events, c.events) || later != c.later {
			t.Errorf("%s: %v and %d, want %v and %d", name, events, later, c.events, c.later)
		}
	}
}
