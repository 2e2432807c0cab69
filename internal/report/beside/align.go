package beside

import (
	"regexp"
	"slices"
	"sort"
	"strconv"

	"github.com/heddle-dev/heddle/internal/report"
	"github.com/heddle-dev/heddle/trace"
)

// side is one of the executions, without the events that have no row.
type side struct {
	Execution
	items   []int          // the events, by index into Full.Events
	cells   []*report.Cell // of items
	numbers []int          // of Full's events in Recorded, -1 for none
	at      map[int]int    // the item of an event of Full
}

// mostDetailed bounds the events of an execution of which accesses that are not scheduling points are compared, too.
const mostDetailed = 400_000

func newSide(e Execution, detailed bool) *side {
	s := &side{Execution: e, numbers: report.Contained(e.Full, e.Recorded), at: map[int]int{}}
	for _, r := range e.View.Full() {
		if r.Cell == nil || !detailed && e.Full.Events[r.Event].Detail() {
			continue
		}
		s.at[r.Event] = len(s.items)
		s.items = append(s.items, r.Event)
		s.cells = append(s.cells, r.Cell)
	}
	return s
}

func (s *side) event(item int) *trace.Event { return &s.Full.Events[s.items[item]] }

// name is the same for a thread in both executions.
func (s *side) name(th trace.ThreadID) uint64 { return s.Full.Threads[th].Name }

var (
	numbered = regexp.MustCompile(` ?#\d+`)     // blocks and channels are numbered in the order in which they came
	threads  = regexp.MustCompile(`\bT(\d+)\b`) // and so are threads
)

// neutral returns the text of a cell without numbers that depend on the order.
func (s *side) neutral(text string) string {
	return threads.ReplaceAllStringFunc(numbered.ReplaceAllString(text, ""), func(t string) string {
		if n, err := strconv.Atoi(t[1:]); err == nil && n < len(s.Full.Threads) {
			return strconv.FormatUint(s.Full.Threads[n].Name, 16)
		}
		return t
	})
}

// operation is what a thread does: two events of one thread correspond only if it is the same.
type operation struct {
	op   trace.Op
	site trace.Site
}

func (s *side) operation(item int) operation {
	e := s.event(item)
	return operation{e.Op, e.Site}
}

// align returns, for each item of a, the corresponding one of b, or -1: each thread's operations in its program order.
func align(a, b *side) []int {
	out := make([]int, len(a.items))
	for i := range out {
		out[i] = -1
	}
	mine, other := a.byThread(), b.byThread()
	for name, x := range mine {
		pair(a, b, x, other[name], out)
	}
	return out
}

func (s *side) byThread() map[uint64][]int {
	out := map[uint64][]int{}
	for i := range s.items {
		name := s.name(s.event(i).Thread)
		out[name] = append(out[name], i)
	}
	return out
}

// mostCells bounds the table by which the operations of a thread are aligned.
const mostCells = 4_000_000

// pair aligns the operations of a thread.
func pair(a, b *side, x, y []int, out []int) {
	same := func(i, j int) bool { return a.operation(x[i]) == b.operation(y[j]) }
	from := 0
	for from < len(x) && from < len(y) && same(from, from) {
		out[x[from]] = y[from]
		from++
	}
	x, y = x[from:], y[from:]
	n, m := len(x), len(y)
	if n*m > mostCells {
		occurrences(a, b, x, y, out)
		return
	}
	// longest[i][j] is the length of a longest common subsequence of x[i:] and y[j:].
	longest := make([]int32, (n+1)*(m+1))
	for i := n - 1; i >= 0; i-- {
		for j := m - 1; j >= 0; j-- {
			best := max(longest[(i+1)*(m+1)+j], longest[i*(m+1)+j+1])
			if same(i, j) {
				best = max(best, longest[(i+1)*(m+1)+j+1]+1)
			}
			longest[i*(m+1)+j] = best
		}
	}
	for i, j := 0, 0; i < n && j < m; {
		switch {
		case same(i, j) && longest[i*(m+1)+j] == longest[(i+1)*(m+1)+j+1]+1:
			out[x[i]] = y[j]
			i, j = i+1, j+1
		case longest[(i+1)*(m+1)+j] >= longest[i*(m+1)+j+1]:
			i++
		default:
			j++
		}
	}
}

// occurrences aligns operations that are too many for a table: the nth of each, as far as that keeps their order.
func occurrences(a, b *side, x, y []int, out []int) {
	at := map[operation][]int{}
	for _, j := range y {
		at[b.operation(j)] = append(at[b.operation(j)], j)
	}
	var mine, other []int
	next := map[operation]int{}
	for _, i := range x {
		op := a.operation(i)
		if n := next[op]; n < len(at[op]) {
			mine, other = append(mine, i), append(other, at[op][n])
			next[op]++
		}
	}
	for _, k := range increasing(other) {
		out[mine[k]] = other[k]
	}
}

// increasing returns the indices of a longest increasing subsequence of numbers that are all different.
func increasing(list []int) []int {
	var ends []int // of a subsequence of each length, the index of its last number
	before := make([]int, len(list))
	for i, v := range list {
		n := sort.Search(len(ends), func(k int) bool { return list[ends[k]] >= v })
		if before[i] = -1; n > 0 {
			before[i] = ends[n-1]
		}
		if n == len(ends) {
			ends = append(ends, i)
		} else {
			ends[n] = i
		}
	}
	if len(ends) == 0 {
		return nil
	}
	out := make([]int, 0, len(ends))
	for i := ends[len(ends)-1]; i >= 0; i = before[i] {
		out = append(out, i)
	}
	slices.Reverse(out)
	return out
}
