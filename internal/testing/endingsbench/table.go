package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// line sums up the programs of one kind.
type line struct {
	programs, right, executions int
	kinds                       map[string]int
}

// printTable prints a line for each kind of program, totals, and each exception with its source.
func printTable(out io.Writer, rows []row) error {
	lines := map[string]*line{}
	totals := map[bool]*line{false: {}, true: {}}
	for _, r := range rows {
		bug := r.Bug
		if bug == "" {
			bug = "correct"
		}
		key := r.Family + "\t" + bug
		l := lines[key]
		if l == nil {
			l = &line{kinds: map[string]int{}}
			lines[key] = l
		}
		for _, sum := range []*line{l, totals[r.Bug != ""]} {
			sum.programs++
			sum.executions += r.Executions
			if r.Verdict == right {
				sum.right++
			}
		}
		if r.Kind != "" {
			l.kinds[r.Kind]++
		}
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "family\tbug\tprograms\tright\texecutions\tfindings")
	for _, key := range slices.Sorted(maps.Keys(lines)) {
		l := lines[key]
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(l.kinds)) {
			kinds = append(kinds, fmt.Sprintf("%d %s", l.kinds[k], k))
		}
		fmt.Fprintf(w, "%s\t%d\t%d\t%d\t%s\n", key, l.programs, l.right, l.executions, strings.Join(kinds, ", "))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	byVerdict := map[string]int{}
	for _, r := range rows {
		byVerdict[r.Verdict]++
	}
	if c := totals[false]; c.programs > 0 {
		fmt.Fprintf(out, "\ncorrect programs: %d, of which %d clean, %d with a finding, %d undecided, %d fail without heddle; %d executions\n",
			c.programs, c.right, byVerdict[falseFinding], byVerdict[undecided], byVerdict[notNative], c.executions)
	}
	if b := totals[true]; b.programs > 0 {
		fmt.Fprintf(out, "programs with a bug: %d, of which %d found (%.1f %%), %d missed, %d with another finding; %d executions\n",
			b.programs, b.right, 100*float64(b.right)/float64(b.programs), byVerdict[missed], byVerdict[otherKind], b.executions)
	}
	for _, r := range rows {
		if r.Verdict != right {
			fmt.Fprintf(out, "\n%s: program %d, %s, %s: %s, %s, %d executions; %s %s %s\n%s", r.Verdict, r.Number, r.Program, r.Compiler,
				r.Outcome, r.Ended, r.Executions, r.Kind, r.Message, r.Where, r.Source)
		}
	}
	return nil
}
