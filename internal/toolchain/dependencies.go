package toolchain

import (
	"bytes"
	"context"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/internal/regular"
)

// Dependency is a library that a program is linked with, directly or through other libraries.
type Dependency struct {
	Name  string // as the loader looks for it
	Path  string // the file that the loader found
	Order Order
	// Symbols are functions and variables of the library to which the program refers, or another library
	// that it can call: By. Both are empty if the program cannot reach the library by symbols; a pointer to its
	// code can still come from elsewhere, as from dlsym.
	Symbols []string
	By      string // the name of the first library that refers to it; empty for the program itself
	system  bool   // libc, or one that comes with the compiler
}

// Order says what is known of how a library orders threads.
type Order int

const (
	Usual   Order = iota // by nothing but what the runtime interposes, as far as heddle can tell
	Told                 // by means of its own, which the runtime tells the analyses
	Unknown              // perhaps by means of its own, unknown to heddle: see Untold
)

// loader is the only dynamic loader that Dependencies executes: the name in a program's file may be any program's.
const loader = "/lib64/ld-linux-x86-64.so.2"

// listTime bounds the time for finding a program's libraries.
const listTime = 10 * time.Second

// Dependencies returns the libraries that the loader would load for the program, in its order, but for libc and those that come with the compiler. The
// loader finds them without executing code of the program.
func (p Program) Dependencies(ctx context.Context) ([]Dependency, error) {
	if p.Interp != loader {
		return nil, fmt.Errorf("its loader is %s, and heddle asks only %s for a program's libraries", p.Interp, loader)
	}
	path, err := filepath.Abs(p.Path)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	out, err := exec.CommandContext(ctx, loader, "--list", path).Output()
	if err != nil {
		if e, ok := err.(*exec.ExitError); ok && len(e.Stderr) > 0 {
			err = fmt.Errorf("%s", bytes.TrimSpace(e.Stderr))
		}
		return nil, fmt.Errorf("its libraries cannot be listed: %w", err)
	}
	all := reached(path, listed(string(out)))
	return slices.DeleteFunc(all, func(d Dependency) bool { return d.system }), nil
}

// listed reads what the loader prints.
func listed(text string) (all []Dependency) {
	for line := range strings.Lines(text) {
		name, rest, ok := strings.Cut(strings.TrimSpace(line), " => ")
		path, _, found := strings.Cut(rest, " (0x")
		if !ok && strings.HasPrefix(name, "/") { // one that is named by its path
			path, _, found = strings.Cut(name, " (0x")
			name = path
		}
		if !found {
			continue // the kernel's, or one that is missing
		}
		d := Dependency{Name: filepath.Base(name), Path: path}
		switch base := filepath.Base(path); {
		case begins(base, seen) || begins(d.Name, seen):
			d.system = true
		case begins(base, told):
			d.Order = Told
		case Untold(path):
			d.Order = Unknown
		}
		all = append(all, d)
	}
	return all
}

// reached fills in Symbols and By. A symbol is the first library's that defines it, as for the loader.
func reached(program string, all []Dependency) []Dependency {
	defines := map[string]int{}
	refers := make([][]string, len(all)+1) // of the program, and of each library
	for i := range refers {
		path := program
		if i > 0 {
			path = all[i-1].Path
		}
		for _, s := range dynamicSymbols(path) {
			switch {
			case s.Section == elf.SHN_UNDEF:
				refers[i] = append(refers[i], s.Name)
			case elf.ST_BIND(s.Info) != elf.STB_LOCAL && i > 0:
				if _, ok := defines[s.Name]; !ok {
					defines[s.Name] = i
				}
			}
		}
	}
	known := make([]bool, len(refers))
	known[0] = true
	for next := []int{0}; len(next) > 0; next = next[1:] {
		from := next[0]
		if from > 0 && all[from-1].system {
			continue // it calls others only where they have handed it a pointer
		}
		for _, s := range refers[from] {
			to := defines[s]
			if to == 0 || to == from {
				continue
			}
			d, by := &all[to-1], ""
			if from > 0 {
				by = all[from-1].Name
			}
			if !known[to] {
				known[to], d.By = true, by
				next = append(next, to)
			}
			if d.By == by {
				d.Symbols = append(d.Symbols, s)
			}
		}
	}
	for i := range all {
		slices.Sort(all[i].Symbols)
		all[i].Symbols = slices.Compact(all[i].Symbols)
	}
	return all
}

func dynamicSymbols(path string) []elf.Symbol {
	f, err := regular.OpenELF(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	symbols, _ := f.DynamicSymbols()
	return symbols
}
