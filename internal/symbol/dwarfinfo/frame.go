package dwarfinfo

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// Frame is one function at one place. A lookup returns a chain of them, innermost first:
// every frame but the last was inlined into the next.
type Frame struct {
	// Func is the function's readable name: demangled, without parameters, and without
	// template arguments where they would make it very long. Empty if unknown.
	Func string
	// Linkage is the name as the linker knows it, or the source name where it has
	// no other.
	Linkage string
	File    string // absolute if the debug information has it so; empty if unknown
	Line    int    // from 1; 0 if unknown
	Column  int    // from 1; 0 if unknown
	// Begins is the line of File in which Func begins; 0 if unknown, or if that is in another file.
	Begins  int
	Inlined bool // inlined into the next frame
	// Module is the path of the module, empty for an unknown site.
	Module string
	// Offset is counted from the start of Func if only the symbol table knew the
	// function, from the load address of Module if nothing did; 0 if File is known.
	Offset uint64
}

// Known reports whether the frame has a source line.
func (f Frame) Known() bool { return f.File != "" && f.Line > 0 }

// Place is where the frame is, in its shortest form: `file.c:12`, `func+0x1c`,
// `module+0x1234`, or `?`.
func (f Frame) Place() string {
	switch {
	case f.Known():
		return fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line)
	case f.File != "":
		return filepath.Base(f.File)
	case f.Func != "" && f.Offset == 0:
		return f.Func
	case f.Func != "":
		return fmt.Sprintf("%s+%#x", f.Func, f.Offset)
	case f.Module != "":
		return fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.Offset)
	}
	return "?"
}

// String is the frame as a line of a call stack: `func file.c:12`.
func (f Frame) String() string {
	if f.Func != "" && f.File != "" {
		return f.Func + " " + f.Place()
	}
	return f.Place()
}

// System reports whether the frame's source is that of the C or C++ library or of the
// compiler.
func (f Frame) System() bool {
	for _, p := range []string{"/usr/include/", "/usr/lib/", "/usr/local/include/"} {
		if strings.HasPrefix(f.File, p) {
			return true
		}
	}
	for _, p := range []string{"/include/c++/", "/lib/gcc/", "/lib/clang/", "/sysdeps/", "/nptl/"} {
		if strings.Contains(f.File, p) {
			return true
		}
	}
	return false
}

// GoStandard reports whether a frame of a Go program is of Go's own library; see
// goname.Standard.
func (f Frame) GoStandard() bool { return goname.Standard(f.Linkage, f.File) }

// GoWrapper reports whether the frame is a function that the compiler put around a go or
// defer statement's call.
func (f Frame) GoWrapper() bool { return goname.Wrapper(f.Linkage) }
