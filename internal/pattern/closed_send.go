package pattern

// ClosedSend is a send on a channel of Go that another goroutine has closed.
const ClosedSend = "send on a closed channel"

var closedSend = &Pattern{
	Name:   ClosedSend,
	Shows:  "Go: the execution ends so, and the ordering shows none of the above",
	misuse: true,
	find: func(x *Execution) *Match {
		if x.dies("send on closed channel") {
			return &Match{Bare: true}
		}
		return nil
	},
}
