package hb

import (
	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/trace"
)

// tell handles signals, timers, cancellations and descriptors. Traces record the predecessors of
// their operations less exactly than those of locks.
func (e *Engine) tell(t *thread, spec *ops.Spec, ev *trace.Event) {
	signalfd := isSignalfd(ev.Object)
	e.sigfds = e.sigfds || signalfd
	switch spec.Does {
	case ops.Send, ops.Expire:
		if ev.Result == 0 {
			e.leave(t, releasedAt(e.told, allSignals))
		}
	case ops.Take:
		// A fault (not a scheduling point) has no sender.
		if sent := ev.Value > 0 && ev.Flags&trace.FlagNoDecision == 0; spec.Done(ev) && (sent || spec.Blocks == ops.UntilSignal) {
			t.take(releasedAt(e.told, allSignals))
		}
	case ops.Arm:
		// The timer's next expiry comes after this.
		if id := trace.ThreadID(ev.Aux) - 1; id >= 0 {
			e.pass(t, e.thread(id))
		}
	case ops.Cancel:
		e.leave(t, releasedAt(e.told, cancelOf(trace.ThreadID(ev.Value))))
	case ops.Transmit, ops.Close, ops.Connect, ops.Control:
		if spec.Done(ev) {
			if channel(ev.Object) {
				e.leave(t, releasedAt(e.told, ev.Object))
			}
			e.leave(t, releasedAt(e.told, allChannels))
		}
	case ops.Receive, ops.Accept:
		if signalfd && ev.Result == 0 {
			t.take(releasedAt(e.told, allSignals))
		}
		switch {
		case ev.Result != 0:
		case channel(ev.Object):
			t.take(releasedAt(e.told, ev.Object))
		case outside(ev.Object):
			t.take(releasedAt(e.told, allChannels))
		}
	case ops.Poll:
		if ev.Result == 0 && ev.Value > 0 {
			t.take(releasedAt(e.told, allChannels))
			if e.sigfds {
				t.take(releasedAt(e.told, allSignals))
			}
		}
	}
}

func isSignalfd(o trace.Object) bool {
	kind, _, _ := o.Channel()
	return kind == trace.ChannelSignals
}

func releasedAt(m map[trace.Object]*released, o trace.Object) *released {
	r := m[o]
	if r == nil {
		r = &released{}
		m[o] = r
	}
	return r
}

// allChannels represents everything to which descriptors refer. The cause for which a poll or a
// wait on an epoll set returns is not recorded completely, so the return comes after all earlier
// operations on any descriptor: this may hide a race and never invents one.
const allChannels = trace.Object(^uint64(1))

// channel reports whether data read from an object was written to that object by this program. The
// contents of a file may have any origin.
func channel(o trace.Object) bool {
	kind, _, ok := o.Channel()
	return ok && kind != "file" && kind != "descriptor"
}

// outside reports whether an object is one of the kernel's descriptors: a pipe whose other end may
// be any descriptor of the process. A read comes after all earlier writes to any descriptor: this
// may hide a race and never invents one.
func outside(o trace.Object) bool {
	kind, _, ok := o.Channel()
	return ok && kind == "descriptor"
}

// allSignals represents every pending signal. The system chooses which of several pending signals a
// wait takes, so a wait comes after all that were sent before it: this may hide a race and never
// invents one.
const allSignals = trace.Object(^uint64(0))

// cancelOf represents a thread's cancellation request.
func cancelOf(t trace.ThreadID) trace.Object { return allSignals - 1 - trace.Object(t) }
