package main

import (
	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/launch"
	"github.com/heddle-dev/heddle/internal/tracefile"
	"github.com/heddle-dev/heddle/trace"
)

// saveCause saves the explanation of a trace in its file. If it can, the trace has the events that the explanation names from then on.
func saveCause(tr *trace.Trace, file string, c *engine.Cause) {
	write := !c.Cut && tracefile.Rewritable(file, tr)
	if write {
		c.Show(tr)
	}
	tracefile.SaveCause(file, tr, &c.Explanation, currentVersion().Version, write)
}

// savedCause returns the explanation that the trace of a file has from before, with the execution that does not fail if its file is
// still there. It returns nil if the trace has no explanation, or if the program is another one by now.
func savedCause(tr *trace.Trace, file string) *engine.Cause {
	if launch.Changed(tr) {
		return nil
	}
	e := tracefile.SavedCause(file, tr, currentVersion().Version)
	if e == nil {
		return nil
	}
	out := &engine.Cause{Explanation: *e}
	if e.Passing != "" {
		if passing, err := tracefile.Read(e.Passing); err == nil && passes(tr, passing) && e.PassesIn(len(passing.Events)) {
			out.PassingTrace = passing
		}
	}
	if out.PassingTrace == nil {
		out.Passing = ""
	}
	out.Met = out.PassingTrace
	return out
}

// passes reports whether an execution, which was kept as one that passes, can be that. One that only leaves goroutines behind, as the
// failing one does, counts as passing where that is not the failure.
func passes(failing, kept *trace.Trace) bool {
	return !kept.Ending.Kind.Failed() || kept.Ending.Kind == trace.Leak && failing.Ending.Kind != trace.Leak
}
