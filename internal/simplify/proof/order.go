package proof

import "github.com/heddle-dev/heddle/internal/simplify/stmt"

// ordered lists, for each unit, units of other threads that come before it and are connected with
// one of its statements. It does not list all of them, but an order that keeps the listed ones and
// program order keeps all. It is computed from the statements and the definition of connectedness,
// variable by variable.
type ordered struct {
	start []uint32
	preds []int32
}

// of returns the units that must come before unit u.
func (o *ordered) of(u int32) []int32 { return o.preds[o.start[u]:o.start[u+1]] }

// variable is the history of a global: the last unit that changed it, and the units that have read
// it since, latest first.
type variable struct {
	changed int32 // -1 for none
	looks   int32 // index into the list of looks, or -1
}

type look struct{ unit, next int32 }

func order(t *stmt.Trace) *ordered {
	o := &ordered{start: make([]uint32, 1, t.Len()+1)}
	vars := make([]variable, t.Globals)
	for g := range vars {
		vars[g] = variable{-1, -1}
	}
	var looks []look
	last := make([]int32, len(t.Threads))   // last unit of each thread
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
