// Package shiviz writes an execution as a log for ShiViz (Beschastnikh et al., "Debugging distributed
// systems", CACM 59(8), 2016), which draws the happens-before order of hosts' events: here, of threads.
//
// The first line of a log is the regular expression by which ShiViz reads the others, the second the one
// that separates executions, which is empty. Each further line is an event: its thread, its vector clock
// as JSON, its number, its place and what it did. Clocks count the events that have a line, begin with 1
// and advance by 1, as ShiViz demands.
package shiviz

import (
	"bufio"
	"fmt"
	"io"
	"strconv"

	"github.com/heddle-dev/heddle/internal/analysis/causal"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Parser is the first line of a log.
const Parser = `(?<host>T\d+)\t(?<clock>\{.*?\})\t(?<number>\d+)\t(?<place>.*?)\t(?<event>.*)`

// maxEntries is the maximum number of entries in all clocks of a log, about 12 bytes each. Every event may
// know of every thread, so the log of thousands of threads is larger than ShiViz can read.
const maxEntries = 4_000_000

// Render writes the log of a valid trace, of which v is the view. It returns an error if the log would be too
// large for ShiViz, or the writer's.
func Render(w io.Writer, tr *trace.Trace, v *report.View) error {
	out := bufio.NewWriter(w)
	out.WriteString(Parser + "\n\n")
	cells := make([]*report.Cell, len(tr.Events))
	rows := v.Full()
	for i := range rows {
		if c := rows[i].Cell; c != nil {
			cells[rows[i].Event] = c
		}
	}
	var line []byte
	entries := 0
	causal.Each(tr, func(i int) bool { return cells[i] != nil }, func(s *causal.Step) {
		for _, n := range s.Clock {
			if n > 0 {
				entries++
			}
		}
		if entries > maxEntries {
			return
		}
		c := cells[s.Event]
		line = thread(line[:0], int(tr.Events[s.Event].Thread))
		line = append(line, '\t')
		line = clock(line, s.Clock)
		line = append(line, '\t')
		line = strconv.AppendInt(line, int64(s.Event), 10)
		line = append(line, '\t')
		line = append(line, wording.Line(v.Places[c.Place].Label)...)
		line = append(line, '\t')
		if c.Failed {
			line = append(line, "✗ "...)
		}
		line = append(line, wording.Line(c.Text)...)
		out.Write(append(line, '\n'))
	})
	if entries > maxEntries {
		return fmt.Errorf("a log of %s and %s is too large for ShiViz: simplify the trace, or convert it to .pftrace",
			wording.Count(len(v.Columns), "thread"), wording.Count(len(tr.Events), "event"))
	}
	return out.Flush()
}

func thread(b []byte, t int) []byte { return strconv.AppendInt(append(b, 'T'), int64(t), 10) }

// clock appends the entries that are not 0, as a JSON object.
func clock(b []byte, clock []int32) []byte {
	b = append(b, '{')
	first := true
	for t, n := range clock {
		if n == 0 {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = append(thread(append(b, '"'), t), `":`...)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, '}')
}
