package goname

import (
	"debug/elf"
	"debug/gosym"

	"github.com/heddle-dev/heddle/internal/symbol/elffile"
)

// Table is the function and line table that every Go program contains for its own tracebacks. It is
// present even with `-ldflags=-w` and `go test`, which omit DWARF. debug/gosym does not read its
// inlined frames: without DWARF, an inlined call appears with its own line but the name of the
// function it was inlined into.
type Table struct{ t *gosym.Table }

// ReadTable returns nil if e is not a Go program.
func ReadTable(e *elf.File) *Table {
	text := e.Section(".text")
	if text == nil {
		return nil
	}
	b := elffile.Section(e, ".gopclntab")
	if b == nil {
		b = elffile.Section(e, ".data.rel.ro.gopclntab")
	}
	if b == nil {
		return nil
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(b, text.Addr))
	if err != nil {
		return nil
	}
	return &Table{t}
}

// Place is where an instruction is.
type Place struct {
	Linkage string // of the function
	File    string // with Line, "" and 0 between two functions
	Line    int
	Begins  int // the line of File in which the function begins; 0 if that is in another file
}

// Find returns where the instruction at addr is.
func (t *Table) Find(addr uint64) (p Place, ok bool) {
	file, line, fn := t.t.PCToLine(addr)
	if fn == nil {
		return Place{}, false
	}
	if line < 0 { // the bytes between two functions
		return Place{Linkage: fn.Name}, true
	}
	p = Place{Linkage: fn.Name, File: file, Line: line}
	if f, l, _ := t.t.PCToLine(fn.Entry); f == file && l > 0 {
		p.Begins = l
	}
	return p, true
}
