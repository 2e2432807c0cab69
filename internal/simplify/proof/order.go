package proof

import "github.com/heddle-dev/heddle/internal/simplify/stmt"

// ordered says for each unit which units of other threads are connected with one of its
// statements and come before it: not all, but so many that an order which keeps those and
// the threads' own keeps all. It goes by the statements and the definition of
// connectedness, variable by variable.
type ordered struct {
	start []uint32
	preds []int32
}

// of are the units that have to come before unit u.
func (o *ordered) of(u int32) []int32 { return o.preds[o.start[u]:o.start[u+1]] }

// variable is what happened to a global: the last unit that changed it, and those that
// have looked at it since, the latest first.
type variable struct {
	changed int32 // -1 for none
	looks   int32 // index into the list of looks, -1 for none
}

type look struct{ unit, next int32 }

func order(t *stmt.Trace) *ordered {
	o := &ordered{start: make([]uint32, 1, t.Len()+1)}
	vars := make([]variable, t.Globals)
	for g := range vars {
		vars[g] = variable{-1, -1}
	}
	var looks []look
	last := make([]int32, len(t.Threads))   // unit of each thread
	starts := make([]int32, len(t.Threads)) // unit that starts it
	for th := range last {
		last[th], starts[th] = -1, -1
	}
	for u := range int32(t.Len()) {
		th := t.Of[u]
		need := func(p int32) {
			if p >= 0 && t.Of[p] != th {
				o.preds = append(o.preds, p)
			}
		}
		if last[th] < 0 {
			need(starts[th])
		}
		unit := t.Unit(u)
		for i := range unit {
			s := &unit[i]
			switch s.Kind {
			case stmt.Duplicate:
				if last[s.Lo] < 0 && s.Lo != th {
					starts[s.Lo] = u
				}
			case stmt.Initiate:
				need(last[s.Lo])
			case stmt.Ready, stmt.End:
			default:
				for g := s.Lo; g < s.Hi; g++ {
					v := &vars[g]
					need(v.changed)
					if s.Kind == stmt.Localize {
						looks = append(looks, look{u, v.looks})
						v.looks = int32(len(looks) - 1)
						continue
					}
					for l := v.looks; l >= 0; l = looks[l].next {
						need(looks[l].unit)
					}
					*v = variable{u, -1}
				}
			}
		}
		last[th] = u
		o.start = append(o.start, uint32(len(o.preds)))
	}
	return o
}
