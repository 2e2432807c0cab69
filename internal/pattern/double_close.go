package pattern

// DoubleClose is a channel of Go that is closed twice.
const DoubleClose = "double close of a channel"

var doubleClose = &Pattern{
	Name:   DoubleClose,
	Shows:  "Go: the execution ends so, and the ordering shows none of the above",
	misuse: true,
	find: func(x *Execution) *Match {
		if x.dies(closeOfClosed) {
			return &Match{Bare: true}
		}
		return nil
	},
}
