package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/heddle-dev/heddle/internal/wording"
)

// printTables prints the results as tables, one for each size and one for the bugs.
func printTables(w io.Writer, all *results) error {
	fmt.Fprintf(w, "%s, %d processors, load %s at the start; %s -O1 -g\n", all.Machine.Model, all.Machine.CPUs, all.Machine.Load, all.Machine.Compiler)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, size := range all.Settings.Accesses {
		fmt.Fprintf(t, "\nAbout %s accesses. Plain, profiled and recorded: processor time as a multiple of native's and of ThreadSanitizer's, / peak memory of ThreadSanitizer's.\n", wording.Thousands(size))
		fmt.Fprintln(t, "program\tnative\tThreadSanitizer\tplain\tprofiled\trecorded\tfirst execution\texecutions/s\t")
		for _, r := range all.Rows {
			if r.Accesses != size {
				continue
			}
			fmt.Fprintf(t, "%s\t%s\t%s %s, %s\t%s\t%s\t%s\t%s\t%s\t\n", r.Program,
				seconds(r.Native.Processor), seconds(r.TSan.Processor), times(r.TSan.Processor, r.Native.Processor), megabytes(r.TSan.Peak),
				against(r.Plain, &r), against(r.Profiled, &r), against(r.Recorded, &r), seconds(r.FirstExecution), rate(r.PerSecond))
		}
		if err := t.Flush(); err != nil {
			return err
		}
		if late := lateFirst(all.Rows, size); len(late) > 0 {
			fmt.Fprintf(w, "The first execution takes longer than 5 times native and 1 s: %s.\n", strings.Join(late, ", "))
		} else {
			fmt.Fprintln(w, "Each first execution takes at most 5 times native and 1 s.")
		}
	}
	if all.Settings.Seeds == 0 {
		return nil
	}
	fmt.Fprintf(t, "\nThe bugs, with %d seeds. Times and numbers of executions are medians; a cost is context switches/preemptions.\n", all.Settings.Seeds)
	fmt.Fprintln(t, "program\tfound\tafter\texecution\tminimum\tsimplified to\tat the minimum\tcomplete\tsimplified by\tthe paper by\tafterwards\tin\t")
	for _, r := range all.Rows {
		f := r.Search
		if f == nil {
			continue
		}
		to := fmt.Sprintf("%d/%d", f.Best[0], f.Best[1])
		if f.Worst != f.Best {
			to += fmt.Sprintf(" to %d/%d", f.Worst[0], f.Worst[1])
		}
		n := fmt.Sprintf("%d of %d", f.Found, f.Seeds)
		if f.Other > 0 {
			n += fmt.Sprintf(", and %d others", f.Other)
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%d\t%d/%d\t%s\t%d\t%d\t%d executions\t%d\t%d\t%s\t\n", r.Program, n, seconds(f.Seconds), f.Execution,
			f.Minimum[0], f.Minimum[1], to, f.AtMinimum, f.Complete, f.ToResult, f.Paper, f.Afterwards, seconds(f.Simplifying))
	}
	return t.Flush()
}

// lateFirst returns the programs whose first execution at this size missed the aim of 5 times
// native's time and 1 s.
func lateFirst(rows []row, size int) (late []string) {
	for _, r := range rows {
		if r.Accesses == size && !r.firstInTime() {
			late = append(late, r.Program)
		}
	}
	return late
}

// against prints a cost as multiples of native's and of ThreadSanitizer's: "4.0× 0.31×/1.2×".
func against(c cost, r *row) string {
	if c.Executions == 0 {
		return "none"
	}
	return times(c.Processor, r.Native.Processor) + " " + times(c.Processor, r.TSan.Processor) + "/" + times(float64(c.Peak), float64(r.TSan.Peak))
}

func times(a, b float64) string {
	switch x := a / b; {
	case b == 0:
		return "–"
	case x < 0.1:
		return fmt.Sprintf("%.3f×", x)
	case x < 10:
		return fmt.Sprintf("%.2f×", x)
	default:
		return fmt.Sprintf("%.0f×", x)
	}
}

func seconds(s float64) string {
	switch {
	case s == 0:
		return "none"
	case s < 0.001:
		return fmt.Sprintf("%.3f ms", 1000*s)
	case s < 1:
		return fmt.Sprintf("%.3g ms", 1000*s)
	default:
		return fmt.Sprintf("%.1f s", s)
	}
}

func rate(perSecond float64) string {
	if perSecond >= 100 {
		return wording.Thousands(int(perSecond))
	}
	return fmt.Sprintf("%.2g", perSecond)
}

func megabytes(bytes int64) string { return fmt.Sprintf("%d MB", bytes>>20) }
