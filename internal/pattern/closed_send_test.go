package pattern

import "testing"

func TestClosedSend(t *testing.T) {
	paired(t, ClosedSend, `
		go
		T1 close ch <1
		T2 send ch <2
		ends panic send on closed channel
`, "", `
		go
		T1 close ch <1
		T2 recv ch <2
		ends test-failure
`, OrderViolation)
}

// TestClosed: the close is told for the operation that fails. A select does not tell its channels.
func TestClosed(t *testing.T) {
	for name, c := range map[string]struct {
		text        string
		closed, use int
	}{
		"send":              {"T1 close other\nT2 close ch\nT1 send ch", 1, 2},
		"close":             {"T1 close other\nT2 close ch\nT1 close ch", 1, 2},
		"begun before":      {"T1 close other\nT1 send ch\nT2 close ch\nT1 read x 0", 2, 1},
		"select":            {"T2 close ch\nT1 select", 0, 1},
		"one of several":    {"T2 close ch\nT2 close other\nT1 select", -1, 2},
		"another goroutine": {"T2 close ch\nT2 send ch", -1, -1},
	} {
		t.Run(name, func(t *testing.T) {
			x := parse(t, "go\n"+c.text+"\nends panic send on closed channel")
			x.Trace.Ending.Thread, x.Trace.Ending.Site = 1, 7
			for i := range x.Trace.Events {
				if ev := &x.Trace.Events[i]; ev.Thread == 1 && i >= c.use {
					ev.Site = 7
				}
			}
			if closed, use := Closed(x.Trace); closed != c.closed || use != c.use {
				t.Errorf("closed by #%d, used by #%d, want #%d and #%d", closed, use, c.closed, c.use)
			}
		})
	}
}
