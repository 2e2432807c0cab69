package campaign

import (
	"context"
	"fmt"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// judge makes an ending with an unexpected exit status a failure. Targets leave that
// open: see the package's doc.
func judge(e *trace.Ending, expect int32) {
	if e.Kind == trace.Clean && e.Status != expect {
		e.Kind = trace.Exit
		e.Message = fmt.Sprintf("exit status %d, expected %d", e.Status, expect)
	}
}

// judged is the target as an executor whose outcomes have been judged.
func judged(t target.Target, expect int32) schedule.Executor {
	return func(ctx context.Context, p schedule.Plan) (schedule.Outcome, error) {
		p.ExpectStatus = expect
		o, err := t.Run(ctx, p)
		if err != nil {
			return o, err
		}
		judge(&o.Ending, expect)
		if o.Trace != nil {
			judge(&o.Trace.Ending, expect)
		}
		return o, nil
	}
}
