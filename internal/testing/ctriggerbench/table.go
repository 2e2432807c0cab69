package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/bench"
	"github.com/heddle-dev/heddle/internal/wording"
)

// printTables prints the tables in the paper's order.
func printTables(w io.Writer, all *results) error {
	s := &all.Settings
	m := &all.Machine
	fmt.Fprintf(w, "%s, %s, %s, load %s; %d steps of work, limit %v\n", wording.Count(m.CPUs, "core"), m.Model, m.Compiler, m.Load, s.Work, s.Limit)
	for _, print := range []func(*tabwriter.Writer, *results){expose, breakdown, reproduce, pruning, ranking, coverage, slowdowns} {
		fmt.Fprintln(w)
		t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		print(t, all)
		if err := t.Flush(); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	aims(w, all)
	fmt.Fprintf(w, "measured in %.0f s\n", all.Seconds)
	return nil
}

// expose is Table 4.
func expose(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Seconds until a bug is exposed (Table 4). -: not within the limit. Stress and hooks: the mean over all executions; CTrigger: the median of the searches, of which n/m exposed it.")
	header(w, methods...)
	for i := range all.Rows {
		r := &all.Rows[i]
		fmt.Fprint(w, r.Program, "\t")
		for j := range r.Exposures {
			x := &r.Exposures[j]
			if x.Exposed == 0 {
				fmt.Fprint(w, "-\t")
				continue
			}
			fmt.Fprint(w, seconds(x.until()))
			if x.Exposed < x.Searches {
				fmt.Fprintf(w, " (%d/%d)", x.Exposed, x.Searches)
			}
			fmt.Fprint(w, "\t")
		}
		fmt.Fprintln(w)
	}
}

// until returns the seconds until the failure, the median of the searches. A method that searches once
// and controls nothing has a rate, so it is the mean over all executions.
func (x *exposure) until() float64 {
	if x.Method == methodStress || x.Method == methodHooks {
		return (x.Seconds[0] + x.Again.Seconds) / float64(x.Exposed+x.Again.Failures)
	}
	return bench.Median(append([]float64(nil), x.Seconds...))
}

// breakdown is Table 5.
func breakdown(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Seconds of profiling, analysis and testing until the bug (Table 5).")
	header(w, "live: profiling", "analysis", "testing", "controlled: profiling", "analysis", "testing")
	for i := range all.Rows {
		r := &all.Rows[i]
		fmt.Fprint(w, r.Program, "\t")
		for _, s := range []*search{&r.Live, &r.Controlled} {
			fmt.Fprintf(w, "%s\t%s\t%s\t", seconds(s.Profiling), seconds(s.Analysis), seconds(s.Testing))
		}
		fmt.Fprintln(w)
	}
}

// reproduce is Table 6.
func reproduce(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Seconds until a bug that was exposed is exposed again, on average, and executions that failed (Table 6). -: never exposed; no: not again; no control: exposed by a recording.")
	header(w, methods...)
	for i := range all.Rows {
		r := &all.Rows[i]
		fmt.Fprint(w, r.Program, "\t")
		for j := range r.Exposures {
			x := &r.Exposures[j]
			switch {
			case x.Exposed == 0:
				fmt.Fprint(w, "-\t")
			case x.Again.Executions == 0:
				fmt.Fprint(w, "no control\t")
			case x.Again.Failures == 0:
				fmt.Fprintf(w, "no (0/%d)\t", x.Again.Executions)
			default:
				fmt.Fprintf(w, "%s (%d/%d)\t", seconds(x.Again.each()), x.Again.Failures, x.Again.Executions)
			}
		}
		fmt.Fprintln(w)
	}
}

// pruning is Table 7.
func pruning(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Pruning (Table 7): instructions that access memory of several threads; potential and feasible unserializable interleavings, and instructions that are c in one.")
	header(w, "live: instructions", "potential", "feasible", "pruned", "c", "feasible c", "controlled: instructions", "potential", "feasible", "pruned", "c", "feasible c")
	for i := range all.Rows {
		r := &all.Rows[i]
		fmt.Fprint(w, r.Program, "\t")
		for _, s := range []*search{&r.Live, &r.Controlled} {
			fmt.Fprintf(w, "%d\t%d\t%d\t%.0f %%\t%d\t%d\t", s.Instructions, s.Potential, s.Feasible, s.pruned(), s.Currents, s.FeasibleCurrents)
		}
		fmt.Fprintln(w)
	}
}

// ranking is §6.6.
func ranking(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Ranking (Figure 10): the first interleaving with a bug by rank and as first come, and executions and seconds of testing until the bug in both orders.")
	header(w, "live: rank", "first come", "executions", "seconds", "speed-up", "controlled: rank", "first come", "executions", "seconds", "speed-up")
	for i := range all.Rows {
		r := &all.Rows[i]
		fmt.Fprint(w, r.Program, "\t")
		for _, s := range []*search{&r.Live, &r.Controlled} {
			if s.Rank == 0 {
				fmt.Fprintf(w, "- of %d\t-\t-\t-\t-\t", s.Targets)
				continue
			}
			fmt.Fprintf(w, "%d of %d\t%d\t%s/%s\t%s/%s\t%s\t", s.Rank, s.Targets, s.FirstCome,
				s.Ranked.executions(), s.Unranked.executions(), s.Ranked.seconds(), s.Unranked.seconds(), speedUp(s))
		}
		fmt.Fprintln(w)
	}
}

func (t *phaseTwo) executions() string {
	if !t.Exposed {
		return "-"
	}
	return fmt.Sprint(t.Executions)
}

func (t *phaseTwo) seconds() string {
	if !t.Exposed {
		return "-"
	}
	return seconds(t.Seconds)
}

// speedUp returns how many times sooner ranking leads to the bug.
func speedUp(s *search) string {
	switch {
	case !s.Ranked.Exposed || s.Ranked.Seconds == 0:
		return "-"
	case !s.Unranked.Exposed:
		return fmt.Sprintf("> %.1f", s.Unranked.Seconds/s.Ranked.Seconds)
	}
	return fmt.Sprintf("%.1f", s.Unranked.Seconds/s.Ranked.Seconds)
}

// coverage is Figures 4, 5 and 9.
func coverage(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Coverage (Figures 4, 5, 9): interleavings that each recording exercises for the first time, their sum, and those exercised by forcing alone. +: the time limit ended forcing.")
	header(w, "live: recordings", "sum", "forced", "bugs", "controlled: recordings", "sum", "forced", "bugs")
	for i := range all.Rows {
		r := &all.Rows[i]
		fmt.Fprint(w, r.Program, "\t")
		for _, s := range []*search{&r.Live, &r.Controlled} {
			more := "+"
			if s.Whole {
				more = ""
			}
			sum := 0
			for _, n := range s.Recordings {
				sum += n
			}
			fmt.Fprintf(w, "%s\t%d\t%d%s\t%d%s\t", fresh(s.Recordings), sum, s.Forced, more, s.Bugs, more)
		}
		fmt.Fprintln(w)
	}
}

// fresh lists the numbers up to the last that is not 0, and says how many 0 follow.
func fresh(n []int) string {
	last := len(n)
	for last > 0 && n[last-1] == 0 {
		last--
	}
	out := ""
	for _, x := range n[:last] {
		out += fmt.Sprint(x, " ")
	}
	return out + fmt.Sprintf("0×%d", len(n)-last)
}

// slowdowns are the costs of the backend live.
func slowdowns(w *tabwriter.Writer, all *results) {
	fmt.Fprintln(w, "Slow-down of the backend live against a build without hooks: time, and processor time in brackets. suspending: an execution of phase two, on average.")
	header(w, "native s", "no targets", "all hooks", "profile", "force", "suspending")
	for i := range all.Rows {
		r := &all.Rows[i]
		s := &r.Slowdown
		fmt.Fprintf(w, "%s\t%s\t", r.Program, seconds(s.Native.Seconds))
		for _, c := range []*cost{&s.Plain, &s.Hooks, &s.Profile, &s.Force} {
			if c.Seconds == 0 || s.Native.Seconds == 0 || s.Native.CPU == 0 {
				fmt.Fprint(w, "-\t")
				continue
			}
			fmt.Fprintf(w, "%.2f (%.2f)\t", c.Seconds/s.Native.Seconds, c.CPU/s.Native.CPU)
		}
		if r.Live.Forcing == 0 || s.Native.Seconds == 0 {
			fmt.Fprintln(w, "-\t")
			continue
		}
		fmt.Fprintf(w, "%.1f\t\n", r.Live.Forcing/s.Native.Seconds)
	}
}

// aims says on how many programs the aims are reached: exposed 1,000 times sooner than by stress, where
// that exposes at all; reproduced within a second; 37 to 96 % pruned, the bug among the first 10 %.
func aims(w io.Writer, all *results) {
	for _, b := range []struct {
		name   string
		search func(*row) *search
	}{{methodLive, func(r *row) *search { return &r.Live }}, {methodControlled, func(r *row) *search { return &r.Controlled }}} {
		var exposed, stressed, sooner, reproduced, pruned, top, below int
		for i := range all.Rows {
			r := &all.Rows[i]
			s, x, stress := b.search(r), r.exposure(b.name), r.exposure(methodStress)
			if x.Exposed == x.Searches {
				exposed++
			}
			if stress.Exposed > 0 {
				stressed++
				if x.Exposed > 0 && stress.until() >= 1000*x.until() {
					sooner++
				}
			}
			if x.Again.Failures > 0 && x.Again.each() <= 1 {
				reproduced++
			}
			if p := s.pruned(); p >= 37 && p <= 96 {
				pruned++
			}
			if s.Rank > 0 && 10*(s.Rank-1) < s.Targets {
				top++
			}
			if n := r.Slowdown.Native.Seconds; n > 0 && r.Slowdown.Plain.Seconds < 2*n {
				below++
			}
		}
		n := len(all.Rows)
		fmt.Fprintf(w, "%s: exposes %d of %s with every seed; at least 1,000 times sooner than stress %d of the %d that stress exposes; reproduces %d within 1 s; prunes 37 to 96 %% in %d; ranks the bug within the first 10 %% in %d",
			b.name, exposed, wording.Count(n, "program"), sooner, stressed, reproduced, pruned, top)
		if b.name == methodLive {
			fmt.Fprintf(w, "; takes less than twice as long without targets in %d", below)
		}
		fmt.Fprintln(w)
	}
}

// exposure returns what was measured with a method.
func (r *row) exposure(method string) *exposure {
	for i := range r.Exposures {
		if r.Exposures[i].Method == method {
			return &r.Exposures[i]
		}
	}
	return &exposure{}
}

func header(w io.Writer, columns ...string) {
	fmt.Fprint(w, "program\t")
	for _, c := range columns {
		fmt.Fprint(w, c, "\t")
	}
	fmt.Fprintln(w)
}

// seconds prints a time with two digits that matter.
func seconds(s float64) string {
	switch d := time.Duration(s * float64(time.Second)); {
	case d >= 10*time.Second:
		return fmt.Sprintf("%.0f", s)
	case d >= time.Second:
		return fmt.Sprintf("%.1f", s)
	case d >= 100*time.Millisecond:
		return fmt.Sprintf("%.2f", s)
	}
	return fmt.Sprintf("%.3f", s)
}
