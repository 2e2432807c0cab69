package bintrcred

import "github.com/heddle-dev/heddle/internal/simplify/stmt"

// Quad is the annotation of a join-point (Definition 3): the segment of the preceding unit, from
// its first unit S1 to that unit S2, and the threads of the two. Units and threads count from 1;
// all fields are 0 before the first unit.
type Quad struct{ S1, S2, T1, T2 int32 }

// Connect is the connectivity analysis of Figure 3: it returns the annotations of the trace's
// join-points, one more than units. A segment is a maximal run of units, each connected with the
// one before it.
func Connect(t *stmt.Trace) []Quad {
	quads := make([]Quad, t.Len()+1)
	for i := range int32(t.Len()) {
		u, th := i+1, t.Of[i]+1
		switch {
		case i == 0: // (tr1)
			quads[u] = Quad{u, u, th, th}
		case !connect(t, i-1, i): // (tr2)
			quads[u] = Quad{u, u, th, th}
		default: // (tr3)
			quads[u] = Quad{quads[i].S1, u, quads[i].T1, th}
		}
	} // (tr4)
	return quads
}

// connect is the map of Definition 2 for units u and v, adjacent in this order.
func connect(t *stmt.Trace, u, v int32) bool {
	if t.Of[u] == t.Of[v] { // C1
		return true
	}
	// A Duplicate or Initiate counts even if the other unit has no statements.
	a, b := t.Unit(u), t.Unit(v)
	for i := range a {
		if a[i].Kind == stmt.Duplicate && a[i].Lo == t.Of[v] {
			return true
		}
		for j := range b {
			if stmt.Connected(&a[i], &b[j]) { // C2, C3
				return true
			}
		}
	}
	for j := range b {
		if b[j].Kind == stmt.Initiate && b[j].Lo == t.Of[u] {
			return true
		}
	}
	return false
}

// segments returns the first unit of each segment.
func segments(quads []Quad) []int32 {
	var out []int32
	for u, q := range quads[1:] {
		if q.S1 == int32(u)+1 {
			out = append(out, int32(u))
		}
	}
	return out
}
