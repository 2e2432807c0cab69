package pattern

import (
	"strings"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// ClosedSend is a send on a channel of Go that another goroutine has closed.
const ClosedSend = "send on a closed channel"

var closedSend = &Pattern{
	Name:   ClosedSend,
	Shows:  "Go: the execution ends so, and the ordering shows none of the above",
	misuse: true,
	find: func(x *Execution) *Match {
		if x.dies(sendOnClosed) {
			return &Match{Bare: true}
		}
		return nil
	},
}

// Messages of Go's runtime.
const (
	sendOnClosed  = "send on closed channel"
	closeOfClosed = "close of closed channel"
)

// Closed returns, for an execution that ends as a goroutine sends on or closes a closed channel, the event that closed it and the one that does this;
// -1 for those that are not known. A select does not tell its channels: then it is the only one that was closed.
func Closed(t *trace.Trace) (closed, use int) {
	end := &t.Ending
	if end.Kind != trace.Panic || end.Site == 0 || !strings.Contains(end.Message, sendOnClosed) && !strings.Contains(end.Message, closeOfClosed) {
		return -1, -1
	}
	closed, use = -1, -1
	for i := len(t.Events) - 1; i >= 0; i-- {
		ev := &t.Events[i]
		switch {
		case use < 0:
			if ev.Thread == end.Thread && ev.Site == end.Site && ops.Of(ev.Op).Of == ops.Channel && ev.Flags&trace.FlagNoDecision == 0 {
				use, i = i, len(t.Events) // it may have begun before the close
			}
		case ev.Op != trace.OpChanClose || i == use:
		case ev.Object == t.Events[use].Object:
			return i, use
		case ops.Does(t.Events[use].Op) != ops.Communicate && closed >= 0 && t.Events[closed].Object != ev.Object:
			return -1, use
		case ops.Does(t.Events[use].Op) != ops.Communicate:
			closed = i
		}
	}
	return closed, use
}
