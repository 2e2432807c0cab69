package stmt

import (
	"bufio"
	"fmt"
	"io"
)

// Write writes the units of a trace in an order, as Parse reads them. What it writes has the names
// of this trace, so each unit can be found again.
func (t *Trace) Write(w io.Writer, order []int32) error {
	out := bufio.NewWriter(w)
	for l, name := range t.LocalNames {
		if v, ok := t.InitialLocal[int32(l)]; ok {
			fmt.Fprintf(out, "let %s: %s = %d\n", t.Threads[t.LocalThreads[l]], name, v)
		}
	}
	// A range is of globals in the order in which they are first named, so they are named here.
	ranges := false
	for i := range t.Stmts {
		s := &t.Stmts[i]
		ranges = ranges || s.Global() && s.Hi > s.Lo+1
	}
	for g := range int32(t.Globals) {
		if _, ok := t.InitialGlobal[g]; ok || ranges {
			fmt.Fprintf(out, "let %s = %d\n", t.globalName(g), t.initialGlobal(g))
		}
	}
	for _, u := range order {
		fmt.Fprintln(out, t.FormatUnit(u))
	}
	return out.Flush()
}
