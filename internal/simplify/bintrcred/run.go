package bintrcred

import (
	"context"
	"fmt"
	"time"

	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// Phases are the times of the paper's six phases (§IV), as in its Table I: counting the
// switches before, the semantics before (SRb), the connectivity analysis (CR), the
// reduction (TR), counting the switches after, the semantics after (SRa).
type Phases struct {
	CountBefore, SemanticsBefore, Connectivity, Reduction, CountAfter, SemanticsAfter time.Duration
}

// Result is the result of BinTrcRed for a trace.
type Result struct {
	Order      []int32
	Before     int // context switches, CSb
	After      int // CSa
	Derivation *stmt.Derivation
	Phases     Phases
}

// NotExecutionError is that of a trace that cannot be executed.
type NotExecutionError struct{ err error }

func (e *NotExecutionError) Error() string { return "the trace is not an execution: " + e.err.Error() }
func (e *NotExecutionError) Unwrap() error { return e.err }

// Run reduces a trace and checks the paper's theorems on it: it executes the trace before and
// after, and compares the states (Theorem 2) and the context switches (Theorem 1). It returns an
// error if the trace cannot be executed or if a theorem does not hold, which would be a bug in
// heddle. If the context ends first, the error is the context's.
func Run(ctx context.Context, t *stmt.Trace) (res *Result, err error) {
	defer static.Caught(&err)
	stop := static.StopWith(ctx)
	res = &Result{}
	recorded := t.Recorded()
	clock := func(d *time.Duration, f func()) {
		start := time.Now()
		f()
		*d = time.Since(start)
	}
	var before, after *stmt.State
	var quads []Quad
	clock(&res.Phases.CountBefore, func() { res.Before = t.Switches(recorded) })
	clock(&res.Phases.Connectivity, func() { quads = Connect(t) })
	clock(&res.Phases.SemanticsBefore, func() { before, err = stmt.Run(t, recorded) })
	if err != nil {
		return nil, &NotExecutionError{err}
	}
	clock(&res.Phases.Reduction, func() { res.Order, res.Derivation = reduce(stop, t, quads) })
	clock(&res.Phases.CountAfter, func() { res.After = t.Switches(res.Order) })
	clock(&res.Phases.SemanticsAfter, func() { after, err = stmt.Run(t, res.Order) })
	if err := theorems(t, before, after, err, res.Before, res.After); err != nil {
		return nil, err
	}
	return res, nil
}

// theorems checks the paper's theorems: the states before and after, or the error of executing the
// reduced trace, and the switches.
func theorems(t *stmt.Trace, before, after *stmt.State, err error, switchesBefore, switchesAfter int) error {
	switch {
	case err != nil:
		return fmt.Errorf("the reduced trace is not an execution (theorem 2): %w", err)
	case switchesAfter > switchesBefore:
		return fmt.Errorf("the reduced trace has %d context switches, the trace %d (theorem 1)", switchesAfter, switchesBefore)
	}
	if d := t.Diff(before, after); d != "" {
		return fmt.Errorf("the reduced trace is another execution (theorem 2): %s", d)
	}
	return nil
}
