package main

import (
	"fmt"

	"github.com/heddle-dev/heddle/internal/analysis/canonical"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

type sanitizeCommand struct {
	Output string `short:"o" required:"" placeholder:"FILE" help:"Write the sanitised trace to FILE."`

	traceArg
}

func (c *sanitizeCommand) Help() string {
	return `Writes a trace in a form that does not depend on the schedule or on addresses: events grouped
by thread, threads named by their place in the tree of who created whom, memory by the thread that
allocated it and the number of the allocation. Two executions of a pseudo-deterministic program with
the same input give the same file. Record with --values.`
}

type sanitizeJSON struct {
	Output   string `json:"output"`
	Threads  int    `json:"threads"`
	Events   int    `json:"events"`   // in the sanitised trace
	Complete bool   `json:"complete"` // the trace has all accesses of the execution
}

func (c *sanitizeCommand) Run(a *app) error {
	if err := tracefile.NotInput(c.Output, c.Trace); err != nil {
		return err
	}
	x, err := opened(a, c.Trace)
	if err != nil {
		return err
	}
	noteGaps(a, x, c.Trace)
	defer x.Close()
	if err := tracefile.WriteWhole(c.Output, x.Write); err != nil {
		return err
	}
	out := sanitizeJSON{Output: c.Output, Threads: len(x.Threads), Complete: x.Complete}
	for i := range x.Threads {
		out.Events += x.Threads[i].Events
	}
	if a.JSON {
		return a.printJSON(out)
	}
	fmt.Fprintf(a.stdout, "sanitised: %s (%s, %s)\n", out.Output, wording.Count(out.Events, "event"), wording.Count(out.Threads, "thread"))
	return nil
}

// noteGaps says what an execution lacks.
func noteGaps(a *app, x *canonical.Execution, name string) {
	if !x.Complete {
		a.note(fmt.Sprintf("%s has only the first accesses of its execution, and which these are depends on the schedule: record it again with more --memory", name))
	}
	if x.Instrumented && !x.Values {
		a.note(fmt.Sprintf("%s was recorded without --values, so it may lack repeated accesses, and which ones depends on the schedule", name))
	}
	if !x.Instrumented {
		a.note(fmt.Sprintf("%s has no accesses to memory, because the program was not compiled with heddle cc", name))
	}
}

// opened returns a trace in its sanitised form: read from a sanitised file, or made from a trace.
func opened(a *app, name string) (*canonical.Execution, error) {
	if canonical.IsFile(name) {
		return canonical.Open(name)
	}
	r, err := trace.Open(name, trace.MemoryLimit(a.memory()))
	if err != nil {
		return nil, tracefile.Explained(name, err)
	}
	defer r.Close()
	return canonical.Sanitize(r, a.memory()/4)
}
