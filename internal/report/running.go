package report

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/symbol"
	"github.com/heddle-dev/heddle/trace"
)

// Running names places and objects of a program that is being run and may load more modules.
type Running struct {
	modules func() []trace.Module
	known   int // modules in the table
	table   *symbol.Table
}

// NewRunning names things of the program whose modules are those that modules returns.
func NewRunning(modules func() []trace.Module) *Running { return &Running{modules: modules} }

// symbols is a table of all that is loaded.
func (r *Running) symbols() *symbol.Table {
	if now := r.modules(); r.table == nil || len(now) > r.known {
		r.known, r.table = len(now), symbol.New(now, symbol.Options{})
	}
	return r.table
}

// Place is a place's function and line; empty if it is not known. exact says that the site is
// that of the instruction and not a return address.
func (r *Running) Place(s trace.Site, exact bool) string {
	table := r.symbols()
	lookup := table.Call
	if exact {
		lookup = table.Exact
	}
	// Inlined into the program's code may be some of a library's header.
	best := symbol.Frame{}
	for i, f := range lookup(s) {
		if i == 0 || f.Known() && (!best.Known() || best.System() && !f.System()) {
			best = f
		}
	}
	if best == (symbol.Frame{}) {
		return ""
	}
	return best.String()
}

// Object is the name of an object: a variable, or the allocation that a block comes from.
func (r *Running) Object(tr *trace.Trace, o trace.Object, size uint32, at int) string {
	n := r.symbols().Objects(tr).Name(o, size, at)
	if n.Detail != "" { // the block's number means something in its own trace only
		return fmt.Sprintf("block (%s)%s", n.Detail, n.Suffix)
	}
	return n.Text
}
