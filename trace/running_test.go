package trace

import "testing"

func TestRunning(t *testing.T) {
	events := []Event{{Thread: 0}, {Thread: 1}, {Thread: 0}, {Thread: 2}}
	for _, test := range []struct {
		thread   ThreadID
		at, want int
	}{
		{0, 0, 0}, {0, 1, 2}, {0, 2, 2}, {0, 3, 2}, {0, 99, 2}, {0, -1, 0},
		{1, 0, 1}, {1, 2, 1}, {2, 0, 3}, {3, 0, -1},
	} {
		if got := Running(events, test.thread, test.at); got != test.want {
			t.Errorf("T%d at event %d: %d, want %d", test.thread, test.at, got, test.want)
		}
	}
	if got := Running(nil, 0, 0); got != -1 {
		t.Errorf("without events: %d", got)
	}
}
