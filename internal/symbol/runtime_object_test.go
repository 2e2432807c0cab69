package symbol

import (
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// An object of heddle's runtime has the name of what it stands for.
func TestRuntimeObject(t *testing.T) {
	table := New([]trace.Module{{Path: "/gone/prog"}, {Path: trace.RuntimePath}}, Options{})
	if got := table.Global(1, 0x11c7e0, 0).Text; got != "the library's tasks" {
		t.Errorf("%q", got)
	}
}
