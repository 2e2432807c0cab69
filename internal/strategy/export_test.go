package strategy

import "github.com/heddle-dev/heddle/trace"

// ScheduledAt returns the memory instructions that are scheduling points.
func (x *DPOR) ScheduledAt() []trace.Site  { return x.state.Points }
func (x *CHESS) ScheduledAt() []trace.Site { return x.state.Points }
