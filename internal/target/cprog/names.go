package cprog

import (
	"bytes"
	"encoding/hex"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/trace"
)

// loaded is a module of the running process.
type loaded struct{ base, lo, hi uint64 }

// readModules copies the list the runtime made at main.
func (t *Target) readModules(s *abi.Shm) {
	t.loaded = t.loaded[:0]
	t.modules = t.modules[:0]
	for i := 0; i < int(s.Nmodules); i++ {
		m := &s.Modules[i]
		path := m.Path[:]
		if n := bytes.IndexByte(path, 0); n >= 0 {
			path = path[:n]
		}
		t.loaded = append(t.loaded, loaded{m.Base, m.Lo, m.Hi})
		mod := trace.Module{Path: string(path), BuildID: hex.EncodeToString(m.BuildId[:m.BuildIdLen]), Program: m.Flags&1 != 0}
		if m.Flags&2 != 0 {
			// The runtime: where it was built, and so its build id, is no part of what was run.
			mod = trace.Module{Path: trace.RuntimePath}
		}
		t.modules = append(t.modules, mod)
	}
	t.heapLo, t.heapHi = s.HeapBase, s.HeapBase+s.HeapSize
}

// PC is the address a site has in the running process; 0 for an unknown one.
func (p program) PC(s trace.Site) uint64 {
	i := s.Module()
	if i < 0 || i >= len(p.loaded) {
		return s.Offset()
	}
	return p.loaded[i].base + s.Offset()
}

func (p program) Site(pc uint64) trace.Site {
	if pc == 0 {
		return 0
	}
	for i := range p.loaded {
		if m := &p.loaded[i]; pc >= m.lo && pc <= m.hi {
			return trace.MakeSite(i, pc-m.base)
		}
	}
	return trace.Site(pc & (1<<48 - 1)) // module -1: an address outside of every module
}

// Object names an address. Stacks are those of the threads of one execution; where a
// stack was used twice, by is preferred, then the younger thread.
func (p program) Object(addr uint64, threads []abi.ThreadInfo, by uint16) trace.Object {
	switch {
	case addr == 0:
		return 0
	case addr >= p.heapLo && addr < p.heapHi:
		return trace.MakeObject(trace.RegionHeap, 0, addr-p.heapLo)
	}
	for i := range p.loaded {
		if m := &p.loaded[i]; addr >= m.lo && addr < m.hi {
			return trace.MakeObject(trace.RegionGlobal, i, addr-m.base)
		}
	}
	found := -1
	for i := range threads {
		th := &threads[i]
		if addr < th.StackHi && addr >= th.StackHi-th.StackSize && (found < 0 || uint16(found) != by) {
			found = i
		}
	}
	if found >= 0 {
		return trace.MakeObject(trace.RegionStack, found, threads[found].StackHi-addr)
	}
	return trace.MakeObject(trace.RegionOther, int(addr>>46), addr) // 47 bits
}
