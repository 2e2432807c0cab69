package cprog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
	"reflect"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

func TestSweep(t *testing.T) {
	ctx := context.Background()
	progs, _ := filepath.Glob(os.Getenv("SWEEP"))
	for _, prog := range progs {
		tg, err := Start(ctx, Config{Path: prog, Args: []string{prog}, Runtime: "/tmp/rt/libheddle.so"})
		if err != nil {
			fmt.Println(prog, "START:", err)
			continue
		}
		o, err := tg.Run(ctx, schedule.Plan{Record: true, Accesses: true})
		if err != nil {
			fmt.Println(prog, "ERR", err)
			tg.Close()
			continue
		}
		// every access by a non-stack object by two threads is a point
		type acc struct{ th map[trace.ThreadID]bool; sites map[trace.Site]bool; w bool }
		objs := map[trace.Object]*acc{}
		for _, e := range o.Trace.Events {
			if e.Op.IsAccess() {
				a := objs[e.Object]
				if a == nil { a = &acc{map[trace.ThreadID]bool{}, map[trace.Site]bool{}, false}; objs[e.Object] = a }
				a.th[e.Thread] = true; a.sites[e.Site] = true
				if e.Op.Class() == trace.ClassWrite { a.w = true }
			}
		}
		pts := map[trace.Site]bool{}
		for _, a := range objs { if len(a.th) > 1 && a.w { for s := range a.sites { pts[s] = true } } }
		var points []trace.Site
		for s := range pts { points = append(points, s) }
		n := 0
		start := time.Now()
		kinds := map[string]int{}
		first := map[string]int{}
		var found *schedule.Plan
		i := 0
		pol := []schedule.Policy{schedule.Random, schedule.PCT, schedule.POS, schedule.Fair}
		err = tg.Stream(ctx, func() (schedule.Plan, bool) {
			i++
			return schedule.Plan{Policy: pol[i%4], Depth: 3, Length: o.Points*2, Seed: uint64(i * 1000), Repeat: 100, Points: points}, i < 80
		}, func(p schedule.Plan, o schedule.Outcome) bool {
			n++
			k := o.Ending.Kind.String()+" "+o.Ending.Message
			kinds[k]++
			if _, ok := first[k]; !ok { first[k] = n; if o.Ending.Kind.Failed() && found == nil { q := p; q.Seed += uint64(o.Index); q.Repeat = 1; found = &q } }
			return true
		})
		d := time.Since(start)
		fmt.Printf("%-40s %-30s %d pts %d %.0f/s %v first %v %v\n", filepath.Base(filepath.Dir(prog))+"/"+filepath.Base(prog), o.Ending.Kind.String()+" "+o.Ending.Message, len(points), n, float64(n)/d.Seconds(), kinds, first, err)
		if found != nil {
			found.Record = true
			r1, err := tg.Run(ctx, *found)
			if err != nil { fmt.Println("   record:", err); continue }
			p2 := schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(r1.Trace), Threads: r1.Trace.Threads, Points: points, Record: true, Seed: 99}
			if r1.Ending.Kind == trace.Hang { p2.MaxSteps = len(p2.Script) }
			r2, err := tg.Run(ctx, p2)
			if err != nil { fmt.Println("   replay:", err); continue }
			same := reflect.DeepEqual(r1.Trace.Events, r2.Trace.Events) && reflect.DeepEqual(r1.Ending, r2.Ending)
			fmt.Printf("     %s thread %d events %d switches %d stack %d waiters %d cycle %v out %q | replay same %v", r1.Ending.Kind, r1.Ending.Thread, len(r1.Trace.Events), r1.Switches, len(r1.Ending.Stack), len(r1.Ending.Waiters), r1.Ending.Cycle, r1.Ending.Output, same)
			if !same {
				fmt.Printf(" %v %+v", r2.Ending.Kind, r2.Diverged)
				for i := range r1.Trace.Events { if i >= len(r2.Trace.Events) || !reflect.DeepEqual(r1.Trace.Events[i], r2.Trace.Events[i]) { fmt.Printf("\n  first diff %d: %+v", i, r1.Trace.Events[i]); if i < len(r2.Trace.Events) { fmt.Printf("\n   %+v", r2.Trace.Events[i]) }; break } }
				fmt.Printf("\n %+v\n %+v", r1.Ending, r2.Ending)
			}
			fmt.Println()
		}
		tg.Close()
	}
}
