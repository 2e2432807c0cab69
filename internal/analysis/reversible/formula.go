package reversible

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Formula returns an SMT-LIB 2 script that is satisfiable if and only if some feasible reordering ends
// with the pair's second event and does not contain its first. The integer xN is the place of event N, which is
// in the reordering if that is before the second event's place.
func (m *model) formula(c candidate) string {
	var b strings.Builder
	j := c.second
	b.WriteString("(set-logic QF_LIA)\n(set-option :produce-models true)\n")
	for e := range m.g.Len() {
		fmt.Fprintf(&b, "(declare-const x%d Int)\n", e)
	}
	in := func(e int32) string { return fmt.Sprintf("(< x%d x%d)", e, j) }
	for _, events := range m.of {
		for k := 1; k < len(events); k++ {
			fmt.Fprintf(&b, "(assert (< x%d x%d))\n", events[k-1], events[k])
		}
	}
	for e := range int32(m.g.Len()) {
		kinds := m.g.Kinds(e)
		for i, p := range m.g.Preds(e) {
			switch {
			case e != j:
				fmt.Fprintf(&b, "(assert (=> %s (< x%d x%d)))\n", in(e), p, e)
			case isNecessary(kinds[i]):
				fmt.Fprintf(&b, "(assert %s)\n", in(p))
			}
		}
	}
	fmt.Fprintf(&b, "(assert (> x%d x%d))\n", c.first, j)
	m.exclude(&b, in, j)
	for id := range m.sems {
		m.counts(&b, in, id, j)
	}
	b.WriteString("(check-sat)\n")
	for e := range m.g.Len() {
		if int32(e) != j {
			fmt.Fprintf(&b, "(get-value (x%d))\n", e)
		}
	}
	fmt.Fprintf(&b, "(get-value (x%d))\n", j)
	return b.String()
}

// section is a critical section; to is -1 if it does not end in the trace.
type section struct {
	from, to int32
	shared   bool
}

// exclude adds that critical sections exclude one another.
func (m *model) exclude(b *strings.Builder, in func(int32) string, j int32) {
	sections := make([][]section, m.locks)
	type hold struct{ thread, lock int32 }
	open := map[hold]section{}
	for e, v := range m.moves {
		k := hold{m.g.Thread[e], v.object}
		switch v.kind {
		case lock, lockShared:
			open[k] = section{int32(e), -1, v.kind == lockShared}
		case unlock, unlockShared:
			s := open[k]
			delete(open, k)
			s.to = int32(e)
			sections[v.object] = append(sections[v.object], s)
		}
	}
	for k, s := range open {
		sections[k.lock] = append(sections[k.lock], s)
	}
	before := func(s, o section) string {
		if s.to < 0 {
			return "false"
		}
		return fmt.Sprintf("(< x%d x%d)", s.to, o.from)
	}
	for _, list := range sections {
		slices.SortFunc(list, func(a, b section) int { return cmp.Compare(a.from, b.from) })
		for i, s := range list {
			for _, o := range list[:i] {
				if m.g.Thread[s.from] == m.g.Thread[o.from] || s.shared && o.shared {
					continue
				}
				switch {
				case s.from == j || o.from == j:
					if m.moves[j].shows {
						continue
					}
					other := o
					if o.from == j {
						other = s
					}
					if other.to < 0 {
						fmt.Fprintf(b, "(assert (not %s))\n", in(other.from))
					} else {
						fmt.Fprintf(b, "(assert (=> %s %s))\n", in(other.from), in(other.to))
					}
				default:
					fmt.Fprintf(b, "(assert (=> (and %s %s) (or %s %s)))\n", in(s.from), in(o.from), before(s, o), before(o, s))
				}
			}
		}
	}
}

// counts adds that a semaphore's count stays positive: before each down there are enough ups.
func (m *model) counts(b *strings.Builder, in func(int32) string, id int, j int32) {
	s := &m.sems[id]
	for _, d := range s.downs {
		if d == j && m.moves[d].shows {
			continue
		}
		// Places may be equal otherwise, and equal downs would not count one another.
		for _, o := range s.downs {
			if o < d {
				fmt.Fprintf(b, "(assert (distinct x%d x%d))\n", o, d)
			}
		}
		sum := func(events []int32) string {
			var terms strings.Builder
			for _, e := range events {
				if e != d {
					fmt.Fprintf(&terms, " (ite (< x%d x%d) 1 0)", e, d)
				}
			}
			return fmt.Sprintf("(+ 0 0%s)", terms.String())
		}
		can := fmt.Sprintf("(> (+ %d %s) %s)", s.initial, sum(s.ups), sum(s.downs))
		if d != j {
			can = fmt.Sprintf("(=> %s %s)", in(d), can)
		}
		fmt.Fprintf(b, "(assert %s)\n", can)
	}
}

// solve gives the pair's formula to a solver.
func (m *model) solve(ctx context.Context, c candidate, solver func(context.Context, string) (string, error)) (Verdict, []int32, error) {
	answer, err := solver(ctx, m.formula(c))
	if err != nil {
		return Unknown, nil, err
	}
	first, rest, _ := strings.Cut(strings.TrimSpace(answer), "\n")
	switch strings.TrimSpace(first) {
	case "unsat":
		return Impossible, nil, nil
	case "unknown", "timeout":
		return Unknown, nil, nil
	case "sat":
	default:
		return Unknown, nil, fmt.Errorf("it answered %.80q", first)
	}
	place, err := values(rest, m.g.Len())
	if err != nil {
		return Unknown, nil, err
	}
	var order []int32
	for e := range int32(m.g.Len()) {
		if place[e] < place[c.second] {
			order = append(order, e)
		}
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(place[a], place[b]) })
	order = append(order, c.second)
	if !m.feasible(c, order) {
		return Unknown, nil, errors.New("its model is not a feasible reordering")
	}
	return Possible, order, nil
}

// values reads the answers to get-value: ((x3 17)) or ((x3 (- 17))).
func values(text string, n int) ([]int, error) {
	out := make([]int, n)
	seen := 0
	words := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("() \t\r\n", r) })
	for i := 0; i < len(words); i++ {
		e, err := strconv.Atoi(strings.TrimPrefix(words[i], "x"))
		if err != nil || e < 0 || e >= n || words[i][0] != 'x' || i+1 >= len(words) {
			return nil, fmt.Errorf("it gave %.40q in place of a value", words[i])
		}
		i++
		sign := 1
		if words[i] == "-" && i+1 < len(words) {
			sign = -1
			i++
		}
		v, err := strconv.Atoi(words[i])
		if err != nil {
			return nil, fmt.Errorf("it gave the value %.40q", words[i])
		}
		out[e] = sign * v
		seen++
	}
	if seen < n {
		return nil, fmt.Errorf("it gave %d of %d values", seen, n)
	}
	return out, nil
}

// feasible checks a reordering of a pair step by step.
func (m *model) feasible(c candidate, order []int32) bool {
	budget := len(order) + 1
	s := newSearch(m, &budget)
	s.first, s.second, s.goal = c.first, c.second, m.needs(c.second)
	for _, e := range order[:len(order)-1] {
		if s.next(int(m.g.Thread[e])) != e || !s.can(e) {
			return false
		}
		s.do(e)
	}
	return s.done()
}
