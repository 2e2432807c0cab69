package pattern

// LostUpdate is a write made from a value that another thread has changed since.
const LostUpdate = "lost update"

var lostUpdate = &Pattern{
	Name:  LostUpdate,
	Shows: "another thread writes between a thread's read and its write of the same memory, which is not a successful compare-and-swap",
	find: func(x *Execution) *Match {
		if t := x.interleaving(); t != nil && x.Reads(t[0]) && !x.Reads(t[1]) && !x.Reads(t[2]) {
			return &Match{Triple: t}
		}
		return nil
	},
}
