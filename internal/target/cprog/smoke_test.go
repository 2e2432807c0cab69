package cprog

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

func TestSmoke(t *testing.T) {
	prog := os.Getenv("PROG")
	if prog == "" {
		t.Skip("no PROG")
	}
	ctx := context.Background()
	tg, err := Start(ctx, Config{Path: prog, Args: []string{prog}, Runtime: "/tmp/rt/libheddle.so"})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	fmt.Println("pages", tg.SnapshotPages(), "modules", len(tg.modules))
	o, err := tg.Run(ctx, schedule.Plan{Record: true, Accesses: true})
	if err != nil {
		t.Fatal(err)
	}
	show(o)
	n := 0
	start := time.Now()
	kinds := map[string]int{}
	cov := map[uint64]bool{}
	i := 0
	pol := []schedule.Policy{schedule.Random, schedule.PCT, schedule.POS, schedule.Fair}
	err = tg.Stream(ctx, func() (schedule.Plan, bool) {
		i++
		return schedule.Plan{Policy: pol[i%4], Depth: 3, Length: o.Points, Seed: uint64(i * 1000), Repeat: 500}, i < 100
	}, func(p schedule.Plan, o schedule.Outcome) bool {
		n++
		kinds[p.Policy.String()+" "+o.Ending.Kind.String()+o.Ending.Message]++
		cov[o.Coverage] = true
		return true
	})
	d := time.Since(start)
	fmt.Println(n, "executions", d, float64(n)/d.Seconds(), "/s", kinds, len(cov), err)
}

func show(o schedule.Outcome) {
	fmt.Println("outcome", o.Ending.Kind, o.Ending.Status, o.Ending.Message, o.Points, o.Switches, o.Threads)
	if o.Trace == nil {
		return
	}
	for i, e := range o.Trace.Events {
		if i > 60 {
			fmt.Println("...")
			break
		}
		fmt.Printf("%3d T%d %-14v site %d:%x obj %x val %d aux %d res %d en %x st %d fl %x\n", i, e.Thread, e.Op, e.Site.Module(), e.Site.Offset(), uint64(e.Object), e.Value, e.Aux, e.Result, e.Enabled.Low, e.Stack, e.Flags)
	}
	for _, th := range o.Trace.Threads {
		fmt.Printf("%+v\n", th)
	}
	fmt.Printf("%+v\n", o.Ending)
	_ = trace.Clean
}
