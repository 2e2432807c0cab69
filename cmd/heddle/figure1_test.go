package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/finding"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// The paper's own example, as a C program: from the schedule of Figure 2 of FSE'10, the
// passes of Algorithm 1 lead through the traces of Figures 3, 4 and 5. The paper counts 7,
// 5, 3 and 2 context switches; here there is one more in each, because main creates both
// threads first.
func TestFigure1(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "figure1")
	e := readExpectation(t, filepath.Join(repository(t), "testdata/programs/fail/figure1.c"))
	compileProgram(t, e, "gcc", "-O0", prog) // one instruction for each action
	library := sharedRuntime(t)
	tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: []string{prog}, Dir: dir, Runtime: library})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	exec := func(p schedule.Plan) schedule.Outcome {
		o, err := tg.Run(t.Context(), p)
		if err != nil {
			t.Fatal(err)
		}
		return o
	}

	// The sites of the program's actions, from executions that reach them.
	steps := map[string]schedule.Step{}
	var points []trace.Site
	name := func(tr *trace.Trace, ev *trace.Event) string {
		write := map[trace.Op]string{trace.OpRead: "read", trace.OpWrite: "write"}[ev.Op]
		if write == "" {
			return fmt.Sprintf("T%d %v", ev.Thread, ev.Op)
		}
		return fmt.Sprintf("T%d %s %x", ev.Thread, write, ev.Object.Offset()&7)
	}
	var threads []trace.Thread
	learn := func(p schedule.Plan) {
		o := exec(p)
		if len(o.Trace.Threads) == 3 {
			threads = o.Trace.Threads
		}
		for i := range o.Trace.Events {
			ev := &o.Trace.Events[i]
			if ev.Op.IsAccess() && ev.Object.Region() != trace.RegionGlobal {
				continue
			}
			n := name(o.Trace, ev)
			if _, ok := steps[n]; ok {
				continue
			}
			// Where the figures have the second thread's sleep, the first thread can run: it is
			// overtaken for the microsecond that the sleep takes.
			steps[n] = schedule.Step{Thread: ev.Thread, Op: ev.Op, Site: ev.Site, Wake: -1, Timeout: ev.Op == trace.OpSleep}
			if ev.Op.IsAccess() {
				points = append(points, ev.Site)
			}
		}
	}
	learn(schedule.Plan{Record: true, Accesses: true})
	for seed := range uint64(200) {
		learn(schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true, Points: slices.Clone(points)})
	}
	// flag and x lie side by side; which is first is the linker's choice.
	flag := "0"
	if _, ok := steps["T2 read 0"]; !ok {
		flag = "4"
	}
	x := map[string]string{"0": "4", "4": "0"}[flag]
	actions := map[string]string{
		"create": "T0 pthread_create", "created": "T0 pthread_create returns", "T1 start": "T1 start", "T2 start": "T2 start",
		"T1 flag=1": "T1 write " + flag, "T1 x=1": "T1 write " + x, "T1 if(x==3)": "T1 read " + x, "T1 error()": "T1 abort",
		"T2 while(!flag)": "T2 read " + flag, "T2 sleep()": "T2 sleep", "T2 x=3": "T2 write " + x, "T2 flag=0": "T2 write " + flag, "T2 end": "T2 end",
	}
	first := exec(schedule.Plan{Record: true})
	second := schedule.Steps(first.Trace.Events[2:4]) // main's second create has a site of its own
	script := func(words string) (out []schedule.Step) {
		for w := range strings.SplitSeq(words, ";") {
			w = strings.TrimSpace(w)
			if w == "create 2" {
				out = append(out, second...)
				continue
			}
			s, ok := steps[actions[w]]
			if !ok {
				t.Fatalf("no site for %q (%q) among %v", w, actions[w], steps)
			}
			out = append(out, s)
		}
		return out
	}
	figure2 := script("create; created; create 2; T2 start; T2 while(!flag); T2 sleep(); T1 start; T1 flag=1; T2 while(!flag); T1 x=1; T2 x=3; T1 if(x==3); T2 flag=0; T2 end; T1 error()")
	o := exec(schedule.Plan{Mode: schedule.Strict, Script: figure2, Threads: threads, Points: points, Record: true})
	if o.Ending.Kind != trace.Assertion {
		t.Fatalf("figure 2 ends with %v %+v", o.Ending.Kind, o.Diverged)
	}
	if n := trace.CostOf(o.Trace.Events).Switches; n != 7+1 {
		t.Fatalf("figure 2 has %d switches, want 7 and main's", n)
	}
	goal := finding.Of(o.Ending, tg.Modules())
	published := []tinertia.Operation{tinertia.RemoveLast, tinertia.MoveUp, tinertia.MoveUpActions, tinertia.MoveDown}
	r, err := tinertia.Simplify(t.Context(), tinertia.Input{Trace: o.Trace, Same: func(e trace.Ending) bool { return goal.Same(finding.Of(e, tg.Modules())) }},
		tg.Run, tinertia.Options{Operations: published, History: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []struct {
		pass     []tinertia.Operation
		figure   string
		switches int
	}{
		{[]tinertia.Operation{tinertia.RemoveLast}, "create; created; create 2; T2 start; T2 while(!flag); T2 sleep(); T1 start; T1 flag=1; T2 while(!flag); T1 x=1; T2 x=3; T1 if(x==3); T1 error()", 5},
		{[]tinertia.Operation{tinertia.MoveUp, tinertia.MoveUpActions}, "create; created; create 2; T2 start; T2 while(!flag); T2 sleep(); T1 start; T1 flag=1; T1 x=1; T2 while(!flag); T2 x=3; T1 if(x==3); T1 error()", 3},
		{[]tinertia.Operation{tinertia.MoveDown}, "create; created; create 2; T1 start; T1 flag=1; T1 x=1; T2 start; T2 while(!flag); T2 x=3; T1 if(x==3); T1 error()", 2},
	}
	for i, w := range want {
		var after *trace.Trace
		for _, s := range r.Steps {
			if s.Iteration == 1 && slices.Contains(w.pass, s.Operation) {
				after = s.Trace
			}
		}
		if after == nil {
			t.Fatalf("pass %v accepted nothing: %+v", w.pass, r.Steps)
		}
		if n := trace.CostOf(after.Events).Switches; n != w.switches+1 {
			t.Errorf("after pass %d there are %d switches, want those of figure %d, %d, and main's", i+1, n, i+3, w.switches)
		}
		if got, want := schedule.ScriptOf(after), script(w.figure); !slices.Equal(got, want) {
			t.Errorf("after pass %d the trace is not figure %d:\n%v\n%v", i+1, i+3, got, want)
		}
	}
	if n := r.After.Switches; n != 3 {
		t.Errorf("the result has %d switches, want 2 and main's", n)
	}
}
