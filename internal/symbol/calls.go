package symbol

import (
	"cmp"
	"slices"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/callsite"
	"github.com/heddle-dev/heddle/trace"
)

// CallSite is an instruction that calls a function.
type CallSite struct {
	// Site is its return address. Of a jump, which has none, it is the byte after.
	Site trace.Site
	// Jump says that the call ends the function it is in, and was compiled into a jump: what
	// is called sees the return address of that function's own caller.
	Jump bool
	// Frames is the call's place, innermost first; see Table.Call.
	Frames []Frame
	// Entry and Name are the function that the instruction belongs to, which Frames ends
	// with. Entry is 0 if it is not known.
	Entry trace.Site
	Name  string // as the linker knows it
}

// CallsTo finds the instructions of all modules that call one of some functions: those
// called names, from outside of the module or not, and those that begin at entries, of the
// same module. It looks for x86-64 instructions that call or jump to exactly these places,
// so calls through pointers are not among them. Modules that cannot be read have none.
// The result is in order of sites.
func (t *Table) CallsTo(names []string, entries []trace.Site) []CallSite {
	t.mu.Lock()
	var found []CallSite
	for i := range t.mods {
		m := t.module(i)
		wanted := map[uint64]bool{}
		for _, e := range entries {
			if e.Module() == i {
				wanted[e.Offset()] = true
			}
		}
		for _, c := range m.calls(names, wanted) {
			s := CallSite{Site: trace.MakeSite(i, c.After), Jump: c.Jump}
			if entry, name := m.functionAt(c.After - 1); entry != 0 {
				s.Entry, s.Name = trace.MakeSite(i, entry), name
			}
			found = append(found, s)
		}
	}
	t.mu.Unlock()
	slices.SortFunc(found, func(a, b CallSite) int { return cmp.Compare(a.Site, b.Site) })
	for i := range found {
		found[i].Frames = t.Call(found[i].Site)
	}
	return found
}

// Files lists the source files that the modules' line tables name and match accepts, each
// once, in order.
func (t *Table) Files(match func(path string) bool) []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for i := range t.mods {
		m := t.module(i)
		if m.debug == nil {
			continue
		}
		for path := range m.debug.Files() {
			if match(path) {
				out = append(out, path)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// functionAt is where the function that addr is in begins, and its name; 0 if that is not
// known. Its cold part, elsewhere, belongs to it.
func (m *module) functionAt(addr uint64) (entry uint64, name string) {
	if m.debug != nil {
		entry = m.debug.Entry(addr)
	}
	if s, ok := m.code.Find(max(entry, 1)); ok && s.Addr == entry {
		return entry, s.Name
	}
	if entry != 0 {
		return entry, ""
	}
	if s, ok := m.code.Find(addr); ok {
		return s.Addr, s.Name
	}
	return 0, ""
}

// calls finds calls in the module's file: see callsite.Find.
func (m *module) calls(names []string, wanted map[uint64]bool) []callsite.Call {
	if m.err != nil {
		return nil // the file is not the one that runs
	}
	f, err := regular.OpenELF(m.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return callsite.Find(f.File, m.code, names, wanted)
}
