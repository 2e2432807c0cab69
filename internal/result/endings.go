package result

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Endings are how two compared executions ended.
type Endings struct {
	Golden ComparedEnding    `json:"golden"`
	Other  ComparedEnding    `json:"other"`
	Output *OutputDifference `json:"output,omitempty"` // nil if both wrote the same
}

// ComparedEnding is how an execution ended.
type ComparedEnding struct {
	Kind    string `json:"kind"`
	Status  int32  `json:"status"` // exit status or signal
	Message string `json:"message,omitempty"`
	Thread  string `json:"thread,omitempty"` // of a failure
	Where   string `json:"where,omitempty"`
	Text    string `json:"text"` // in words
}

// OutputDifference is the first line in which outputs differ. A line is nil if the output ends before it.
type OutputDifference struct {
	Line   int     `json:"line"` // from 1
	Golden *string `json:"golden"`
	Other  *string `json:"other"`
}

// EndingsOf returns how two executions ended.
func EndingsOf(golden, other *canonical.Execution, from, to *CanonicalNames) *Endings {
	return &Endings{Golden: endingOf(&golden.Ending, from), Other: endingOf(&other.Ending, to), Output: outputDifference(golden.Ending.Output, other.Ending.Output)}
}

func endingOf(e *canonical.Ending, names *CanonicalNames) ComparedEnding {
	out := ComparedEnding{Kind: e.Kind.String(), Status: e.Status, Message: e.Message}
	message := e.Message
	switch e.Kind {
	case trace.Clean, trace.Exit:
		out.Text = fmt.Sprintf("exit status %d", e.Status)
		return out
	case trace.Deadlock, trace.Leak, trace.Race: // described by what a sanitised trace does not have
	default:
		message = cmp.Or(finding.Of(trace.Ending{Kind: e.Kind, Status: e.Status, Message: message}, nil).Message, message)
	}
	out.Text = out.Kind
	if message != "" {
		out.Text = headline(out.Kind, message)
	}
	if e.Thread != "-" {
		out.Thread = e.Thread
	}
	if e.Site != "-" {
		out.Where = names.Line("", e.Site)
	}
	return out
}

// print writes how the endings differ, if they do.
func (e *Endings) print(w io.Writer) {
	if e == nil {
		return
	}
	if a, b := e.Golden.in(), e.Other.in(); a != b {
		fmt.Fprintf(w, "the ending differs\n  golden  %s\n  other   %s\n", a, b)
	}
	if o := e.Output; o != nil {
		shown := func(s *string) string {
			if s == nil {
				return "no line: the output has ended"
			}
			return *s
		}
		fmt.Fprintf(w, "the output differs from line %s on\n  golden  %s\n  other   %s\n", wording.Thousands(o.Line), shown(o.Golden), shown(o.Other))
	}
}

// in returns an ending in words, with its place.
func (e *ComparedEnding) in() string {
	s := wording.Line(e.Text)
	if e.Thread != "" {
		s += ", in " + e.Thread
	}
	if e.Where != "" {
		s += ", at " + e.Where
	}
	return s
}

// outputDifference returns the first line in which two outputs differ; nil for none.
func outputDifference(golden, other []byte) *OutputDifference {
	if bytes.Equal(golden, other) {
		return nil
	}
	at := 0
	for at < min(len(golden), len(other)) && golden[at] == other[at] {
		at++
	}
	begin := bytes.LastIndexByte(golden[:at], '\n') + 1
	d := &OutputDifference{Line: 1 + bytes.Count(golden[:begin], []byte{'\n'})}
	a, b := lineAt(golden, begin), lineAt(other, begin)
	d.Golden, d.Other = shownLine(a, at-begin), shownLine(b, at-begin)
	if d.Golden != nil && d.Other != nil && *d.Golden == *d.Other { // they differ in what is not visible
		for line, shown := range map[*[]byte]**string{&a: &d.Golden, &b: &d.Other} {
			quoted := strconv.Quote(string(around(*line, at-begin)))
			*shown = &quoted
		}
	}
	return d
}

// lineAt returns the line that begins at an offset, with its end; nil if nothing does.
func lineAt(output []byte, begin int) []byte {
	if begin >= len(output) {
		return nil
	}
	if n := bytes.IndexByte(output[begin:], '\n'); n >= 0 {
		return output[begin : begin+n+1]
	}
	return output[begin:]
}

func shownLine(line []byte, at int) *string {
	if line == nil {
		return nil
	}
	part := around(line, at)
	s := wording.Line(string(part))
	if len(part) < len(line) {
		s = "… " + s + " …"
	}
	return &s
}

// maxLine is the length from which on only a part of a line is shown, in bytes.
const maxLine = 120

// around returns the line, or the part of a long one at which it differs from another.
func around(line []byte, at int) []byte {
	if len(line) <= maxLine {
		return line
	}
	from := min(max(at-maxLine/2, 0), len(line)-maxLine)
	to := from + maxLine
	for from > 0 && from < at && !utf8.RuneStart(line[from]) {
		from++
	}
	for to < len(line) && to > at && !utf8.RuneStart(line[to]) {
		to--
	}
	return line[from:to]
}

// faultOf describes the fault that was injected into an execution; "" for none.
func faultOf(x *canonical.Execution, names *CanonicalNames) string {
	f := x.Fault
	if f == nil {
		return ""
	}
	s := fmt.Sprintf("%v, amount %d", f.Model, f.Amount)
	if f.Thread != "-" {
		s += ", in " + f.Thread
	}
	return fmt.Sprintf("%s, before event %s at %s", s, wording.Thousands(f.Event), names.Line("", f.Site))
}
