package goprog

import (
	"debug/gosym"
	"fmt"

	"github.com/heddle-dev/heddle/internal/regular"
	"github.com/heddle-dev/heddle/internal/target/ipc"
	"github.com/heddle-dev/heddle/trace"
)

// Counterparts tells where the instructions of one build of a program are in another, which
// the same compiler made of the same source with the same flags, but linked with another
// runtime: with Go's race detector, and without. The code of a function is then the same in
// both, but for the addresses of what lies outside of it. So an instruction is that of the
// function with the same name, as far from its beginning, on the same line of the same file.
// One of a function that the other build has not, or has otherwise, has none.
type Counterparts struct {
	from, to *gosym.Table
	named    map[string][]*gosym.Func // of to; a function and its wrapper may have one name
	nth      map[*gosym.Func]int      // of from: which of those with its name
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

// Site is the site's counterpart; false if it has none. A value that is not a site is its own counterpart.
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
	if f, l, _ := c.to.PCToLine(now); f != file || l != line {
		return 0, false
	}
	return trace.MakeSite(0, now), true
}
