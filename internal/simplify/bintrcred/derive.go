package bintrcred

import (
	"context"

	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// Derive derives an order that another method found by moves of unconnected runs (stmt.Line), and
// checks the paper's theorems on it like Run. The order keeps program order. Derive does not check that
// it keeps every dependence: the checker rejects the derivation if not. The error is a
// *NotExecutionError, that of a theorem that does not hold, or the context's.
func Derive(ctx context.Context, t *stmt.Trace, order []int32) (d *stmt.Derivation, err error) {
	defer static.Caught(&err)
	before, err := stmt.Run(t, t.Recorded())
	if err != nil {
		return nil, &NotExecutionError{err}
	}
	r := newReducer(t, stmt.Graph(t), Connect(t))
	r.stop = static.StopWith(ctx)
	r.line(t.Recorded(), order)
	r.order = order
	d = r.derivation()
	after, err := stmt.Run(t, order)
	if err := theorems(t, before, after, err, d.Before, d.After); err != nil {
		return nil, err
	}
	return d, nil
}
