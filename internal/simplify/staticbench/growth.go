package staticbench

import (
	"context"
	"fmt"
	"io"
	"iter"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"text/tabwriter"
	"time"

	"github.com/heddle-dev/heddle/internal/analysis/depend"
	"github.com/heddle-dev/heddle/internal/simplify/bintrcred"
	"github.com/heddle-dev/heddle/internal/simplify/static"
	"github.com/heddle-dev/heddle/internal/simplify/stmt"
	"github.com/heddle-dev/heddle/trace"
)

// Source generates a trace of about that many events and threads, the same each time. Its events
// are never all in memory.
type Source func(events, threads int) iter.Seq[*trace.Event]

// Cost is the time and memory of a stage. It excludes generating the events, which stages do while
// they iterate over them: Growth measures that separately and subtracts it.
type Cost struct {
	Time time.Duration `json:"nanoseconds"`
	Peak uint64        `json:"peakBytes"` // of the heap, above its size before
}

// GrowthRow is the cost of one trace.
type GrowthRow struct {
	Events   int `json:"events"`
	Threads  int `json:"threads"`
	Switches int `json:"switches"`
	Edges    int `json:"edges"`

	Graph     Cost `json:"graph"`
	SimTrace  Cost `json:"simtrace"`        // without the graph
	BackForth Cost `json:"backwardForward"` // without the graph
	BinTrcRed Cost `json:"bintrcred"`       // all: reading as statements, six phases
	After     [3]int
}

// Growth measures traces of each length with each number of threads.
func Growth(events, threads []int, source Source, each func(GrowthRow)) error {
	for _, n := range events {
		for _, th := range threads {
			row, err := grow(source(n, th), th)
			if err != nil {
				return fmt.Errorf("%d events, %d threads: %w", n, th, err)
			}
			each(row)
		}
	}
	return nil
}

func grow(events iter.Seq[*trace.Event], threads int) (GrowthRow, error) {
	row := GrowthRow{Threads: threads}
	// Generating the events is subtracted: the minimum of several tries, since an interruption of one
	// would be subtracted as well.
	making := time.Duration(math.MaxInt64)
	for range 3 {
		row.Events = 0
		began := time.Now()
		for range events {
			row.Events++
		}
		making = min(making, time.Since(began))
	}
	var g *depend.Graph
	row.Graph = cost(func() { g = depend.BuildSeq(events, row.Events) })
	row.Graph.Time = max(0, row.Graph.Time-making)
	row.Switches, row.Edges = static.Switches(g, static.Recorded(g)), g.Edges()
	var order []int32
	row.SimTrace = cost(func() { order = static.SimTrace(g) })
	row.After[0] = static.Switches(g, order)
	row.BackForth = cost(func() { order = static.BackwardForward(g) })
	row.After[1] = static.Switches(g, order)
	g, order = nil, nil
	var err error
	row.BinTrcRed = cost(func() {
		var res *bintrcred.Result
		if res, err = bintrcred.Run(context.Background(), stmt.FromSeq(events)); err == nil {
			row.After[2] = res.After
		}
	})
	row.BinTrcRed.Time = max(0, row.BinTrcRed.Time-2*making)
	return row, err
}

// cost measures a function. The peak is sampled.
func cost(f func()) Cost {
	debug.FreeOSMemory()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var peak atomic.Uint64
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			peak.Store(max(peak.Load(), m.HeapInuse))
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}()
	start := time.Now()
	f()
	took := time.Since(start)
	var after runtime.MemStats
	runtime.ReadMemStats(&after)
	close(stop)
	<-stopped
	top := max(peak.Load(), after.HeapInuse)
	return Cost{took, top - min(top, before.HeapInuse)}
}

// PrintGrowth prints rows: nanoseconds and bytes for each event.
func PrintGrowth(w io.Writer, rows []GrowthRow) error {
	out := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(out, "events\tthreads\tswitches\tgraph\t\tSimTrace\t\tback-forth\t\tBinTrcRed\t\tpeak\tSimTrace\tback-forth\tBinTrcRed\t")
	fmt.Fprintln(out, "\t\t\tns\tB\tns\tB\tns\tB\tns\tB\tMiB\tswitches\tswitches\tswitches\t")
	for _, r := range rows {
		fmt.Fprintf(out, "%d\t%d\t%d", r.Events, r.Threads, r.Switches)
		top := uint64(0)
		for _, c := range []Cost{r.Graph, r.SimTrace, r.BackForth, r.BinTrcRed} {
			fmt.Fprintf(out, "\t%d\t%d", c.Time.Nanoseconds()/int64(max(1, r.Events)), c.Peak/uint64(max(1, r.Events)))
			top = max(top, c.Peak)
		}
		fmt.Fprintf(out, "\t%d\t%d\t%d\t%d\t\n", top>>20, r.After[0], r.After[1], r.After[2])
	}
	return out.Flush()
}
