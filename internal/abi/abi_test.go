package abi

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"unsafe"
)

// What the compiler makes of the header today is what abi_gen.go and trace/op_gen.go say.
func TestGeneratedIsCurrent(t *testing.T) {
	dir := t.TempDir()
	if out, err := exec.Command("go", "run", "./gen", "-out", dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, file := range map[string]string{"abi_gen.go": "abi_gen.go", "op_gen.go": "../../trace/op_gen.go",
		"heddle_abi.go": "../../runtime/go/runtime/heddle_abi.go"} {
		want, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what the header gives: run make generate", file)
		}
	}
}

// Go lays the structures out as the C compiler does.
func TestLayout(t *testing.T) {
	for _, s := range []struct {
		name string
		go_  uintptr
		c    int
	}{
		{"Event", unsafe.Sizeof(Event{}), SizeofEvent},
		{"Step", unsafe.Sizeof(Step{}), SizeofStep},
		{"Plan", unsafe.Sizeof(Plan{}), SizeofPlan},
		{"Result", unsafe.Sizeof(Result{}), SizeofResult},
		{"ThreadInfo", unsafe.Sizeof(ThreadInfo{}), SizeofThreadInfo},
		{"Waiter", unsafe.Sizeof(Waiter{}), SizeofWaiter},
		{"Ring", unsafe.Sizeof(Ring{}), SizeofRing},
		{"Module", unsafe.Sizeof(Module{}), SizeofModule},
		{"Shm", unsafe.Sizeof(Shm{}), SizeofShm},
	} {
		if s.go_ != uintptr(s.c) {
			t.Errorf("%s: %d bytes in Go, %d in C", s.name, s.go_, s.c)
		}
	}
	var r Ring
	for _, o := range []struct {
		name string
		go_  uintptr
		c    int
	}{
		{"Ring.Tail", unsafe.Offsetof(r.Tail), OffsetofRingTail},
		{"Shm.PlanRing", unsafe.Offsetof(Shm{}.PlanRing), OffsetofShmPlanRing},
		{"Shm.Modules", unsafe.Offsetof(Shm{}.Modules), OffsetofShmModules},
		{"Event.Mask", unsafe.Offsetof(Event{}.Mask), OffsetofEventMask},
	} {
		if o.go_ != uintptr(o.c) {
			t.Errorf("%s: at %d in Go, %d in C", o.name, o.go_, o.c)
		}
	}
	if OffsetofRingTail%64 != 0 {
		t.Errorf("the cursors of a ring share a cache line")
	}
}

// Numbers and names of operations are part of the trace format: each is there once.
func TestOperations(t *testing.T) {
	seen := map[string]int{}
	for i, n := range OpNames {
		if n == "" {
			continue
		}
		if j, ok := seen[n]; ok {
			t.Errorf("operations %d and %d are both called %q", j, i, n)
		}
		seen[n] = i
	}
	if len(seen) < 60 {
		t.Errorf("only %d operations", len(seen))
	}
}
