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

// Find returns the linkage name of the function that contains addr, and its file and line, which
// are "" and 0 between two functions.
func (t *Table) Find(addr uint64) (linkage, file string, line int, ok bool) {
	file, line, fn := t.t.PCToLine(addr)
	if fn == nil {
		return "", "", 0, false
	}
	if line < 0 { // the bytes between two functions
		file, line = "", 0
	}
	return fn.Name, file, line, true
}
