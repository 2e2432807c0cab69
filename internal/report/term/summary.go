package term

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/heddle-dev/heddle/trace"
)

// Simplification is the result of simplifying a trace: what tables 1 and 2 of FSE'10 tell
// of a program, and how much each operation did.
type Simplification struct {
	Program       string     // what was run
	Bug           string     // kind of the failure
	Before, After trace.Cost // their switches less their preemptions are the non-preemptive ones
	Gap           string     // how far from the best: `optimal`, `at most 2 above`; empty if not known
	Iterations    int
	Executions    int
	Spent         string // what they were made for; empty if that is not known
	Time          time.Duration
	Operations    []OperationRow
}

// OperationRow is one kind of simplifying operation.
type OperationRow struct {
	Name     string
	Tried    int // candidates
	Accepted int // of them, those that still showed the bug and cost no more
	Switches int // context switches that they removed, all in all
}

// measure is a row of table 1.
type measure struct {
	name          string
	before, after int
}

// Summary prints a simplification. No line is wider than the options say. The error is
// the writer's.
func Summary(w io.Writer, s Simplification, o Options) error {
	d := &drawing{pen: pen{o.Color, o.Unicode}, layout: layout{width: max(o.Width, MinWidth)}, out: bufio.NewWriter(w)}
	if head := strings.Trim(s.Program+": "+s.Bug, ": "); head != "" {
		d.text(head, bold, "")
	}
	measures := []measure{
		{"size", s.Before.Events, s.After.Events},
		{"threads", s.Before.Threads, s.After.Threads},
		{"switches", s.Before.Switches, s.After.Switches},
		{"non-preemptive", s.Before.Switches - s.Before.Preemptions, s.After.Switches - s.After.Preemptions},
		{"preemptive", s.Before.Preemptions, s.After.Preemptions},
	}
	head := []string{"", "before", "after", "reduction"}
	rows := [][]string{head}
	for _, m := range measures {
		rows = append(rows, []string{m.name, strconv.Itoa(m.before), strconv.Itoa(m.after), m.reduction()})
	}
	if wide := transpose(rows); tableWidth(wide) <= d.width {
		rows = wide
	} else if tableWidth(rows) > d.width {
		rows[0] = []string{"", "from", "to", "less"}
		rows[4][0], rows[5][0] = "non-pre.", "preempt."
	}
	d.table(rows)
	if s.Gap != "" {
		d.text("context switches: "+s.Gap, plain, "")
	}
	d.print("")
	executions := count(s.Executions, "execution")
	if s.Spent != "" {
		executions += " (" + s.Spent + ")"
	}
	d.text(fmt.Sprintf("%s, %s, %s", count(s.Iterations, "iteration"), executions, seconds(s.Time)), plain, "")
	if len(s.Operations) > 0 {
		rows := [][]string{{"operation", "tried", "accepted", "switches removed"}}
		for _, op := range s.Operations {
			rows = append(rows, []string{op.Name, strconv.Itoa(op.Tried), strconv.Itoa(op.Accepted), strconv.Itoa(op.Switches)})
		}
		if tableWidth(rows) > d.width {
			rows[0] = []string{"", "try", "ok", "sw"}
		}
		d.print("")
		d.table(rows)
	}
	return d.out.Flush()
}

// reduction is how much less there is after, in percent; a dash where there was nothing.
func (m measure) reduction() string {
	if m.before == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(m.before-m.after)/float64(m.before), 'f', 1, 64) + "%"
}

func seconds(t time.Duration) string {
	if t < time.Second {
		return strconv.FormatFloat(t.Seconds()*1000, 'f', 1, 64) + " ms"
	}
	if t < 10*time.Second {
		return strconv.FormatFloat(t.Seconds(), 'f', 2, 64) + " s"
	}
	return strconv.FormatFloat(t.Seconds(), 'f', 1, 64) + " s"
}

// columnGap is between the columns of a table of numbers.
const columnGap = 2

func transpose(rows [][]string) [][]string {
	out := make([][]string, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			out[i] = append(out[i], c)
		}
	}
	return out
}

func columnWidths(rows [][]string) []int {
	w := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			w[i] = max(w[i], width(c))
		}
	}
	return w
}

func tableWidth(rows [][]string) int {
	sum := -columnGap
	for _, w := range columnWidths(rows) {
		sum += w + columnGap
	}
	return sum
}

// table prints names on the left and numbers on the right of their columns. Names are
// cut where the width is too small for both.
func (d *drawing) table(rows [][]string) {
	for _, r := range rows {
		for i := range r {
			r[i] = d.clean(r[i])
		}
	}
	w := columnWidths(rows)
	if over := tableWidth(rows) - d.width; over > 0 {
		w[0] = max(w[0]-over, 1)
	}
	for n, r := range rows {
		var line strings.Builder
		for i, c := range r {
			if i == 0 {
				line.WriteString(pad(d.truncate(c, w[0]), w[0]))
				continue
			}
			line.WriteString(strings.Repeat(" ", columnGap+w[i]-width(c)) + c)
		}
		st := plain
		if n == 0 {
			st = bold
		}
		d.print(d.paint(d.truncate(strings.TrimRight(line.String(), " "), d.width), st))
	}
}
