package tracefile

import "testing"

func TestDerived(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, step, want string }{
		{"a.hdl", "min", "a.min.hdl"},
		{"a.min.hdl", "min", "a.min2.hdl"},
		{"a.min9.hdl", "min", "a.min10.hdl"},
		{"a.minimal.hdl", "min", "a.minimal.min.hdl"},
		{".min.hdl", "min", ".min.min.hdl"},
		{"dir.min/a", "min", "dir.min/a.min"},
		{"a.std.gz", "static", "a.static.std.gz"},
		{"a.static.std.gz", "static", "a.static2.std.gz"},
		{"a.min.hdl", "static", "a.min.static.hdl"},
		{"a.stmt", "static", "a.static.stmt"},
		{"a", "min", "a.min"},
	} {
		if got := Derived(test.name, test.step); got != test.want {
			t.Errorf("Derived(%q, %q) = %q, want %q", test.name, test.step, got, test.want)
		}
	}
}
