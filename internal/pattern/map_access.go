package pattern

// MapAccess are two accesses to a map of Go at the same time, which its runtime reports.
const MapAccess = "concurrent map accesses"

var mapAccess = &Pattern{
	Name:   MapAccess,
	Shows:  "Go: the execution ends so, and the ordering shows none of the above",
	misuse: true,
	find: func(x *Execution) *Match {
		if x.dies("concurrent map ") {
			return &Match{Begun: x.begun()}
		}
		return nil
	},
}

// begun returns the access to a map that the second of the ordering ends: the last event of its thread, which was in the
// middle of it when the execution ended. It returns 0 if no thread was.
func (x *Execution) begun() int {
	o := x.Order
	if o.Second >= 0 || o.InPassing >= len(x.Passing.Events) {
		return 0
	}
	end := &x.Passing.Events[o.InPassing]
	for i := len(x.Trace.Events) - 1; i > 0; i-- {
		if ev := x.event(i); ev.Thread == end.Thread {
			if i < o.First && ev.Op.IsAccess() && ev.Op == end.Op && ev.Site == end.Site {
				return i
			}
			return 0
		}
	}
	return 0
}
