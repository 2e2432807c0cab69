package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/heddle-dev/heddle/internal/testing/bench"
	"github.com/heddle-dev/heddle/internal/wording"
)

// most is how many times as many executions as the best strategy the default search may need.
const most = 3

// printTables prints, for each program, the median and the worst number of executions and seconds of each
// strategy, and then how the default search compares with the best of the others.
func printTables(w io.Writer, all *results) error {
	n := len(all.Settings.Strategies)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "Executions and seconds until the bug, %s: median/worst. + marks what a search that found nothing made.\n", wording.Count(all.Settings.Seeds, "seed"))
	fmt.Fprint(t, "program\t")
	for _, s := range all.Settings.Strategies {
		fmt.Fprint(t, s, "\t")
	}
	fmt.Fprintln(t)
	for i := 0; i < len(all.Rows); i += n {
		fmt.Fprint(t, all.Rows[i].Program, "\t")
		for _, r := range all.Rows[i : i+n] {
			fmt.Fprint(t, cell(&r), "\t")
		}
		fmt.Fprintln(t)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	c := compare(all)
	for _, s := range c.Missed {
		fmt.Fprintln(w, "missed:", s)
	}
	for _, s := range c.Slow {
		fmt.Fprintf(w, "more than %d times the executions of the best strategy: %s\n", most, s)
	}
	if c.Compared > 0 {
		fmt.Fprintf(w, "the default search needs at most %d times the executions of the best single strategy, in the median, on %d of %s\n", most, c.Compared-len(c.Slow), wording.Count(c.Compared, "program"))
	}
	for i, s := range all.Settings.Strategies {
		fmt.Fprintf(w, "%s: found in %d of %s; median of the programs' medians: %s, %.3f s\n", s, c.Found[i], wording.Count(c.Searches, "search"), wording.Count(c.Median[i], "execution"), c.Seconds[i])
	}
	return nil
}

func cell(r *row) string {
	m, last := len(r.Executions)/2, len(r.Executions)-1
	mark := func(i int) string {
		if r.Found <= i {
			return "+"
		}
		return ""
	}
	return fmt.Sprintf("%d%s/%d%s %.3f/%.3f s", r.Executions[m], mark(m), r.Executions[last], mark(last), r.Seconds[m], r.Seconds[last])
}

// comparison is the default search against the best of the other strategies.
type comparison struct {
	Compared int      // programs that the default search and another strategy were measured with
	Slow     []string // those that it needs too many executions for
	Missed   []string // those that it does not find with each seed
	Searches int      // of each strategy
	Found    []int    // by strategy: searches that found the bug
	Median   []int    // by strategy: the median of the programs' medians
	Seconds  []float64
}

func compare(all *results) (c comparison) {
	n := len(all.Settings.Strategies)
	c.Found, c.Median, c.Seconds = make([]int, n), make([]int, n), make([]float64, n)
	executions, seconds := make([][]int, n), make([][]float64, n)
	for i := 0; i < len(all.Rows); i += n {
		var mine, best *row
		for k := range n {
			r := &all.Rows[i+k]
			c.Found[k] += r.Found
			m := len(r.Executions) / 2
			executions[k], seconds[k] = append(executions[k], r.Executions[m]), append(seconds[k], r.Seconds[m])
			switch {
			case r.Strategy == "default":
				mine = r
			case r.Found <= m:
			case best == nil || r.Executions[m] < best.Executions[len(best.Executions)/2]:
				best = r
			}
		}
		c.Searches += all.Rows[i].Seeds
		if mine == nil {
			continue
		}
		m := len(mine.Executions) / 2
		if mine.Found < mine.Seeds {
			c.Missed = append(c.Missed, fmt.Sprintf("%s, in %d of %d searches", mine.Program, mine.Seeds-mine.Found, mine.Seeds))
		}
		if best == nil {
			continue
		}
		c.Compared++
		if b := best.Executions[len(best.Executions)/2]; mine.Executions[m] > most*b {
			c.Slow = append(c.Slow, fmt.Sprintf("%s, %d, against %d by %s", mine.Program, mine.Executions[m], b, best.Strategy))
		}
	}
	for k := range n {
		c.Median[k], c.Seconds[k] = bench.Median(executions[k]), bench.Median(seconds[k])
	}
	return c
}
