package report

import (
	"cmp"
	"fmt"

	"github.com/heddle-dev/heddle/internal/ops"
	"github.com/heddle-dev/heddle/internal/wording"
	"github.com/heddle-dev/heddle/trace"
)

// Position is where a thread was when its execution ended, in the form of its JSON.
type Position struct {
	Thread int `json:"thread"`
	// Blocked says that the thread could not continue: nothing had happened yet that it waited for.
	Blocked bool   `json:"blocked"`
	Op      string `json:"op,omitempty"`     // the operation before or in which it stood; empty if it was between two
	Object  string `json:"object,omitempty"` // of the operation
	Holder  *int   `json:"holder,omitempty"` // the thread that held the object
	Where   string `json:"where"`
	Text    string `json:"text"` // in words, without the place
	steps   int    // for which it has spun there; 0 if it does not
}

// Spins says that the thread has observed nothing new at so many steps in a row, one of which is its operation.
func (p *Position) Spins(steps int) {
	p.steps = steps
	switch {
	case p.Op == trace.OpRead.String() || p.Op == trace.OpAtomicLoad.String():
		p.Text = "has read"
	case p.Op == trace.OpYield.String():
		p.Text = "has yielded"
		return
	default:
		p.Text = "has repeated " + p.Op + " of"
	}
	p.Text += " " + cmp.Or(p.Object, "the same memory")
}

// Line says where the thread is.
func (p *Position) Line() string {
	line := fmt.Sprintf("T%d: %s at %s", p.Thread, p.Text, cmp.Or(p.Where, "an unknown place"))
	if p.steps > 0 {
		line += " for " + wording.Count(p.steps, "step")
	}
	return line
}

// Positions returns where the threads of an execution were that had not ended. where formats a site for a call stack of the
// execution, innermost first and maybe empty; object names an object.
func Positions(end *trace.Ending, stacks [][]trace.Site, where func(trace.Site, []trace.Site) string, object func(trace.Object) string) []Position {
	out := []Position{}
	for i := range end.Waiters {
		w := &end.Waiters[i]
		p := Position{Thread: int(w.Thread), Blocked: !w.MayGoOn()}
		var calls []trace.Site
		switch {
		case int(w.Stack) < len(stacks) && w.Stack > 0:
			calls = stacks[w.Stack]
		case w.Thread == end.Thread:
			calls = end.Stack
		}
		site := w.Site
		if w.Op == trace.OpThreadStart {
			site++ // the function's first instruction; other sites are return addresses
		}
		p.Where = where(site, calls)
		if w.Op != trace.OpNone {
			p.Op = w.Op.String()
		}
		if w.Object != 0 && p.Op != "" {
			p.Object = object(w.Object)
		}
		if w.Holder >= 0 {
			holder := int(w.Holder)
			p.Holder = &holder
		}
		p.Text = p.words(w)
		out = append(out, p)
	}
	return out
}

// inKernel reports whether a thread that cannot go on is a goroutine in a system call: its last operation keeps none waiting.
func inKernel(w *trace.Waiter) bool {
	return w.Op >= trace.OpGo && w.Op != trace.OpExternal && !ops.Of(w.Op).KeepsGoroutines()
}

func (p *Position) words(w *trace.Waiter) string {
	what := p.Op
	if p.Object != "" {
		what += " of " + p.Object
	}
	switch {
	case p.Op == "":
		return "runs"
	case p.Blocked && inKernel(w):
		return "is in a system call after " + what
	case !p.Blocked:
		return "can continue with " + what
	case w.Op == trace.OpThreadJoin && p.Holder != nil:
		return fmt.Sprintf("blocked in %s of T%d", p.Op, *p.Holder)
	case p.Holder != nil:
		return fmt.Sprintf("blocked in %s, held by T%d", what, *p.Holder)
	}
	return "blocked in " + what
}
