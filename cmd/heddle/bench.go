package main

import (
	"fmt"
	"iter"
	"path/filepath"

	"github.com/heddle-dev/heddle/internal/simplify/staticbench"
	"github.com/heddle-dev/heddle/internal/simplify/synthetic"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/usage"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type benchCommand struct {
	Static benchStaticCommand `cmd:"" help:"Table I of BinTrcRed, with SimTrace, merging back and forth, and the optimum beside it."`
}

type benchStaticCommand struct {
	Runs     int      `default:"3" help:"Measure each this many times, and print averages."`
	Growth   bool     `help:"Measure how time and memory grow with the trace, instead."`
	Events   []int    `default:"10000,100000,1000000" help:"Lengths to measure growth at."`
	Width    []int    `name:"threads" default:"2,8,64" help:"Numbers of threads to measure growth at."`
	Locks    int      `default:"8" help:"Locks of the traces that growth is measured on."`
	Conflict float64  `default:"0.1" help:"How likely an access of theirs is of a shared variable."`
	Traces   []string `arg:"" optional:"" help:"Traces to measure on, of events or of statements, besides the four programs of the paper."`
}

type benchJSON struct {
	Rows   []staticbench.Row       `json:"rows,omitempty"`
	Growth []staticbench.GrowthRow `json:"growth,omitempty"`
}

func (c *benchStaticCommand) Run(a *app) error {
	if c.Runs < 1 {
		return usage.Errorf("--runs must be at least 1")
	}
	var out benchJSON
	p := a.progress()
	defer p.done()
	if c.Growth {
		source := func(events, threads int) iter.Seq[*trace.Event] {
			return synthetic.Workload{Events: events, Threads: threads, Conflict: c.Conflict, Locks: c.Locks}.All()
		}
		if err := (synthetic.Workload{Threads: 2, Conflict: c.Conflict, Locks: c.Locks}).Check(); err != nil {
			return usage.Wrap(err)
		}
		err := staticbench.Growth(c.Events, c.Width, source, func(r staticbench.GrowthRow) {
			out.Growth = append(out.Growth, r)
			p.line(fmt.Sprintf("bench: %s events, %d threads", wording.Thousands(r.Events), r.Threads))
		})
		p.done()
		if err != nil {
			return err
		}
		if a.JSON {
			return a.printJSON(out)
		}
		return staticbench.PrintGrowth(a.stdout, out.Growth)
	}
	inputs, err := staticbench.Builtin()
	if err != nil {
		return err
	}
	for _, name := range c.Traces {
		in, err := tracefile.ReadAny(name)
		if err != nil {
			return err
		}
		inputs = append(inputs, staticbench.Input{Name: filepath.Base(name), Events: in.Trace, Statements: in.Statements})
	}
	for _, in := range inputs {
		p.line("bench: " + in.Name)
		row, err := staticbench.Measure(in, c.Runs)
		if err != nil {
			return fmt.Errorf("%s: %w", in.Name, err)
		}
		out.Rows = append(out.Rows, row)
	}
	p.done()
	if a.JSON {
		return a.printJSON(out)
	}
	return staticbench.Print(a.stdout, out.Rows)
}
