package machine

import "testing"

func TestShare(t *testing.T) {
	t.Parallel()
	for machine, want := range map[uint64]int64{64 << 30: 2 << 30, 8 << 30: 2 << 30, 7 << 30: 1 << 30, 1 << 30: 256 << 20, 1: 16 << 20} {
		if got := share(machine); got != want {
			t.Errorf("a machine of %d: %d, want %d", machine, got, want)
		}
	}
	if n, ok := MemoryInfo("MemTotal:"); !ok || n < LeastMemory {
		t.Errorf("this machine has %d bytes, %t", n, ok)
	}
	if _, ok := MemoryInfo("NoSuchLine:"); ok {
		t.Error("there is a line NoSuchLine")
	}
}
