package cprog

import (
	"debug/elf"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/symbol/uncontrolled"
	"github.com/heddle-dev/heddle/trace"
)

// scan is what Uncontrolled found in the first modules.
type scan struct {
	runtime map[string]bool // what the runtime defines
	modules int
	found   []string

	unhooked int
	first    trace.Site
	assembly []string
}

// Uncontrolled implements target.CodeScanner.
func (t *Target) Uncontrolled() []string {
	t.scanModules()
	return slices.Clone(t.scan.found)
}

// Unhooked implements target.CodeScanner.
func (t *Target) Unhooked() (n int, first trace.Site, files []string) {
	t.scanModules()
	return t.scan.unhooked, t.scan.first, slices.Clone(t.scan.assembly)
}

func (t *Target) scanModules() {
	modules, s := t.Modules(), &t.scan
	if s.runtime == nil {
		s.runtime = map[string]bool{}
		if f, err := elf.Open(t.cfg.Runtime); err == nil {
			symbols, _ := f.DynamicSymbols()
			for i := range symbols {
				s.runtime[symbols[i].Name] = symbols[i].Section != elf.SHN_UNDEF
			}
			f.Close()
		}
	}
	for ; s.modules < len(modules); s.modules++ {
		if m := modules[s.modules]; m.Path != trace.RuntimePath && !ofSystem(m.Path) {
			s.found = append(s.found, s.in(s.modules, m)...)
		}
	}
}

// in returns what is in a module.
func (s *scan) in(number int, m trace.Module) (found []string) {
	f, err := elf.Open(m.Path)
	if err != nil {
		return []string{m.Path + " could not be searched for what heddle does not control"}
	}
	defer f.Close()
	name := filepath.Base(m.Path)
	symbols, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	code, _ := elffile.NewSymtabs(append(symbols, dynamic...))
	if instructions := uncontrolled.Instructions(f, code); len(instructions) > 0 {
		found = append(found, fmt.Sprintf("%s contains %s, whose results heddle does not control", name, strings.Join(instructions, ", ")))
	}
	if slices.ContainsFunc(dynamic, func(s elf.Symbol) bool { return s.Section == elf.SHN_UNDEF && strings.HasPrefix(s.Name, "__tsan_") }) {
		at := uncontrolled.Atomics(f, code)
		if s.unhooked == 0 && len(at) > 0 {
			s.first = trace.MakeSite(number, at[0]+1) // sites are return addresses
		}
		s.unhooked += len(at)
		s.assembly = append(s.assembly, uncontrolled.Assembly(f)...)
	}
	// Of a library without access hooks, heddle does not see the accesses either.
	hooks := m.Program || slices.ContainsFunc(dynamic, func(s elf.Symbol) bool { return s.Name == "__tsan_init" })
	if names := uncontrolled.Names(f, s.runtime); hooks && len(names) > 0 {
		found = append(found, fmt.Sprintf("%s uses %s of libc, whose state threads may share", name, strings.Join(names, ", ")))
	}
	return found
}

// ofSystem reports whether a module belongs to libc or comes with it. See hd_path_of_system.
func ofSystem(path string) bool {
	base := filepath.Base(path)
	return path == "[vdso]" || slices.ContainsFunc([]string{"linux-vdso", "ld-linux", "libc.so", "libm.so", "libgcc_s.so", "libstdc++.so", "libtsan.so"}, func(name string) bool { return strings.HasPrefix(base, name) })
}
