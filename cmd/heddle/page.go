package main

import (
	"io"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/internal/report/page"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// checkPage returns a usage error unless a page of the trace can be written to a file.
func checkPage(file, trace string) error {
	if err := tracefile.NotInput(file, trace); err != nil {
		return err
	}
	return tracefile.Writable(file)
}

// execution is a trace as pages draw it. It also looks for source files in sources.
func execution(tr *trace.Trace, sources []string) page.Execution {
	return page.Execution{Trace: tr, View: result.View(tr, sources), Source: report.SourcesOf(tr, report.Options{SourceDirs: sources}).Line}
}

// pageCommands are what a reader of the page may want to run on the trace.
func pageCommands(name string, tr *trace.Trace) []page.Command {
	file := wording.Quoted(name)
	out := []page.Command{{Does: "replay it", Text: "heddle replay " + file}}
	debuggers := report.DebuggerCommands(&tr.Header, name)
	if len(debuggers) == 0 {
		return nil
	}
	for _, d := range debuggers {
		out = append(out, page.Command{Does: "in " + d.Debugger, Text: d.Line(), At: d.At(page.AtEvent)})
	}
	if tr.Ending.Kind.Failed() {
		out = append(out, page.Command{Does: "why it fails", Text: "heddle explain " + file})
	}
	return append(out, page.Command{Does: "after a change of the source", Text: "heddle replay --changed " + file})
}

// writePage writes a page to a file, whole or not at all.
func (a *app) writePage(file string, e page.Execution, o page.Options) error {
	return tracefile.WriteWhole(file, func(w io.Writer) error { return page.Render(w, e, o) })
}
