// Package page draws an execution as one HTML file that needs no network and no other file: a lane per thread,
// the source beside it, and, if it is known, the ordering on which the failure depends and an execution without it. It
// draws comparisons of two executions in the same style.
//
// The scripts and style sheets in built/ are made of those in front/ by go generate.
package page

import (
	"bufio"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"

	"github.com/klauspost/compress/gzip"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

//go:generate go run ./gen

// Execution is a valid trace and its view.
type Execution struct {
	Trace *trace.Trace
	View  *report.View
	// Source returns a line of a source file, from 1; nil for none. The page has the lines around each place.
	Source func(file string, line int) (text string, ok bool)
}

// Command is a command line for the reader to copy.
type Command struct {
	Does string `json:"does"` // `replay it`
	Text string `json:"text"`
	// At is the command for one event, whose number replaces AtEvent; empty if it has no such form.
	At string `json:"at,omitempty"`
}

// AtEvent stands for an event's number in Command.At.
const AtEvent = "EVENT"

// Options are what the page has besides the execution.
type Options struct {
	Trace string // the file's name, for the reader
	// Explanation says why the execution fails; nil if that is not known. Its event numbers are those of the execution. Orderings of
	// which that lacks an event are not drawn.
	Explanation *report.Explanation
	// Passing is drawn beside the execution if it is not nil: the one of Explanation.Passing.
	Passing  *Execution
	Commands []Command
}

//go:embed built/page.js
var script string

//go:embed built/page.css
var style string

//go:embed built/compare.js
var compareScript string

//go:embed built/compare.css
var compareStyle string

//go:embed built/beside.js
var besideScript string

//go:embed built/beside.css
var besideStyle string

//go:embed front/page.html
var skeleton string

var markup = template.Must(template.New("page").Parse(skeleton))

// Render writes the page of an execution. The error is the writer's.
func Render(w io.Writer, e Execution, o Options) error {
	v := e.View
	c := v.Cost
	switches := wording.Count(c.Switches, "context switch")
	if c.Preemptions > 0 {
		switches += fmt.Sprintf(" (%s)", wording.Count(c.Preemptions, "preemption"))
	}
	d := document{
		Title: v.Ending, Trace: o.Trace, Command: wording.QuotedWords(v.Command), Failed: v.Failure != nil, Notes: v.Notes, Output: v.Output, Commands: o.Commands,
		Facts: []string{wording.Count(len(v.Columns), "thread"), wording.Count(v.Events, "event"), switches},
		Runs:  []*run{encode(e)},
	}
	if v.Fault != "" {
		d.Facts = append(d.Facts, "fault: "+v.Fault)
	}
	for _, s := range v.Omit {
		d.Facts = append(d.Facts, "without "+s)
	}
	if x := o.Explanation; x != nil {
		d.Explanation = &explanation{Pattern: x.Pattern, Line: x.Line, Text: x.Text, Orders: []report.Order{}}
		for _, order := range x.Orders {
			happens := order.Second >= 0 || order.InPassing > 0
			if order.First >= 0 && happens { // otherwise the execution lacks an event of it
				d.Explanation.Orders = append(d.Explanation.Orders, order)
			}
		}
	}
	if o.Passing != nil {
		d.Runs = append(d.Runs, encode(*o.Passing))
	}
	return write(w, v.Ending, style, script, d)
}

// Comparison is what heddle compare found.
type Comparison struct {
	Golden     string `json:"golden"` // names of the files
	Other      string `json:"other"`
	Comparison any    `json:"comparison"` // a result.Deviations, as docs/json.md describes its JSON
}

// RenderComparison writes the page of a comparison: where the execution deviates first, and how that spreads in each
// thread over time. The error is the writer's.
func RenderComparison(w io.Writer, c Comparison) error {
	return write(w, c.Golden+" and "+c.Other, compareStyle, compareScript, c)
}

// RenderBeside writes the page of a failing execution beside one that passes. comparison is a beside.Comparison, as docs/json.md
// describes its JSON, whose folds have their rows. The error is the writer's.
func RenderBeside(w io.Writer, title string, comparison any) error {
	return write(w, title, besideStyle, besideScript, comparison)
}

// readable is how many bytes of data a page has as they are; more are compressed.
const readable = 1 << 20

// write writes a page. Strings of the program occur only in its JSON, escaped by encoding/json or compressed, which the script enters as
// text, and in the title, escaped by html/template.
func write(to io.Writer, title, style, script string, data any) error {
	w := bufio.NewWriter(to)
	if err := markup.ExecuteTemplate(w, "head", struct {
		Title string
		Style template.CSS
	}{title, template.CSS(style)}); err != nil {
		return err
	}
	if err := writeData(w, data); err != nil {
		return fmt.Errorf("encode the page's data: %w", err)
	}
	if err := markup.ExecuteTemplate(w, "tail", template.JS(script)); err != nil {
		return err
	}
	return w.Flush()
}

// writeData writes the element that has a page's data.
func writeData(w *bufio.Writer, data any) error {
	const begin, end = `<script type="application/json" id="data"`, "</script>\n"
	text, err := json.Marshal(data) // escapes <, > and &
	if err != nil {
		return err
	}
	if len(text) <= readable {
		w.WriteString(begin + ">")
		w.Write(text)
	} else {
		w.WriteString(begin + ` data-encoding="gzip">`)
		coded := base64.NewEncoder(base64.StdEncoding, w)
		zip := gzip.NewWriter(coded)
		_, err = zip.Write(text)
		err = errors.Join(err, zip.Close(), coded.Close())
	}
	w.WriteString(end)
	return err
}
