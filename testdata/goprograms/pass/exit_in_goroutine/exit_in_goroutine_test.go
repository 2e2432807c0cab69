package exitingoroutine

import "testing"

func TestWatcher(t *testing.T) {
	w := NewWatcher()
	w.Close()
	if w.present.Load() {
		t.Error("still there")
	}
}
