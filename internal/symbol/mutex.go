package symbol

import (
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/trace"
)

// Variable is a place in a module's data.
type Variable struct {
	Site  trace.Site // its address
	Mutex bool       // it is a mutex: see dwarfinfo.Place.Mutex
}

// Variables returns the global and static variables, and members of them, that name names as
// Objects.Name does: `mu`, `queue.mutex`, `slots[3].lock`, `f::mu`. Only those of programs with
// debug information are known to be mutexes.
func (t *Table) Variables(name string) (out []Variable) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.mods {
		m := t.module(i)
		for k := range m.data {
			s := &m.data[k]
			base := m.global(s.Addr, 0).Base
			if base == "" || !strings.HasPrefix(name, base) {
				continue
			}
			if name != base && name[len(base)] != '.' && name[len(base)] != '[' {
				continue
			}
			for off := uint64(0); off < max(s.Size, 1); off += 8 {
				if m.global(s.Addr+off, 0).Text == name {
					out = append(out, Variable{trace.MakeSite(i, s.Addr+off), m.mutexAt(s.Addr + off)})
					break
				}
			}
		}
	}
	return out
}

// Mutexes returns the names of the program's global and static mutexes, and of members that are mutexes, at most so many.
func (t *Table) Mutexes(most int) (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.mods {
		if !t.mods[i].Program {
			continue
		}
		m := t.module(i)
		for k := range m.data {
			s := &m.data[k]
			for off := uint64(0); off < min(max(s.Size, 1), mutexBytes); off += 8 {
				if !m.mutexAt(s.Addr + off) {
					continue
				}
				if name := m.global(s.Addr+off, 0).Text; name != "" && !slices.Contains(names, name) {
					if names = append(names, name); len(names) == most {
						return names
					}
				}
			}
		}
	}
	return names
}

// mutexBytes bounds the bytes of a variable in which Mutexes looks for members.
const mutexBytes = 4096

func (m *module) mutexAt(addr uint64) bool {
	if m.debug == nil {
		return false
	}
	v, ok := m.debug.VariableAt(addr)
	return ok && v.Type != nil && int64(addr-v.Addr) < max(v.Type.Size, 1) && v.Type.Locate(int64(addr-v.Addr), 0).Mutex()
}
