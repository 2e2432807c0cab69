package pattern

import (
	"fmt"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// Cancelled is a context that is cancelled before another goroutine has received what it waits for.
const Cancelled = "cancel before receive"

var cancelled = &Pattern{
	Name:  Cancelled,
	Shows: "Go: a context is cancelled before another goroutine receives from a channel or selects",
	find: func(x *Execution) *Match {
		first, later, ok := x.later()
		if !ok || x.Functions == nil || first.Thread == later.Thread {
			return nil
		}
		if later.Op != trace.OpChanRecv && ops.Does(later.Op) != ops.Select && !resumes(later) {
			return nil
		}
		cancels := slices.ContainsFunc(x.Functions(x.Trace, x.Order.First), func(f string) bool {
			return strings.HasPrefix(f, "context.(*") && strings.HasSuffix(f, ").cancel")
		})
		if !cancels {
			return nil
		}
		return &Match{Say: func(Words) string {
			return fmt.Sprintf("T%d cancels the context before T%d has received.", first.Thread, later.Thread)
		}}
	},
}

// resumes reports whether an event is the end of a receive or a select for which the goroutine was blocked.
func resumes(ev *trace.Event) bool {
	op := trace.Op(ev.Value)
	return ev.Op == trace.OpResume && (op == trace.OpChanRecv || op == trace.OpSelect)
}
