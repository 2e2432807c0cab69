package goprog

import (
	"debug/gosym"
	"fmt"
	"path"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/trace"
)

// Counterparts maps instructions of one build of a program to those of another, made by the same
// compiler from the same source with the same flags, but linked with another runtime: with Go's
// race detector, or without. The code of a function is then the same in both, except for addresses
// outside it. The counterpart of an instruction is therefore in the function with the same name, at
// the same offset, on the same line of a file of the same name. An instruction has none if the other
// build lacks its function or has different code for it. The directories of the files may differ:
// where a machine has two copies of one release of Go, the go command takes compiled packages of
// either from its cache, and those of the overlay name the copy.
type Counterparts struct {
	from, to *gosym.Table
	named    map[string][]*gosym.Func // of to; a function and its wrapper may share a name
	nth      map[*gosym.Func]int      // of from: its index among those with its name
}

// NewCounterparts reads the function tables of two executables.
func NewCounterparts(from, to string) (*Counterparts, error) {
	a, err := functions(from)
	if err != nil {
		return nil, err
	}
	b, err := functions(to)
	if err != nil {
		return nil, err
	}
	c := &Counterparts{a, b, map[string][]*gosym.Func{}, map[*gosym.Func]int{}}
	for i := range b.Funcs {
		f := &b.Funcs[i]
		c.named[f.Name] = append(c.named[f.Name], f)
	}
	seen := map[string]int{}
	for i := range a.Funcs {
		f := &a.Funcs[i]
		c.nth[f] = seen[f.Name]
		seen[f.Name]++
	}
	return c, nil
}

func functions(path string) (*gosym.Table, error) {
	e, err := regular.OpenELF(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, ipc.Plain(err))
	}
	defer e.Close()
	text, table := e.Section(".text"), e.Section(".gopclntab")
	if table == nil {
		table = e.Section(".data.rel.ro.gopclntab")
	}
	if text == nil || table == nil {
		return nil, fmt.Errorf("%s has no table of Go functions", path)
	}
	b, err := table.Data()
	if err != nil {
		return nil, fmt.Errorf("cannot read %s: %w", path, err)
	}
	t, err := gosym.NewTable(nil, gosym.NewLineTable(b, text.Addr))
	if err != nil {
		return nil, fmt.Errorf("cannot read the functions of %s: %w", path, err)
	}
	return t, nil
}

// Site returns the site's counterpart, or false if it has none. A value that is not a site is its
// own counterpart.
func (c *Counterparts) Site(s trace.Site) (trace.Site, bool) {
	if s == 0 {
		return 0, true
	}
	at := s.Offset()
	file, line, fn := c.from.PCToLine(at)
	if fn == nil {
		return 0, false
	}
	n, others := c.nth[fn], c.named[fn.Name]
	if n >= len(others) {
		return 0, false
	}
	other := others[n]
	now := other.Entry + (at - fn.Entry)
	if now >= other.End {
		return 0, false
	}
	if f, l, _ := c.to.PCToLine(now); path.Base(f) != path.Base(file) || l != line {
		return 0, false
	}
	return trace.MakeSite(0, now), true
}
