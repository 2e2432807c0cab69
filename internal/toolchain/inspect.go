package toolchain

import (
	"bytes"
	"debug/elf"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/regular"
)

// Program is what an executable's file contains that matters for running it under heddle.
type Program struct {
	Path    string   `json:"path"`
	BuildID string   `json:"build_id,omitempty"` // hex, empty if it has none
	PIE     bool     `json:"pie"`
	Interp  string   `json:"interp"` // the dynamic loader
	Needed  []string `json:"needed"` // the libraries it asks for, in order
	// TSan is the name under which it needs ThreadSanitizer's library, and so the runtime:
	// "libtsan.so.2", "libtsan.so.0", empty if it does not. Without it the runtime has to be
	// preloaded.
	TSan string `json:"tsan,omitempty"`
	// Instrumented reports that it calls access hooks, so that memory accesses are visible. Its
	// libraries may differ.
	Instrumented bool `json:"instrumented"`
}

// Inspect reads an executable. The error is one sentence with advice if heddle cannot run the file:
// if it is not a program, is for another machine, is linked statically or against another C
// library, or contains a sanitizer's own runtime.
func Inspect(path string) (Program, error) {
	no := func(format string, args ...any) (Program, error) {
		return Program{}, fmt.Errorf("%s "+format, append([]any{path}, args...)...)
	}
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return no("does not exist: give the path of a program")
	case err != nil:
		return no("cannot be looked at (%v): give the path of a program", cause(err))
	case st.IsDir():
		return no("is a directory: give the path of a program")
	case !st.Mode().IsRegular():
		return no("is not a regular file: give the path of a program")
	}
	f, err := regular.Open(path)
	if err != nil {
		return no("cannot be read (%v): heddle has to read a program to run it", cause(err))
	}
	defer f.Close()
	head := make([]byte, 64<<10)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return no("cannot be read (%v): heddle has to read a program to run it", cause(err))
	}
	head = head[:n]
	switch {
	case bytes.HasPrefix(head, []byte("#!")):
		return Program{}, script(path, head)
	case !bytes.HasPrefix(head, []byte(elf.ELFMAG)):
		return no("is not an executable program (no ELF file): give the program that the compiler made")
	case n > elf.EI_CLASS && elf.Class(head[elf.EI_CLASS]) != elf.ELFCLASS64:
		return no("is a 32-bit program, and heddle runs 64-bit x86 programs only: build it with -m64")
	}
	e, err := elf.NewFile(f)
	if err != nil {
		return no("is damaged (%v): link it again", err)
	}
	if e.Machine != elf.EM_X86_64 {
		return no("is a program for %s, and heddle runs 64-bit x86 programs only: build it for this machine", machineName(e.Machine))
	}
	p := Program{Path: path, Interp: interp(e), PIE: e.Type == elf.ET_DYN}
	dynamic := segment(e, elf.PT_DYNAMIC) != nil
	switch {
	case e.Type == elf.ET_REL:
		return no("is an object file: link it, and give the program")
	case e.Type == elf.ET_CORE:
		return no("is a core file: give the program that left it")
	case e.Type != elf.ET_EXEC && e.Type != elf.ET_DYN:
		return no("is not an executable program (ELF type %v): give the program that the linker made", e.Type)
	case e.Section(".go.buildinfo") != nil:
		return no("is a Go program: heddle's runtime is for C and C++ programs")
	case p.Interp == "" && (e.Type == elf.ET_EXEC || isPIE(e)):
		return no("is linked statically, so heddle's runtime cannot be put in: link it without -static")
	case p.Interp == "" || !dynamic:
		return no("is a shared library: give a program that uses it")
	case strings.Contains(filepath.Base(p.Interp), "musl"):
		return no("uses the musl C library, and heddle's runtime needs the GNU one: build it against glibc")
	case st.Mode()&0o111 == 0:
		return no("has no permission to be executed: chmod +x it")
	case st.Mode()&(os.ModeSetuid|os.ModeSetgid) != 0:
		return no("is set-user-id or set-group-id, and the loader puts no library into such: run a copy without that mode")
	}
	if p.Needed, err = e.ImportedLibraries(); err != nil {
		return no("is damaged (%v): link it again", err)
	}
	if p.BuildID, err = buildID(e); err != nil {
		return no("is damaged (%v): link it again", err)
	}
	symbols, err := e.DynamicSymbols()
	if err != nil && !errors.Is(err, elf.ErrNoSymbols) {
		return no("is damaged (%v): link it again", err)
	}
	for _, s := range symbols {
		if s.Section == elf.SHN_UNDEF && isHook(s.Name) {
			p.Instrumented = true
		}
	}
	own := ownSanitizer(symbols)
	if own == "" && !p.Instrumented {
		// gcc does not export the functions of libraries it links statically.
		if all, err := e.Symbols(); err == nil {
			own = ownSanitizer(all)
		}
	}
	switch own {
	case "":
	case "__tsan":
		return no("has ThreadSanitizer linked into it, as clang -fsanitize=thread does: build it with heddle cc, or with gcc -fsanitize=thread without -static-libtsan")
	default:
		return no("is built with %s, which cannot share a program with heddle: build it without", otherSanitizers[own])
	}
	for _, lib := range p.Needed {
		name, _, _ := strings.Cut(lib, ".so")
		if name == "libtsan" {
			p.TSan = lib
		}
		if s := otherSanitizers["__"+strings.TrimPrefix(name, "lib")]; s != "" {
			return no("is built with %s (it needs %s), which cannot share a program with heddle: build it without", s, lib)
		}
	}
	return p, nil
}

// otherSanitizers by the prefix of their functions, which is also their library's name.
var otherSanitizers = map[string]string{
	"__asan":   "AddressSanitizer",
	"__hwasan": "HWAddressSanitizer",
	"__lsan":   "LeakSanitizer",
	"__msan":   "MemorySanitizer",
}

// ownSanitizer returns the prefix of the sanitizer whose functions a program contains, empty if it
// contains none.
func ownSanitizer(symbols []elf.Symbol) string {
	for _, s := range symbols {
		prefix, ok := strings.CutSuffix(s.Name, "_init")
		if ok && s.Section != elf.SHN_UNDEF && (prefix == "__tsan" || otherSanitizers[prefix] != "") {
			return prefix
		}
	}
	return ""
}

// isHook reports whether a function is an access hook: called for an access, an atomic operation or
// a function. __tsan_init does not count: every program linked with -fsanitize=thread has it, even
// if all of its code was compiled without.
func isHook(name string) bool {
	name, ok := strings.CutPrefix(name, "__tsan_")
	if !ok {
		return false
	}
	for _, prefix := range []string{"read", "write", "unaligned_", "volatile_", "atomic", "vptr_", "func_entry"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// script returns the error for a file that starts with "#!". Libtool leaves one in place of the
// program.
func script(path string, head []byte) error {
	line := firstLine(string(head[2:]))
	program := filepath.Join(filepath.Dir(path), ".libs", filepath.Base(path))
	if _, err := os.Stat(program); err == nil && bytes.Contains(head, []byte("libtool")) {
		return fmt.Errorf("%s is the script that libtool puts before a program: give the program itself, %s", path, program)
	}
	return fmt.Errorf("%s is a script for %s: give the program that it starts", path, strings.TrimSpace(line))
}

func machineName(m elf.Machine) string {
	switch m {
	case elf.EM_AARCH64:
		return "64-bit ARM"
	case elf.EM_RISCV:
		return "RISC-V"
	case elf.EM_PPC64:
		return "64-bit POWER"
	case elf.EM_S390:
		return "IBM Z"
	}
	return strings.TrimPrefix(m.String(), "EM_")
}

func segment(e *elf.File, t elf.ProgType) *elf.Prog {
	for _, p := range e.Progs {
		if p.Type == t {
			return p
		}
	}
	return nil
}

// interp returns the dynamic loader that the program names, empty if it names none.
func interp(e *elf.File) string {
	p := segment(e, elf.PT_INTERP)
	if p == nil || p.Filesz > 4096 {
		return ""
	}
	name, err := io.ReadAll(p.Open())
	if err != nil {
		return ""
	}
	return string(bytes.TrimRight(name, "\x00"))
}

// isPIE reports whether a dynamic object is marked as a position-independent executable.
func isPIE(e *elf.File) bool {
	flags, err := e.DynValue(elf.DT_FLAGS_1)
	if err != nil {
		return false
	}
	for _, f := range flags {
		if elf.DynFlag1(f)&elf.DF_1_PIE != 0 {
			return true
		}
	}
	return false
}

// buildID returns the GNU build id in hexadecimal, empty if the file has none. It is read from the
// segments, which a stripped program still has.
func buildID(e *elf.File) (string, error) {
	for _, p := range e.Progs {
		if p.Type != elf.PT_NOTE || p.Filesz > 1<<20 {
			continue
		}
		notes, err := io.ReadAll(p.Open())
		if err != nil {
			return "", err
		}
		const gnuBuildID = 3
		align := uint64(4)
		if p.Align == 8 {
			align = 8
		}
		for len(notes) >= 12 {
			name, size := uint64(e.ByteOrder.Uint32(notes)), uint64(e.ByteOrder.Uint32(notes[4:]))
			kind := e.ByteOrder.Uint32(notes[8:])
			desc := (12 + name + align - 1) &^ (align - 1)
			next := (desc + size + align - 1) &^ (align - 1)
			if desc+size > uint64(len(notes)) {
				break
			}
			if kind == gnuBuildID && string(notes[12:12+name]) == "GNU\x00" {
				return hex.EncodeToString(notes[desc : desc+size]), nil
			}
			notes = notes[min(next, uint64(len(notes))):]
		}
	}
	return "", nil
}

// cause returns an error without the operation and the path, which the sentence names already.
func cause(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
