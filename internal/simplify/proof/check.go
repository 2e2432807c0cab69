package proof

import (
	"fmt"
	"slices"

	"github.com/heddle-dev/heddle/internal/simplify/stmt"
)

// CheckError reports the first invalid item of a derivation.
type CheckError struct {
	Round, Step int // from 1; 0 if the item is not in a round or a step
	Msg         string
}

func (e *CheckError) Error() string {
	switch {
	case e.Round == 0:
		return "the derivation does not hold: " + e.Msg
	case e.Step == 0:
		return fmt.Sprintf("the derivation does not hold: round %d: %s", e.Round, e.Msg)
	}
	return fmt.Sprintf("the derivation does not hold: round %d, step %d: %s", e.Round, e.Step, e.Msg)
}

func wrong(format string, args ...any) error {
	return &CheckError{Msg: fmt.Sprintf(format, args...)}
}

// Check replays a derivation on its trace. It returns the order of units that the derivation proves
// to be the same execution, or a *CheckError. Time is linear in the length of the trace, and O(n
// log n) in the number of units moved.
//
// It checks that the derivation belongs to this trace and that the segments follow from rules (tr1)
// to (tr4). For each step, it checks that the round's shape allows the rule and visits the range,
// in this order; that the units moved are consecutive in the trace and in their thread; that they
// move to the place given by the rule; and that no unit which they pass is connected with one of
// them. At the end of each round and of the derivation, it checks that the number of context
// switches has not grown (Theorem 1), and at the end that it is the number stated.
func Check(t *stmt.Trace, d *stmt.Derivation) ([]int32, error) {
	if d.Units != t.Len() || d.Statements != len(t.Stmts) || d.Trace != t.Digest() {
		return nil, wrong("it is of another trace")
	}
	if d.Seal != d.Sealed() {
		return nil, wrong("it has been changed since it was made: its seal does not fit")
	}
	if err := checkSegments(t, d.Segments); err != nil {
		return nil, err
	}
	c := &checker{t: t, before: order(t), pos: newPlaces(t.Recorded()), follow: make([]int32, t.Len()), lead: make([]int32, t.Len()), piece: make([]int32, t.Len())}
	last := make([]int32, len(t.Threads))
	for th := range last {
		last[th] = -1
	}
	for u := range int32(t.Len()) {
		c.lead[u], c.follow[u] = last[t.Of[u]], -1
		if p := last[t.Of[u]]; p >= 0 {
			c.follow[p] = u
		}
		last[t.Of[u]] = u
	}
	c.after = reverse(c.before)
	c.switches = t.Switches(t.Recorded())
	if c.switches != d.Before {
		return nil, wrong("the trace has %d context switches, not %d", c.switches, d.Before)
	}
	for i, r := range d.Rounds {
		if err := c.round(r); err != nil {
			err.Round = i + 1
			return nil, err
		}
	}
	if c.switches != d.After {
		return nil, wrong("there are %d context switches at the end, not %d", c.switches, d.After)
	}
	result := c.order()
	if n := t.Switches(result); n != c.switches {
		return nil, wrong("the steps add up to %d context switches, the order has %d", c.switches, n)
	}
	if stmt.OrderDigest(result) != d.Result {
		return nil, wrong("it leads to another order than it says")
	}
	return result, nil
}

// checkSegments replays the connectivity analysis.
func checkSegments(t *stmt.Trace, segments []int32) error {
	i := 0
	for u := range int32(t.Len()) {
		first := i < len(segments) && segments[i] == u
		if first {
			i++
		}
		if first != (u == 0 || !connected(t, u-1, u)) {
			if first {
				return wrong("a segment starts with unit %d, which is connected with the unit before it: there (tr3) holds", u)
			}
			return wrong("no segment starts with unit %d, which is not connected with the unit before it: there (tr2) holds", u)
		}
	}
	if i < len(segments) {
		return wrong("unit %d, at which a segment is said to start, does not exist", segments[i])
	}
	return nil
}

// connected is connect of Definition 2 for two adjacent units.
func connected(t *stmt.Trace, u, v int32) bool {
	if t.Of[u] == t.Of[v] {
		return true
	}
	a, b := t.Unit(u), t.Unit(v)
	for i := range a {
		for j := range b {
			if stmt.Connected(&a[i], &b[j]) {
				return true
			}
		}
	}
	// One unit may start or join the other's thread even if the other has no statements.
	return slices.ContainsFunc(a, func(s stmt.Stmt) bool { return s.Kind == stmt.Duplicate && s.Lo == t.Of[v] }) ||
		slices.ContainsFunc(b, func(s stmt.Stmt) bool { return s.Kind == stmt.Initiate && s.Lo == t.Of[u] })
}

func reverse(o *ordered) *ordered {
	n := len(o.start) - 1
	r := &ordered{start: make([]uint32, n+2), preds: make([]int32, len(o.preds))}
	for _, p := range o.preds {
		r.start[p+2]++
	}
	for i := 2; i < len(r.start); i++ {
		r.start[i] += r.start[i-1]
	}
	for u := range int32(n) {
		for _, p := range o.of(u) {
			r.preds[r.start[p+1]] = u
			r.start[p+1]++
		}
	}
	r.start = r.start[:n+1]
	return r
}

type checker struct {
	t             *stmt.Trace
	before, after *ordered
	lead, follow  []int32 // the previous and next unit of the thread, or -1
	pos           *places
	switches      int

	// For the current round:
	piece     []int32 // the TEI that each unit was in at the start
	pieces    int32
	lo, hi    int32 // range of the previous step
	hadStep   bool
	thatRound stmt.Shape
}

func (c *checker) order() []int32 {
	out := make([]int32, 0, c.t.Len())
	for u := c.pos.after(-1); u >= 0; u = c.pos.after(u) {
		out = append(out, u)
	}
	return out
}

func (c *checker) round(r stmt.Round) *CheckError {
	fail := func(step int, format string, args ...any) *CheckError {
		return &CheckError{Step: step, Msg: fmt.Sprintf(format, args...)}
	}
	c.thatRound, c.hadStep, c.pieces = r.Shape, false, 0
	prev := int32(-1)
	for u := c.pos.after(-1); u >= 0; u = c.pos.after(u) {
		if prev < 0 || c.t.Of[prev] != c.t.Of[u] {
			c.pieces++
		}
		c.piece[u] = c.pieces - 1
		prev = u
	}
	before := c.switches
	for i := range r.Steps {
		s := &r.Steps[i]
		if msg := c.stretch(s); msg != "" {
			return fail(i+1, "%s", msg)
		}
		if msg := c.step(s); msg != "" {
			return fail(i+1, "%s", msg)
		}
	}
	if c.switches > before {
		return fail(0, "it makes %d context switches of %d", c.switches, before)
	}
	return nil
}

// stretch checks that the round's shape visits the step's range of TEIs, and has not passed it yet.
func (c *checker) stretch(s *stmt.Step) string {
	if s.Lo < 0 || s.Hi > c.pieces || s.Hi-s.Lo < 2 {
		return fmt.Sprintf("no range of intervals from %d to %d of %d exists", s.Lo, s.Hi, c.pieces)
	}
	switch c.thatRound {
	case stmt.Binary:
		if s.Rule == stmt.Line {
			return "rule line in a round that is binary"
		}
		if (s.Rule == stmt.Base2) != (s.Hi-s.Lo == 2) {
			return fmt.Sprintf("rule %s on a range of %d intervals", s.Rule, s.Hi-s.Lo)
		}
		for lo, hi := int32(0), c.pieces; lo != s.Lo || hi != s.Hi; {
			if hi-lo <= 2 {
				return fmt.Sprintf("halving %d intervals does not yield the range from %d to %d", c.pieces, s.Lo, s.Hi)
			}
			if mid := middle(lo, hi); s.Hi <= mid {
				hi = mid
			} else {
				lo = mid
			}
		}
		// Both parts come before the whole range.
		if c.hadStep && (s.Hi < c.hi || s.Hi == c.hi && s.Lo > c.lo) {
			return fmt.Sprintf("the range from %d to %d comes before the one from %d to %d", s.Lo, s.Hi, c.lo, c.hi)
		}
	case stmt.Forward:
		if s.Rule != stmt.Split || s.Lo != 0 {
			return "a step of a forward round is an S on a stretch from the start"
		}
		if c.hadStep && s.Hi <= c.hi {
			return fmt.Sprintf("the range up to %d comes before the one up to %d", s.Hi, c.hi)
		}
	case stmt.Backward:
		if s.Rule != stmt.Split || s.Hi != c.pieces {
			return "a step of a backward round is an S on a stretch to the end"
		}
		if c.hadStep && s.Lo >= c.lo {
			return fmt.Sprintf("the range from %d comes before the one from %d", s.Lo, c.lo)
		}
	case stmt.Straight:
		if s.Rule != stmt.Line || s.Lo != 0 || s.Hi != c.pieces {
			return "a step of a round of lines is a line on all intervals"
		}
	}
	c.lo, c.hi, c.hadStep = s.Lo, s.Hi, true
	return ""
}

// middle returns where (S) divides a range.
func middle(lo, hi int32) int32 { return lo + (hi-lo+1)/2 }

// step checks a step and performs it.
func (c *checker) step(s *stmt.Step) string {
	n := int32(c.t.Len())
	if s.Unit < 0 || s.Unit >= n || s.Count < 1 || s.Rule == stmt.Line && (s.After < -1 || s.After >= n) {
		return fmt.Sprintf("no %d units exist from unit %d of %d", s.Count, s.Unit, n)
	}
	first, last := s.Unit, s.Unit
	for range s.Count - 1 {
		next := c.follow[last]
		if next < 0 || c.pos.after(last) != next {
			return fmt.Sprintf("unit %d is not followed by the next one of its thread", last)
		}
		last = next
	}
	var to int32 // the unit after which they are placed
	up := true
	switch {
	case s.Rule == stmt.Line:
		to = s.After
		if to >= 0 && !c.pos.less(to, first) {
			return fmt.Sprintf("unit %d is not before unit %d", to, first)
		}
		if p := c.lead[first]; p >= 0 && (to < 0 || c.pos.less(to, p)) {
			return fmt.Sprintf("unit %d would come before unit %d of its thread", first, p)
		}
	case s.Down:
		y := c.follow[last]
		if y < 0 {
			return fmt.Sprintf("unit %d is the last of its thread: no unit is left to move it down to", last)
		}
		to, up = c.pos.before(y), false
		if msg := c.inside(s, first, y); msg != "" {
			return msg
		}
	default:
		if to = c.lead[first]; to < 0 {
			return fmt.Sprintf("unit %d is the first of its thread: no unit is left to move it up to", first)
		}
		if msg := c.inside(s, to, first); msg != "" {
			return msg
		}
	}
	from := c.pos.before(first)
	if to == from || to == last {
		return fmt.Sprintf("unit %d is there already", first)
	}
	if s.Rule == stmt.Base2 {
		if msg := c.base2(s, from, to); msg != "" {
			return msg
		}
	}
	for u := first; ; u = c.follow[u] {
		if up {
			for _, p := range c.before.of(u) {
				if to < 0 || c.pos.less(to, p) {
					return fmt.Sprintf("unit %d (%s) would come before unit %d (%s), with which it is connected", u, c.t.FormatUnit(u), p, c.t.FormatUnit(p))
				}
			}
		} else {
			for _, q := range c.after.of(u) {
				if !c.pos.less(to, q) {
					return fmt.Sprintf("unit %d (%s) would come after unit %d (%s), with which it is connected", u, c.t.FormatUnit(u), q, c.t.FormatUnit(q))
				}
			}
		}
		if u == last {
			break
		}
	}
	beyond, behind := c.pos.after(last), c.pos.after(to)
	change := c.diff(from, beyond) - c.diff(from, first) - c.diff(last, beyond) +
		c.diff(to, first) + c.diff(last, behind) - c.diff(to, behind)
	if s.Rule != stmt.Line && change > 0 {
		return "it makes more context switches"
	}
	c.switches += change
	c.pos.move(first, last, to, int(s.Count))
	return ""
}

// inside checks that units x and y of one thread, which a step of (S) joins, were in the step's
// range, and, if the shape divides that range at one end, that one of them was in the TEI cut off.
func (c *checker) inside(s *stmt.Step, x, y int32) string {
	lo, hi := c.piece[x], c.piece[y]
	switch {
	case s.Rule == stmt.Base2:
		return "" // base2 refers to the TEI before its range
	case lo < s.Lo || hi >= s.Hi:
		return fmt.Sprintf("units %d and %d are not both of the intervals from %d to %d", x, y, s.Lo, s.Hi)
	case c.thatRound == stmt.Forward && hi != s.Hi-1, c.thatRound == stmt.Backward && lo != s.Lo:
		return fmt.Sprintf("units %d and %d are both of the part that was reduced before", x, y)
	}
	return ""
}

// base2 checks that the step swaps the two original TEIs of the range, and that the second belongs
// to the thread of the TEI before them.
func (c *checker) base2(s *stmt.Step, from, to int32) string {
	if s.Down {
		return "base2 moves up"
	}
	last := s.Unit
	for range s.Count - 1 {
		last = c.follow[last]
	}
	first := c.pos.after(to) // first unit of the TEI that is passed
	switch {
	case first < 0 || c.piece[first] != s.Lo || c.piece[from] != s.Lo || c.piece[s.Unit] != s.Lo+1 || c.piece[last] != s.Lo+1:
		return fmt.Sprintf("the swap is not of intervals %d and %d", s.Lo, s.Lo+1)
	case c.follow[last] >= 0 && c.pos.after(last) == c.follow[last] && c.piece[c.follow[last]] == s.Lo+1:
		return fmt.Sprintf("interval %d has more units", s.Lo+1)
	}
	for u := first; u != from; u = c.pos.after(u) {
		if c.t.Of[u] != c.t.Of[first] {
			return "what is passed is more than one interval"
		}
	}
	return ""
}

// diff is diff of Definition 1; the ends of the trace do not count as switches.
func (c *checker) diff(u, v int32) int {
	if u < 0 || v < 0 || c.t.Of[u] == c.t.Of[v] {
		return 0
	}
	return 1
}
