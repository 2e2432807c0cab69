package static

import "context"

// Stop ends a long computation soon after its context has ended: the computation calls Check at least
// once for each step of its loops, and its exported function defers Caught. A nil Stop never ends one.
type Stop struct {
	ctx   context.Context
	steps int
}

// StopWith returns a Stop for a context.
func StopWith(ctx context.Context) *Stop { return &Stop{ctx: ctx} }

// stopEvery is how many steps pass between two looks at the context, which takes a lock.
const stopEvery = 1024

// stopped is the panic of Check.
type stopped struct{ err error }

// Check counts a step. If the context has ended, it panics with a value that Caught turns into the
// context's error.
func (s *Stop) Check() {
	if s == nil {
		return
	}
	if s.steps++; s.steps%stopEvery == 1 {
		if err := s.ctx.Err(); err != nil {
			panic(stopped{err})
		}
	}
}

// Caught is deferred by functions that call Check, and sets their error. It passes on other panics.
func Caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case stopped:
		*err = p.err
	default:
		panic(p)
	}
}
