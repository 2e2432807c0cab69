package ipc

import (
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

func TestMappings(t *testing.T) {
	var m mappings
	add := func(address, size, offset, from uint64, path string, event int) {
		m.add(&mapping{abi.Mapping{Address: address, Size: size, Offset: offset, From: from}, path}, trace.Object(address), event)
	}
	add(0x10000000, 0x1000, 0, 0, "", 0)                                                // anonymous, where no file was
	add(0x20000000, 0x4000, 0x1000, 0, "/d/a", 1)                                       // a file
	add(0x20001000, 0x1000, 0, 0, "", 2)                                                // anonymous, over its second page
	add(0x30000000, 0x2000, 0, 0x20002000, "", 3)                                       // its third page, moved and grown
	add(0x40000000, 0x1000, 0, 0x20001000, "", 4)                                       // what lies over it, moved: still without a name
	add(0x20000000, 0x1000, 0, 0x50000000, "", 5)                                       // something else, moved to where it began
	add(0x60000000, 0x1000, 0, 0x30000ff8, "", 6)                                       // moved twice
	add(uint64(trace.MakeObject(trace.RegionGlobal, 1, 0x40)), 0x1000, 0, 0, "/d/b", 7) // in a module, which has names of its own
	want := []trace.Mapping{
		{Object: 0x20000000, Size: 0x4000, Offset: 0x1000, Path: "/d/a", Event: 1},
		{Object: 0x20001000, Size: 0x1000, Event: 2},
		{Object: 0x30000000, Size: 0x2000, Offset: 0x3000, Path: "/d/a", Event: 3},
		{Object: 0x20000000, Size: 0x1000, Event: 5},
		{Object: 0x60000000, Size: 0x1000, Offset: 0x3ff8, Path: "/d/a", Event: 6},
	}
	if !reflect.DeepEqual(m.list, want) {
		t.Errorf("got  %+v\nwant %+v", m.list, want)
	}
	for i := range 600 {
		add(0x70000000+uint64(i)<<12, 0x1000, 0, 0, "/"+strings.Repeat("x", 1000), 8)
	}
	if len(m.list) > 0 {
		t.Errorf("%d mappings are left, where later ones that may cover them are not kept", len(m.list))
	}
}
