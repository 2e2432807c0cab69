// Package graphviz writes the wait-for graph of an execution that stopped, in the DOT language: threads,
// what each waits for, and who has that. The cycle of a deadlock is drawn in red.
package graphviz

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Render writes the graph. It returns an error if no thread waited at the end of the execution, or the
// writer's.
func Render(w io.Writer, v *report.View) error {
	f := v.Failure
	if f == nil || len(f.Waits) == 0 {
		return errors.New("the execution has no wait-for graph: it did not end in a deadlock, a hang or a leak")
	}
	g := &graph{out: bufio.NewWriter(w), v: v, next: map[trace.ThreadID]trace.ThreadID{}}
	for i, x := range f.Waits[:f.Ring] {
		g.next[x.Thread] = f.Waits[(i+1)%f.Ring].Thread
	}
	g.printf("digraph waits {\n")
	g.printf("  label=%s; labelloc=t; fontname=\"sans-serif\";\n", quoted(f.Title))
	g.printf("  node [fontname=\"sans-serif\"]; edge [fontname=\"sans-serif\", fontsize=11];\n")
	g.threads()
	g.objects()
	g.edges()
	g.printf("}\n")
	return g.out.Flush()
}

type graph struct {
	out  *bufio.Writer
	v    *report.View
	next map[trace.ThreadID]trace.ThreadID // in the cycle of a deadlock
}

func (g *graph) printf(format string, args ...any) { fmt.Fprintf(g.out, format, args...) }

// red are the attributes of what belongs to the cycle.
const red = `, color="#b00020", fontcolor="#b00020", penwidth=2`

// threads prints a node for each thread that waits, and for each that one waits for.
func (g *graph) threads() {
	wanted := map[trace.ThreadID]bool{}
	for _, w := range g.v.Failure.Waits {
		wanted[w.Thread] = true
		for _, h := range w.For {
			wanted[h.Thread] = true
		}
	}
	for _, c := range g.v.Columns {
		if !wanted[c.Thread] {
			continue
		}
		name := c.Label()
		for _, w := range g.v.Failure.Waits {
			if w.Thread == c.Thread && w.Ready {
				name += "\ncould go on" + g.at(w.Place)
			}
		}
		if c.Ended {
			name += "\nended"
		}
		style := ""
		if _, ok := g.next[c.Thread]; ok {
			style = red
		}
		g.printf("  t%d [shape=box, label=%s%s];\n", c.Thread, quoted(name), style)
	}
}

// objects prints a node for each object that a thread waits for.
func (g *graph) objects() {
	for i, name := range g.v.Failure.Objects {
		style := ""
		for _, w := range g.v.Failure.Waits {
			if w.Object == i && g.inCycle(&w) {
				style = red
			}
		}
		g.printf("  o%d [shape=ellipse, label=%s%s];\n", i, quoted(name), style)
	}
}

// edges prints the waits and the holds: where each thread waits, and where the holder acquired the object.
func (g *graph) edges() {
	held := map[string]bool{}
	for _, w := range g.v.Failure.Waits {
		if w.Object < 0 {
			for _, h := range w.For {
				g.edge(fmt.Sprintf("t%d -> t%d", w.Thread, h.Thread), "waits for its end"+g.at(w.Place), g.inCycle(&w))
			}
			continue
		}
		g.edge(fmt.Sprintf("t%d -> o%d", w.Thread, w.Object), "waits"+g.at(w.Place), g.inCycle(&w))
		for _, h := range w.For {
			ends := fmt.Sprintf("o%d -> t%d", w.Object, h.Thread)
			if !held[ends] {
				held[ends] = true
				g.edge(ends, "held"+g.since(h.Place), g.heldInCycle(w.Object, h.Thread))
			}
		}
	}
}

// inCycle reports whether a wait is an edge of the deadlock's cycle.
func (g *graph) inCycle(w *report.Wait) bool {
	next, ok := g.next[w.Thread]
	return ok && slices.ContainsFunc(w.For, func(h report.Holder) bool { return h.Thread == next })
}

// heldInCycle reports whether a thread's hold of an object is an edge of the cycle.
func (g *graph) heldInCycle(object int, t trace.ThreadID) bool {
	for _, w := range g.v.Failure.Waits {
		if next, ok := g.next[w.Thread]; ok && w.Object == object && next == t {
			return true
		}
	}
	return false
}

func (g *graph) edge(ends, label string, cycle bool) {
	style := ""
	if cycle {
		style = red
	}
	g.printf("  %s [label=%s%s];\n", ends, quoted(label), style)
}

// at is a place on a line of its own, nothing for the unknown place.
func (g *graph) at(place int) string {
	if place == 0 {
		return ""
	}
	return " at\n" + g.v.Places[place].Label
}

// since is at for the place where a thread acquired an object.
func (g *graph) since(place int) string {
	if place == 0 {
		return ""
	}
	return " since\n" + g.v.Places[place].Label
}

// quoted returns text as a double-quoted string of DOT, in which a backslash begins an escape of labels,
// and an ampersand may begin an HTML entity. Lines are centred.
func quoted(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = escape.Replace(wording.Line(lines[i]))
	}
	return `"` + strings.Join(lines, `\n`) + `"`
}

var escape = strings.NewReplacer(`\`, `\\`, `"`, `\"`, `&`, `&amp;`)
