package cprog

import (
	"path/filepath"
	"sync"

	"github.com/heddle-dev/heddle/internal/expectation"
	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// statements finds in the source what a program's output says of it. A program's targets share one.
type statements struct {
	mu    sync.Mutex
	of    int // number of modules that table was made for
	table *symbol.Table
	known map[expectation.Failed]trace.Site
}

// unexpected says of an ending with an exit status that means failure which expectation failed, and where, if the output tells.
func (p program) unexpected(e *trace.Ending) {
	x, ok := expectation.First(e.Output)
	if !ok {
		return
	}
	at := p.cfg.statements.find(p.modules, x)
	if at == 0 && !x.Framework {
		return // a line identifies nothing if the statement that wrote it is not known
	}
	if e.Message = x.Message(e.Status, at != 0); at != 0 {
		e.Site, e.Stack = at, nil
	}
}

// find returns where the program's code checks an expectation, 0 if unknown.
func (s *statements) find(modules []trace.Module, x expectation.Failed) trace.Site {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.table == nil || s.of != len(modules) {
		s.of, s.table, s.known = len(modules), symbol.New(modules, symbol.Options{}), map[expectation.Failed]trace.Site{}
	}
	at, known := s.known[x]
	if known {
		return at
	}
	switch {
	case x.File != "":
		at = s.table.Line(sourceFile(filepath.Clean(x.File)).is, x.Line)
	case !x.Framework:
		at = s.table.Writes(x.Text)
	}
	s.known[x] = at
	return at
}
