package cprog

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
)

func cpu(pid int) time.Duration {
	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid))
	var n int64
	fmt.Sscan(string(b), &n)
	return time.Duration(n)
}

func TestPerf(t *testing.T) {
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
	o, err := tg.Run(ctx, schedule.Plan{})
	if err != nil {
		t.Fatal(err)
	}
	rep := 4000000/o.Points
	for _, pol := range []schedule.Policy{schedule.Random, schedule.PCT, schedule.POS, schedule.Fair} {
		start, c0 := time.Now(), cpu(tg.Pid())
		pts, sw, n := 0, 0, 0
		first := true
		tg.Stream(ctx, func() (schedule.Plan, bool) {
			f := first
			first = false
			return schedule.Plan{Policy: pol, Depth: 3, Length: o.Points, Seed: 1, Repeat: rep}, f
		}, func(p schedule.Plan, o schedule.Outcome) bool { pts += o.Points; sw += o.Switches; n++; return true })
		d, c := time.Since(start), cpu(tg.Pid())-c0
		fmt.Printf("%v: %d execs, %d points, %d switches; wall %.0f/s cpu %.0f/s; cpu ns per point %.1f\n", pol, n, pts/n, sw/n, float64(n)/d.Seconds(), float64(n)/c.Seconds(), float64(c)/float64(pts))
	}
}
