package pattern

import "github.com/heddle-dev/heddle/trace"

// WaitGroup is a Done or a Wait that comes before the Add which it is meant for.
const WaitGroup = "WaitGroup misuse"

var waitGroup = &Pattern{
	Name:   WaitGroup,
	Shows:  "Go: the counter is negative, or `Wait` comes before an `Add`",
	misuse: true,
	find: func(x *Execution) *Match {
		if x.dies("sync: negative WaitGroup counter", "sync: WaitGroup misuse", "sync: WaitGroup is reused") {
			return &Match{}
		}
		if first, later, ok := x.later(); ok && first.Op == trace.OpWgWait && later.Op == trace.OpWgAdd && int64(later.Value) > 0 && first.Object == later.Object {
			return &Match{}
		}
		return nil
	},
}
