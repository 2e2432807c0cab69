package pattern

// AtomicityViolation is an operation that comes between two of another thread, which have to follow one another.
const AtomicityViolation = "atomicity violation"

var atomicityViolation = &Pattern{
	Name:  AtomicityViolation,
	Shows: "an operation, or a critical section, comes between two of another thread that depend on it; with it before both, or after both, the execution does not fail",
	find: func(x *Execution) *Match {
		if x.Rest == nil {
			return nil
		}
		return &Match{}
	},
}
