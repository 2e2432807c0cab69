package symbol

import (
	"debug/elf"
	"debug/gosym"
)

// goTable is the function and line table that every Go program carries for its own
// tracebacks. It survives `-ldflags=-w` and `go test`, which leave DWARF out. debug/gosym
// does not read its inlined frames: without DWARF an inlined call is told with the name of
// the function it was inlined into, and its own line.
type goTable struct{ t *gosym.Table }

// readGoTable returns nil if e is not a Go program.
func readGoTable(e *elf.File) *goTable {
	text := e.Section(".text")
	if text == nil {
		return nil
	}
	b := sectionBytes(e, ".gopclntab")
	if b == nil {
		b = sectionBytes(e, ".data.rel.ro.gopclntab")
	}
	if b == nil {
		return nil
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(b, text.Addr))
	if err != nil {
		return nil
	}
	return &goTable{t}
}

func (g *goTable) find(addr uint64) (Frame, bool) {
	file, line, fn := g.t.PCToLine(addr)
	if fn == nil {
		return Frame{}, false
	}
	if line < 0 { // the bytes between two functions
		file, line = "", 0
	}
	return Frame{Func: goReadable(fn.Name), Linkage: fn.Name, File: file, Line: line}, true
}
