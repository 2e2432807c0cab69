package stmt

import "github.com/heddle-dev/heddle/internal/analysis/depend"

// Graph is the dependence graph of the units.
func Graph(t *Trace) *depend.Graph {
	b := depend.NewBuilder(t.Len())
	for u := range int32(t.Len()) {
		b.Begin(t.Of[u], false)
		unit := t.Unit(u)
		for i := range unit {
			b.Effect(effect(&unit[i]))
		}
	}
	return b.Graph()
}

// effect is what a statement does to globals and threads. A lock or flag is a variable
// that every statement of it changes.
func effect(s *Stmt) depend.Effect {
	at, size := uint64(s.Lo)*8, uint64(s.Hi-s.Lo)*8
	switch s.Kind {
	case Localize:
		return depend.Effect{Mode: depend.Read, Kind: depend.Conflict, Addr: at, Size: size}
	case Share:
		return depend.Effect{Mode: depend.Write, Kind: depend.Conflict, Addr: at, Size: size}
	case Require, Release:
		return depend.Effect{Mode: depend.Write, Kind: depend.Lock, Addr: at, Size: size}
	case Set1, Set0:
		return depend.Effect{Mode: depend.Write, Kind: depend.Signal, Addr: at, Size: size}
	case Duplicate:
		return depend.Effect{Mode: depend.Create, Kind: depend.Life, Addr: uint64(s.Lo), Size: 1}
	case Initiate:
		return depend.Effect{Mode: depend.Join, Kind: depend.Life, Addr: uint64(s.Lo), Size: 1}
	case Ready:
		return depend.Effect{Mode: depend.Begin, Kind: depend.Life, Addr: uint64(s.Thread), Size: 1}
	default:
		return depend.Effect{Mode: depend.End, Kind: depend.Life, Addr: uint64(s.Thread), Size: 1}
	}
}
