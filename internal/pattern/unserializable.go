package pattern

// Unserializable are accesses that would not give the same values without the interruption.
const Unserializable = "unserializable accesses"

var unserializable = &Pattern{
	Name:  Unserializable,
	Shows: "the other two of CTrigger's patterns ([atomicity.md](atomicity.md#interleavings))",
	find: func(x *Execution) *Match {
		if t := x.interleaving(); t != nil && !(x.Reads(t[0]) && x.Reads(t[2])) {
			return &Match{Triple: t}
		}
		return nil
	},
}
