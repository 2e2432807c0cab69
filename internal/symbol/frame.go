package symbol

import (
	"debug/elf"

	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// Frame is one function at one place.
type Frame = dwarfinfo.Frame

// Type is the layout of a variable.
type Type = dwarfinfo.Type

// BuildID is the GNU build id of a file in hex, empty if it has none: what the module of
// a trace is compared with.
func BuildID(e *elf.File) string { return elffile.BuildID(e) }

// GoName splits the linker's name of a Go function or variable into the import path of its
// package and its name there; see goname.Split.
func GoName(linkage string) (pkg, name string) { return goname.Split(linkage) }
