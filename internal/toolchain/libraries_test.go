package toolchain

import (
	"slices"
	"testing"
)

func TestLibraries(t *testing.T) {
	t.Parallel()
	p := Program{Needed: []string{"libtsan.so.2", "libgomp.so.1", "libQt6Core.so.6", "libtbb.so.12", "libc.so.6"}}
	known, unknown := p.Libraries()
	if want := []string{"libgomp.so.1", "libtbb.so.12"}; !slices.Equal(known, want) {
		t.Errorf("known %q, want %q", known, want)
	}
	if want := []string{"libQt6Core.so.6"}; !slices.Equal(unknown, want) {
		t.Errorf("unknown %q, want %q", unknown, want)
	}
}
