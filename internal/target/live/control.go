package live

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"

	"github.com/heddle-dev/heddle/trace"
)

// The control file: struct hl_control of runtime/live/live.h, then the targets, the patches, and the instructions
// that are known and those that are found to access shared memory.
const (
	magic   = 0x6576696c6c646568
	version = 5

	nameSize   = 256
	maxModules = 64
)

// Mode is what the library does.
type Mode uint64

const (
	Plain   Mode = iota // the hooks are called and do nothing
	Profile             // events are recorded
	Force               // threads are suspended for the targets
	Delay               // threads are delayed at synchronisation operations
)

// head is struct hl_control.
type head struct {
	Magic, Version, Size                     uint64
	Mode                                     uint64
	Seed                                     uint64
	Limit, Pass                              uint64
	Budget, Most                             uint64
	Targets, Patches, Modules                uint64
	Ready, Threads, Refused, Lost, MainStack uint64
	Stacks, Values                           uint64
	Vectors, Strings, StringsEnd             uint64
	Sharing, Shared, MostFound, Found        uint64
	Directory                                [nameSize]byte
	Table                                    [maxModules]module
}

type module struct {
	Path [nameSize]byte
	Base uint64
}

// target is struct hl_target.
type target struct {
	P, C, R, OuterC, OuterR uint64
	ThreadC, ThreadR        uint32
	Stay                    uint64
	StackC, StackR          uint64
	Counts
}

// Counts are what became of a target in one execution.
type Counts struct {
	// CameC arrivals were at c right after p, CameR at r. SuspendedC and SuspendedR of them were
	// suspended. Met: while a thread stood before c another came to r, on the same bytes. Expired
	// suspensions ended at their time limit.
	CameC, CameR           uint64
	SuspendedC, SuspendedR uint64
	Met, Expired           uint64
}

// patch is struct hl_patch.
type patch struct{ After, Jump uint64 }

// place is a site as the library names it; 0 for none.
func place(s trace.Site) uint64 {
	if s == 0 {
		return 0
	}
	return uint64(s.Module()+1)<<48 | s.Offset()
}

// siteOf is the inverse of place.
func siteOf(p uint64) trace.Site {
	if p == 0 {
		return 0
	}
	return trace.MakeSite(int(p>>48)-1, p&(1<<48-1))
}

// writeControl creates the control file.
func writeControl(name string, h *head, targets []target, patches []patch, shared []uint64) error {
	h.Magic, h.Version = magic, version
	h.Targets, h.Patches = uint64(len(targets)), uint64(len(patches))
	h.Shared = uint64(len(shared))
	found := make([]uint64, h.MostFound)
	var b bytes.Buffer
	h.Size = uint64(binary.Size(h) + len(targets)*binary.Size(target{}) + len(patches)*binary.Size(patch{}) + 8*(len(shared)+len(found)))
	for _, part := range []any{h, targets, patches, shared, found} {
		if err := binary.Write(&b, binary.LittleEndian, part); err != nil {
			return fmt.Errorf("the control file of an execution cannot be written: %w", err)
		}
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

// readControl reads the counters back, and the instructions that were found.
func readControl(name string, before *head) (h head, out []target, found []uint64, err error) {
	b, err := os.ReadFile(name)
	if err != nil {
		return h, nil, nil, err
	}
	r := bytes.NewReader(b)
	out, found = make([]target, before.Targets), make([]uint64, before.MostFound)
	for _, part := range []any{&h, out, make([]patch, before.Patches), make([]uint64, before.Shared), found} {
		if err := binary.Read(r, binary.LittleEndian, part); err != nil {
			return h, nil, nil, fmt.Errorf("the control file of an execution is damaged: %w", err)
		}
	}
	return h, out, found[:min(h.Found, before.MostFound)], nil
}
