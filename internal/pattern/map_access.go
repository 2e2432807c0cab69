package pattern

// MapAccess are two accesses to a map of Go at the same time, which its runtime reports.
const MapAccess = "concurrent map accesses"

var mapAccess = &Pattern{
	Name:   MapAccess,
	Shows:  "Go: the execution ends so, and the ordering shows none of the above",
	misuse: true,
	find: func(x *Execution) *Match {
		if x.dies("concurrent map ") {
			m := new(Match)
			m.Begun, m.During = x.overlap()
			return m
		}
		return nil
	},
}

// overlap returns an access to a map during which its thread was when the execution ended, and the access of the other thread that came
// meanwhile. One of them is the ordering's first event, and the other has its end where the execution passes, the ordering's second.
// It returns zeros if the events show no such accesses.
func (x *Execution) overlap() (begun, during int) {
	o := x.Order
	if o.Second >= 0 || o.InPassing >= len(x.Passing.Events) {
		return 0, 0
	}
	first, end := x.event(o.First), &x.Passing.Events[o.InPassing]
	other := x.last(end.Thread)
	if other < 0 || !isAccess(first) || x.event(other).Op != end.Op || x.event(other).Site != end.Site || x.event(other).Object != first.Object {
		return 0, 0
	}
	switch {
	case other < o.First:
		return other, o.First
	case x.last(first.Thread) == o.First:
		return o.First, other
	}
	return 0, 0
}
