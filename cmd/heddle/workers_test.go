package main

import (
	"path/filepath"
	"reflect"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/target/cprog"
)

// TestWorkersInProcesses: several processes of one program find what one finds, in the same
// execution, and the finding replays in another one.
func TestWorkersInProcesses(t *testing.T) {
	for _, name := range []string{
		"abba_deadlock", "lost_update", "least_sum", "needs_three_preemptions", "aba_stack", "barrier_wrong_count",
		"bounded_buffer", "c11_slot", "channel_handoff", "check_then_act", "cleared_callback", "cond_wait_without_loop",
		"counting_barrier", "destroyed_mutex", "dining_philosophers", "double_checked_locking", "dropped_lock",
		"exit_status_race", "figure1", "flag_spin", "lost_wakeup", "main_outruns_worker",
	} {
		dir := t.TempDir()
		prog := filepath.Join(dir, name)
		compileProgram(t, readExpectation(t, filepath.Join(repository(t), "testdata/programs/fail", name+".c")), "gcc", "-O1", prog)
		start := func() *cprog.Target {
			tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: []string{prog}, Dir: dir, Runtime: sharedRuntime(t)})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { tg.Close() })
			return tg
		}
		var want *engine.Report
		for _, processes := range []int{0, 1, 2, 3, 4} {
			opts := engine.Options{Seed: 3, Runs: 20_000, NoSimplify: true}
			for range processes {
				opts.Workers = append(opts.Workers, engine.Local(start()))
			}
			got, err := engine.Find(t.Context(), start(), opts, nil)
			if err != nil || got.Finding == nil || !got.Finding.Confirmed {
				t.Fatalf("%s, %d processes: %v, %+v", name, processes, err, got)
			}
			t.Logf("%s, %d processes: execution %d", name, processes, got.Executions)
			got.Seconds, got.PerSecond = 0, 0
			if want == nil {
				want = got
				continue
			}
			a, b := *want.Finding, *got.Finding
			if !reflect.DeepEqual(a.Recorded.Events, b.Recorded.Events) {
				t.Errorf("%s, %d processes: another execution", name, processes)
			}
			a.Recorded, b.Recorded = nil, nil
			x, y := *want, *got
			x.Finding, y.Finding = nil, nil
			if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(x, y) {
				t.Errorf("%s, %d processes:\n%+v %+v, want\n%+v %+v", name, processes, y, b, x, a)
			}
		}
	}
}
