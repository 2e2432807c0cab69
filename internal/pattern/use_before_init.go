package pattern

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// TooEarly is the use of a variable that another thread sets later.
const TooEarly = "use before initialisation"

var tooEarly = &Pattern{
	Name:  TooEarly,
	Shows: "a crash after a read of 0 from memory that nothing had written, and that another thread writes when it is given time",
	find: func(x *Execution) *Match {
		first, later, ok := x.later()
		end := &x.Trace.Ending
		if !ok || end.Kind != trace.Signal || end.Thread != first.Thread || !isAccess(first) || !isAccess(later) ||
			ops.Changes(first) || !ops.Changes(later) || first.Value != 0 || len(x.Trace.Header.Unrecorded) > 0 || x.written(first, x.Order.First) {
			return nil
		}
		return &Match{Say: func(Words) string { return "It is 0, and no write of it came before." }}
	},
}
