package beside

import (
	"slices"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// chosen returns which lines are shown, in order: all if there is no limit, and otherwise those that tell most.
func (x *comparer) chosen(first *line, value *read, limit int) []int {
	if limit == 0 {
		out := make([]int, len(x.lines))
		for i := range out {
			out[i] = i
		}
		return out
	}
	c := &choice{limit: limit, of: len(x.lines)}
	// The first difference in order, with the event before it.
	if first != nil {
		earlier := x.earlier(*first)
		c.add(earlier)
		c.add(earlier - 1)
		if first.a >= 0 {
			x.addBoth(c, first.a)
		}
		if first.b >= 0 {
			c.add(x.rowOfB[first.b])
		}
	}
	about := map[string]bool{}
	for _, i := range x.caused() {
		x.addBoth(c, i)
		about[x.a.cells[i].Object] = true
	}
	if value != nil {
		about[x.a.cells[value.item].Object] = true
		x.addBoth(c, value.item)
		if value.wrote >= 0 {
			x.addBoth(c, value.wrote)
		}
		if value.there >= 0 {
			c.add(x.rowOfB[value.there])
		}
	}
	x.addStops(c)
	delete(about, "")
	for _, tells := range []func(l line) bool{
		func(l line) bool {
			return l.a >= 0 && x.to[l.a] >= 0 && x.differs(l.a, x.to[l.a]) && x.a.cells[l.a].Shared
		},
		func(l line) bool { return (l.a < 0 || l.b < 0) && x.cell(l).Shared },
		func(l line) bool { return l.a < 0 || l.b < 0 },
		func(l line) bool { return about[x.cell(l).Object] }, // what else happens to the same objects
	} {
		for n, l := range x.lines {
			if tells(l) && x.isOwn(l) && !x.repeats(l) {
				c.add(n)
			}
		}
	}
	return c.filled()
}

// isOwn reports whether a line is of the program's own code.
func (x *comparer) isOwn(l line) bool {
	switch {
	case x.own == nil:
		return true
	case l.a >= 0:
		return x.own(x.a.Full, x.a.items[l.a])
	}
	return x.own(x.b.Full, x.b.items[l.b])
}

// repeats reports whether only one execution has an item, which is an access that its thread has just made: of a map, recordings differ
// in how many it has in one operation.
func (x *comparer) repeats(l line) bool {
	s, i, paired := x.a, l.a, x.to
	if i < 0 {
		s, i, paired = x.b, l.b, x.from
	}
	if paired[i] >= 0 || !s.event(i).Op.IsAccess() {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if s.event(j).Thread == s.event(i).Thread {
			return s.event(j).Op == s.event(i).Op && s.cells[j].Text == s.cells[i].Text && s.cells[j].Place == s.cells[i].Place
		}
	}
	return false
}

func (x *comparer) cell(l line) *report.Cell {
	if l.a >= 0 {
		return x.a.cells[l.a]
	}
	return x.b.cells[l.b]
}

// addBoth adds an item of the failing execution and the corresponding one.
func (x *comparer) addBoth(c *choice, item int) {
	c.add(x.rowOfA[item])
	if j := x.to[item]; j >= 0 {
		c.add(x.rowOfB[j])
	}
}

// caused returns the items of the failing execution that the explanation speaks of.
func (x *comparer) caused() (out []int) {
	if x.because == nil {
		return nil
	}
	add := func(number int, passing bool) {
		if number < 0 || passing {
			return
		}
		if e := slices.Index(x.a.numbers, number); e >= 0 {
			if i, ok := x.a.at[e]; ok && !slices.Contains(out, i) {
				out = append(out, i)
			}
		}
	}
	for _, n := range x.because.Told {
		add(n, false)
	}
	for i := range x.because.Events {
		add(x.because.Events[i].Event, x.because.Events[i].Passing)
	}
	for i := range x.because.Steps {
		add(x.because.Steps[i].Event, x.because.Steps[i].Passing)
	}
	return out
}

// addStops adds the last events of the threads that fail or wait, and what they do in the other execution.
func (x *comparer) addStops(c *choice) {
	f := x.a.View.Failure
	if f == nil {
		return
	}
	threads := []trace.ThreadID{}
	for _, w := range x.waits(f) {
		threads = append(threads, w.Thread)
	}
	if len(threads) == 0 {
		threads = append(threads, f.Thread)
	}
	for _, th := range threads {
		if i := x.stopped(th); i >= 0 {
			x.addBoth(c, i)
		}
		if j := x.instead(th); j >= 0 {
			c.add(x.rowOfB[j])
		}
	}
}

// choice is a set of lines whose drawing has a limited length: a fold stands for the lines between two of them.
type choice struct {
	lines []int // in order
	limit int
	of    int // lines
	folds int
}

// add adds a line unless the drawing would be too long.
func (c *choice) add(line int) {
	if line < 0 || line >= c.of {
		return
	}
	at, found := slices.BinarySearch(c.lines, line)
	if found {
		return
	}
	before, after := -1, c.of
	if at > 0 {
		before = c.lines[at-1]
	}
	if at < len(c.lines) {
		after = c.lines[at]
	}
	folds := c.folds
	if len(c.lines) == 0 {
		folds = 1
	}
	if after-before > 1 {
		folds--
	}
	if line-before > 1 {
		folds++
	}
	if after-line > 1 {
		folds++
	}
	if len(c.lines)+1+folds > c.limit {
		return
	}
	c.lines, c.folds = slices.Insert(c.lines, at, line), folds
}

// filled returns the lines, and those that would be a fold of one.
func (c *choice) filled() (out []int) {
	before := -1
	for _, l := range append(c.lines, c.of) {
		if l-before == 2 {
			out = append(out, l-1)
		}
		if l < c.of {
			out = append(out, l)
		}
		before = l
	}
	return out
}

// rows draws the chosen lines, and folds for the others, which have their rows if whole is set.
func (x *comparer) rows(chosen []int, whole bool) []Row {
	out := []Row{}
	next := 0
	fold := func(until int) {
		if next >= until {
			return
		}
		f := Row{Kind: Fold, Events: until - next}
		for ; next < until; next++ {
			l := x.lines[next]
			switch {
			case l.a < 0 || l.b < 0:
			case x.differs(l.a, l.b):
				f.Values++
			default:
				f.Equal++
			}
			if whole {
				f.Rows = append(f.Rows, x.row(next))
			}
		}
		out = append(out, f)
	}
	for _, l := range chosen {
		fold(l)
		out = append(out, x.row(l))
		next = l + 1
	}
	fold(len(x.lines))
	return out
}

func (x *comparer) row(n int) Row {
	switch l := x.lines[n]; {
	case l.b < 0:
		r := Row{Kind: Failing, Failing: x.a.shown(l.a)}
		if j := x.to[l.a]; j >= 0 {
			r.There, r.Later, r.Differs = x.b.shown(j), x.rowOfB[j] > n, x.differs(l.a, j)
		}
		return r
	case l.a < 0:
		r := Row{Kind: Passing, Passing: x.b.shown(l.b), Waits: x.waiting[l.b]}
		if i := x.from[l.b]; i >= 0 {
			r.There, r.Later, r.Differs = x.a.shown(i), x.rowOfA[i] > n, x.differs(i, l.b)
		}
		return r
	default:
		r := Row{Kind: Same, Failing: x.a.shown(l.a), Passing: x.b.shown(l.b)}
		if x.differs(l.a, l.b) {
			r.Kind, r.Differs = Other, true
		}
		return r
	}
}
