package symbol

import (
	"debug/elf"

	"github.com/heddle-dev/heddle/internal/symbol/dwarfinfo"
	"github.com/heddle-dev/heddle/internal/symbol/elffile"
	"github.com/heddle-dev/heddle/internal/symbol/goname"
)

// Frame is a function and a place in it.
type Frame = dwarfinfo.Frame

// Type is the layout of a variable.
type Type = dwarfinfo.Type

// BuildID returns the GNU build id of a file in hex, or "". It is compared with that of a trace's
// module.
func BuildID(e *elf.File) string { return elffile.BuildID(e) }

// GoName splits the linker's name of a Go function or variable into the import path of its
// package and its name there; see goname.Split.
func GoName(linkage string) (pkg, name string) { return goname.Split(linkage) }
