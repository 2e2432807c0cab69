package pattern

// CheckThenAct is a decision on what another thread changes before it is carried out.
const CheckThenAct = "check then act"

var checkThenAct = &Pattern{
	Name:  CheckThenAct,
	Shows: "another thread writes between two reads, which may be in different critical sections",
	find: func(x *Execution) *Match {
		if t := x.interleaving(); t != nil && x.Reads(t[0]) && x.Reads(t[2]) {
			return &Match{Triple: t}
		}
		return nil
	},
}
