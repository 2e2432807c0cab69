package cprog

import (
	"bytes"
	"encoding/hex"
	"slices"
	"sync/atomic"

	"github.com/heddle-dev/heddle/internal/abi"
	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/internal/toolchain"
	"github.com/heddle-dev/heddle/trace"
)

// loaded is where a module lies in the running process.
type loaded struct{ base, lo, hi uint64 }

// readModules copies the list that the runtime made at main.
func (t *Target) readModules(s *abi.Shm) {
	t.listing.Lock()
	defer t.listing.Unlock()
	t.loaded = t.loaded[:0]
	t.modules = t.modules[:0]
	for i := 0; i < int(s.Nmodules); i++ {
		m := &s.Modules[i]
		path := m.Path[:]
		if n := bytes.IndexByte(path, 0); n >= 0 {
			path = path[:n]
		}
		t.loaded = append(t.loaded, loaded{m.Base, m.Lo, m.Hi})
		mod := trace.Module{Path: string(path), BuildID: hex.EncodeToString(m.BuildId[:m.BuildIdLen]), Program: m.Flags&abi.ModuleProgram != 0}
		if m.Flags&abi.ModuleRuntime != 0 {
			// The runtime's own path and build id are not part of the program.
			mod = trace.Module{Path: trace.RuntimePath}
		}
		t.modules = append(t.modules, mod)
	}
	t.heapLo, t.heapHi = s.HeapBase, s.HeapBase+s.HeapSize
	t.vectors, t.strings, t.stringsEnd = s.Vectors, s.Strings, s.StringsEnd
	t.early = len(t.modules)
	// Modules loaded later, in other processes or in the recording, keep their numbers.
	if n := len(t.cfg.Modules); n > t.early && len(t.late) == 0 {
		for _, m := range t.cfg.Modules[t.early:min(n, t.early+abi.MaxLate)] {
			t.late = append(t.late, lateModule(m))
		}
	}
	copy(s.Late[:], t.late)
	s.Nlate = uint32(len(t.late)) // read with the first plan
	t.shm = s
	t.listLate()
}

// lateModule is how the runtime recognises a module of a recording. Its build id is that of the
// file as it is now, not as recorded, so that a comparison shows what has changed.
func lateModule(m trace.Module) (a abi.Module) {
	copy(a.Path[:abi.ModulePath-1], m.Path)
	id, err := hex.DecodeString(m.BuildID)
	if f, ferr := regular.OpenELF(m.Path); ferr == nil {
		id, err = hex.DecodeString(symbol.BuildID(f.File))
		f.Close()
	}
	if err == nil {
		a.BuildIdLen = uint32(copy(a.BuildId[:], id))
	}
	return a
}

// addLate adds what the process has loaded since main.
func (t *Target) addLate() {
	t.listing.Lock()
	defer t.listing.Unlock()
	t.listLate()
}

// listLate is addLate with listing held. Indices are those of the runtime's own list, which follows the
// modules loaded at main.
func (t *Target) listLate() {
	n := int(atomic.LoadUint32(&t.shm.Nlate))
	for i := len(t.modules) - t.early; i < n; i++ {
		m := &t.shm.Late[i]
		path, _, _ := bytes.Cut(m.Path[:], []byte{0})
		t.modules = append(t.modules, trace.Module{Path: string(path), BuildID: hex.EncodeToString(m.BuildId[:m.BuildIdLen])})
	}
	t.late = append(t.late[:0], t.shm.Late[:n]...)
}

// lateIndex returns the index of the module loaded later that contains addr, -1 for none.
func (t *Target) lateIndex(addr uint64) (module int, base uint64) {
	if addr < abi.LateBase || addr >= abi.LateBase+abi.MaxLate*abi.LateSpan {
		return -1, 0
	}
	i := (addr - abi.LateBase) / abi.LateSpan
	module = t.early + int(i)
	if module >= len(t.modules) && t.shm != nil {
		t.addLate()
	}
	if module >= len(t.modules) {
		return -1, 0
	}
	t.used = max(t.used, int(i)+1)
	return module, abi.LateBase + i*abi.LateSpan
}

// MarkVisited marks the libraries that may order threads in ways that the runtime does not know, as far as they are known.
func (p program) MarkVisited() {
	p.addLate()
	for i, m := range p.modules {
		flags := &p.listed(p.shm, i).Flags
		may := !m.Program && m.Path != trace.RuntimePath && toolchain.Untold(m.Path)
		if may != (*flags&abi.ModuleVisits != 0) { // the runtime may be writing it
			*flags ^= abi.ModuleVisits
		}
	}
}

// listed returns a module's entry in the shared memory.
func (t *Target) listed(s *abi.Shm, i int) *abi.Module {
	if i < t.early {
		return &s.Modules[i]
	}
	return &s.Late[i-t.early]
}

// Visited implements target.Visited.
func (t *Target) Visited(path string) bool {
	if t.shm != nil {
		t.addVisited(t.shm)
	}
	return t.visited[path]
}

// addVisited adds to visited what two threads have visited in the process.
func (t *Target) addVisited(s *abi.Shm) {
	for i, m := range t.modules {
		if t.listed(s, i).Flags&abi.ModuleVisited != 0 {
			t.visited[m.Path] = true
		}
	}
}

// Begin forgets which modules the previous execution referred to.
func (p program) Begin() { p.used = 0 }

// Modules returns the modules loaded at main and those that the current execution refers to:
// modules that only others have loaded do not belong in its trace.
func (p program) Modules() []trace.Module { return slices.Clone(p.modules[:p.early+p.used]) }

// PC returns the address of a site in the running process; 0 for an unknown one.
func (p program) PC(s trace.Site) uint64 {
	i := s.Module()
	switch {
	case i < 0 || i >= p.early+abi.MaxLate:
		return s.Offset()
	case i >= p.early:
		return abi.LateBase + uint64(i-p.early)*abi.LateSpan + s.Offset()
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
	if i, base := p.lateIndex(pc); i >= 0 {
		return trace.MakeSite(i, pc-base)
	}
	return trace.Site(pc & (1<<48 - 1)) // module -1: an address outside of every module
}

// Object names an address.
func (p program) Object(addr uint64, stacks *ipc.Stacks, by trace.ThreadID) trace.Object {
	switch {
	case addr == 0:
		return 0
	case addr >= p.heapLo && addr < p.heapHi:
		return trace.MakeObject(trace.RegionHeap, 0, addr-p.heapLo)
	}
	if o, ok := p.triedObject(addr); ok {
		return o
	}
	for i := range p.loaded {
		if m := &p.loaded[i]; addr >= m.lo && addr < m.hi {
			return trace.MakeObject(trace.RegionGlobal, i, addr-m.base)
		}
	}
	if i, base := p.lateIndex(addr); i >= 0 {
		return trace.MakeObject(trace.RegionGlobal, i, addr-base)
	}
	if th := stacks.Of(addr, by); th != nil {
		return trace.MakeObject(trace.RegionStack, int(th.Number), th.StackHi-addr)
	}
	return trace.MakeObject(trace.RegionOther, int(addr>>46), addr) // 47 bits
}

// Pointer names the place that a value points to, if the name depends on no address. The lowest pages hold no memory, so small numbers
// are not looked up.
func (p program) Pointer(value uint64, stacks *ipc.Stacks, by trace.ThreadID) (trace.Object, bool) {
	if value < 1<<16 || value >= 1<<47 {
		return 0, false
	}
	o := p.Object(value, stacks, by)
	if o.Region() == trace.RegionOther {
		return p.initial(value)
	}
	return o, true
}

// initial names a place among the arguments and the environment. Where they are depends on where the
// kernel has put the stack, and how it has aligned it.
func (p program) initial(addr uint64) (trace.Object, bool) {
	switch {
	case p.vectors == 0 || addr < p.vectors || addr >= p.stringsEnd:
		return 0, false
	case addr >= p.strings:
		addr = trace.ArgumentStrings + addr - p.strings
	default:
		addr = trace.ArgumentVectors + addr - p.vectors
	}
	return trace.MakeObject(trace.RegionOther, int(addr>>46), addr), true
}
