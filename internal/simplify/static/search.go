package static

import (
	"encoding/binary"
	"slices"
)

// search is the best-first search over cuts.
type search struct {
	c      *chains
	alone  [][]int32
	groups []group
	limit  int
	upper  int // pieces of a known order, -1 for none
	bound  int // lower bound at the start
	looked int

	states []state
	index  map[string]int32
	open   [][]int32 // by estimate of the whole
}

// group is a set of threads whose intervals are counted together.
type group struct {
	threads []int
	table   *table // nil for a single thread
}

type state struct {
	cut    []int32
	parent int32
	thread int32 // whose piece led here
	pieces int32
	done   bool
}

func newSearch(c *chains, l Limits, upper int) *search {
	s := &search{c: c, alone: c.alone(), limit: l.States, upper: upper, index: map[string]int32{}}
	s.group(l.Cells)
	return s
}

// group pairs threads, first those for which counting together adds most to counting each alone,
// and lets groups grow while their tables are small.
func (s *search) group(cells int) {
	c := s.c
	together := s.together(cells)
	type pair struct{ t, u, gain int }
	var pairs []pair
	for t := range c.of {
		for u := range t {
			if gain := together[t][u] - int(s.alone[t][0]+s.alone[u][0]); gain > 0 {
				pairs = append(pairs, pair{t, u, gain})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return b.gain - a.gain })
	of := make([]int, len(c.of)) // which group a thread is in
	groups := make([][]int, len(c.of))
	for t := range of {
		of[t] = t
		groups[t] = []int{t}
	}
	for _, p := range pairs {
		a, b := of[p.t], of[p.u]
		if a == b {
			continue
		}
		both := append(slices.Clone(groups[a]), groups[b]...)
		if c.cells(both, cells/4) < 0 {
			continue
		}
		for _, t := range groups[b] {
			of[t] = a
		}
		groups[a], groups[b] = both, nil
	}
	for _, g := range groups {
		switch {
		case len(g) == 1:
			s.groups = append(s.groups, group{threads: g})
		case len(g) > 1:
			slices.Sort(g)
			s.groups = append(s.groups, group{g, c.tabulate(g, c.cells(g, cells))})
		}
	}
	s.bound = max(s.estimate(make([]int32, len(c.of))), s.cover(together))
}

// estimate returns a lower bound on the intervals of what is left after a cut.
func (s *search) estimate(cut []int32) int {
	sum := 0
	for _, g := range s.groups {
		alone := 0
		for _, t := range g.threads {
			alone += int(s.alone[t][cut[t]])
		}
		if g.table != nil {
			alone = max(alone, g.table.at(cut))
		}
		sum += alone
	}
	return sum
}

func (s *search) key(cut []int32) string {
	buf := make([]byte, 0, 2*len(cut))
	for _, n := range cut {
		buf = binary.AppendUvarint(buf, uint64(n))
	}
	return string(buf)
}

// push adds a path to a cut.
func (s *search) push(cut []int32, pieces, parent, thread int32) {
	whole := int(pieces) + s.estimate(cut)
	if s.upper >= 0 && whole >= s.upper {
		return // no better than the best known
	}
	k := s.key(cut)
	i, ok := s.index[k]
	switch {
	case !ok:
		i = int32(len(s.states))
		s.index[k] = i
		s.states = append(s.states, state{cut: cut, parent: parent, thread: thread, pieces: pieces})
	case s.states[i].pieces > pieces:
		st := &s.states[i]
		st.pieces, st.parent, st.thread, st.done = pieces, parent, thread, false
	default:
		return
	}
	for len(s.open) <= whole {
		s.open = append(s.open, nil)
	}
	s.open[whole] = append(s.open[whole], i)
}

// run returns the fewest intervals, and the thread of each segment in order. If the limit stops it,
// it returns a lower bound and nil; if nothing is better than the known order, that order's
// intervals and nil.
func (s *search) run() (int, []int32) {
	goal := make([]int32, len(s.c.of))
	for t := range goal {
		goal[t] = int32(len(s.c.of[t]))
	}
	s.push(make([]int32, len(goal)), 0, -1, -1)
	for whole := 0; whole < len(s.open); whole++ {
		// The last in is furthest on.
		for len(s.open[whole]) > 0 {
			last := len(s.open[whole]) - 1
			i := s.open[whole][last]
			s.open[whole] = s.open[whole][:last]
			st := s.states[i]
			if st.done || int(st.pieces)+s.estimate(st.cut) != whole {
				continue
			}
			if slices.Equal(st.cut, goal) {
				return int(st.pieces), s.path(i)
			}
			if s.looked == s.limit {
				return whole, nil
			}
			s.c.stop.Check()
			s.looked++
			s.states[i].done = true
			for t := range s.c.of {
				// The piece that ended here continued for as long as it could.
				if int32(t) == st.thread {
					continue
				}
				if next := s.c.run(st.cut, t); next != nil {
					s.push(next, st.pieces+1, i, int32(t))
				}
			}
		}
	}
	return s.upper, nil
}

func (s *search) path(i int32) []int32 {
	var out []int32
	for s.states[i].parent >= 0 {
		st, before := s.states[i], s.states[s.states[i].parent]
		for range st.cut[st.thread] - before.cut[st.thread] {
			out = append(out, st.thread)
		}
		i = st.parent
	}
	slices.Reverse(out)
	return out
}
