package main

import (
	"bytes"
	"io"

	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/graphviz"
	"github.com/heddle-dev/heddle/internal/report/markdown"
	"github.com/heddle-dev/heddle/internal/report/mermaid"
	"github.com/heddle-dev/heddle/internal/report/quickfix"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// exportFlags choose a text format for other tools, instead of the drawing for a terminal.
type exportFlags struct {
	Markdown bool   `xor:"as" help:"Print a report in Markdown, to be pasted into an issue."`
	Mermaid  bool   `xor:"as" help:"Print a sequence diagram for Mermaid, which GitHub and GitLab draw in Markdown."`
	Graphviz bool   `xor:"as" help:"Print the wait-for graph of a deadlock, a hang or a leak for Graphviz: which thread waits for what, and who holds it."`
	Quickfix bool   `xor:"as" help:"Print lines like a compiler's, FILE:LINE:COLUMN: note: MESSAGE, for an editor to step through."`
	Output   string `short:"o" name:"output" placeholder:"FILE" predictor:"file" help:"Write to FILE what --markdown, --mermaid, --graphviz or --quickfix prints."`
}

// export is one format: it writes an execution.
type export func(w io.Writer, v *report.View) error

// chosen returns the format that the flags choose, nil for none.
func (f exportFlags) chosen(name string, tr *trace.Trace, full bool) export {
	switch {
	case f.Markdown:
		return func(w io.Writer, v *report.View) error {
			o := markdown.Options{Trace: name, Full: full}
			if tr.Header.Recipe == nil { // otherwise the trace alone says how to build the program
				o.Schedule = schedule.FormatTrace(tr)
			}
			return markdown.Render(w, v, o)
		}
	case f.Mermaid:
		return func(w io.Writer, v *report.View) error { return mermaid.Render(w, v, mermaid.Options{Full: full}) }
	case f.Graphviz:
		return graphviz.Render
	case f.Quickfix:
		return func(w io.Writer, v *report.View) error {
			dir, err := launch.WorkingDir()
			if err != nil {
				return err
			}
			return quickfix.Render(w, v, quickfix.Options{Dir: dir, Full: full})
		}
	}
	return nil
}

// check returns a usage error for flags that do not go together. name is the trace.
func (f exportFlags) check(json bool, name string) error {
	chosen := f.chosen("", nil, false) != nil
	if json && chosen {
		return usage.Errorf("--json is a format of its own: omit it, or the other one")
	}
	if f.Output == "" {
		return nil
	}
	if !chosen {
		return usage.Errorf("-o goes with --markdown, --mermaid, --graphviz or --quickfix")
	}
	if err := tracefile.NotInput(f.Output, name); err != nil {
		return err
	}
	return tracefile.Writable(f.Output)
}

// write writes the execution to the file that the flags name, or to standard output. Formats escape what
// a terminal would act on.
func (f exportFlags) write(a *app, write export, v *report.View) error {
	if f.Output == "" {
		return write(a.screen, v)
	}
	var b bytes.Buffer
	if err := write(&b, v); err != nil {
		return err
	}
	return tracefile.WriteWhole(f.Output, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
}
