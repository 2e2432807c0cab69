package symbol

import (
	"cmp"
	"debug/elf"
	"slices"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/symbol/callsite"
	"github.com/heddle-dev/heddle/trace"
)

// CallSite is an instruction that calls a function.
type CallSite struct {
	// Site is its return address, or, for a jump, the address after it.
	Site trace.Site
	// Jump marks a tail call compiled into a jump: the callee sees the return address of the
	// calling function's own caller.
	Jump bool
	// Frames is the call's place, innermost first; see Table.Call.
	Frames []Frame
	// Entry and Name are the function that contains the instruction, the last one in Frames. Entry
	// is 0 if unknown.
	Entry trace.Site
	Name  string // linkage name
}

// CallsTo finds the instructions, in all modules, that call certain functions: those with one of
// names, imported or not, and those of the same module that begin at entries. It searches for
// x86-64 instructions that call or jump directly to these, so it does not find calls through
// pointers. It skips modules that cannot be read. The result is ordered by site.
func (t *Table) CallsTo(names []string, entries []trace.Site) []CallSite {
	return t.callSites(func(i int, m *module) []callsite.Call {
		wanted := map[uint64]bool{}
		for _, e := range entries {
			if e.Module() == i {
				wanted[e.Offset()] = true
			}
		}
		return m.calls(func(f *elf.File) []callsite.Call { return callsite.Find(f, m.code, names, wanted) })
	})
}

// Calls finds the instructions that call a function, also through a pointer, in the modules that
// match accepts; see callsite.All. It skips modules that cannot be read. The result is ordered by site.
func (t *Table) Calls(match func(module int) bool) []CallSite {
	return t.callSites(func(i int, m *module) []callsite.Call {
		if !match(i) {
			return nil
		}
		return m.calls(func(f *elf.File) []callsite.Call { return callsite.All(f, m.code) })
	})
}

// Callee returns which of names, functions of C, is called with a return address; empty if none is known to be. See CallsTo.
func (t *Table) Callee(s trace.Site, names []string) string {
	for _, name := range names {
		called := t.callSites(func(i int, m *module) []callsite.Call {
			if i != s.Module() {
				return nil
			}
			all := m.calls(func(f *elf.File) []callsite.Call { return callsite.Find(f, m.code, []string{name}, map[uint64]bool{}) })
			return slices.DeleteFunc(all, func(c callsite.Call) bool { return c.Jump || c.After != s.Offset() })
		})
		if len(called) > 0 {
			return name
		}
	}
	return ""
}

func (t *Table) callSites(calls func(i int, m *module) []callsite.Call) []CallSite {
	t.mu.Lock()
	var found []CallSite
	for i := range t.mods {
		m := t.module(i)
		for _, c := range calls(i, m) {
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

// functionAt returns the entry, or 0 if unknown, and the name of the function that contains addr. A
// cold part placed elsewhere belongs to its function.
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

// calls returns what find finds in the module's file.
func (m *module) calls(find func(*elf.File) []callsite.Call) []callsite.Call {
	if m.err != nil {
		return nil // the file is not the one that ran
	}
	f, err := regular.OpenELF(m.Path)
	if err != nil {
		return nil
	}
	defer f.Close()
	return find(f.File)
}
