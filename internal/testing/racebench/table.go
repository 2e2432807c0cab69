package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/heddle-dev/heddle/internal/wording"
)

// printTable prints the tests in which ThreadSanitizer or heddle says something else than expected, those
// that were not compared, and then the sums.
func printTable(w io.Writer, all *results) error {
	var compared, races, clean, tsan, heddle, tsanFalse, heddleFalse int
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "test\texpected\tThreadSanitizer\theddle")
	for i := range all.Rows {
		r := &all.Rows[i]
		if r.Skipped != "" {
			continue
		}
		compared++
		want, byTSan, byHeddle := r.Expected != "", found(r.TSan), found(r.Heddle)
		if want {
			races++
			tsan += count(byTSan)
			heddle += count(byHeddle)
		} else {
			clean++
			tsanFalse += count(byTSan)
			heddleFalse += count(byHeddle)
		}
		if byTSan != want || byHeddle != want {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", r.Test, or(r.Expected), or(strings.Join(r.TSan, ", ")), or(strings.Join(r.Heddle, ", ")))
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(w)
	whys := map[string]int{}
	var order []string
	for i := range all.Rows {
		if why, _, _ := strings.Cut(all.Rows[i].Skipped, ":"); why != "" {
			if whys[why]++; whys[why] == 1 {
				order = append(order, why)
			}
		}
	}
	slices.SortStableFunc(order, func(a, b string) int { return whys[b] - whys[a] })
	for _, why := range order {
		fmt.Fprintf(w, "not compared: %s: %s\n", wording.Count(whys[why], "test"), why)
	}
	fmt.Fprintf(w, "%s compared\n", wording.Count(compared, "test"))
	fmt.Fprintf(w, "race expected, and reported: by ThreadSanitizer %d of %d, by heddle %d of %d\n", tsan, races, heddle, races)
	_, err := fmt.Fprintf(w, "no race expected, but one reported: by ThreadSanitizer %d of %d, by heddle %d of %d\n", tsanFalse, clean, heddleFalse, clean)
	return err
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

func or(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
