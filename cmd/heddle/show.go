package main

import (
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/trace"
)

func (a *app) showTrace(tr *trace.Trace, full bool) error { return trace.WriteText(a.stdout, tr) }

func (a *app) showSummary(r *tinertia.Result) error { return a.printJSON(r.Table1) }
