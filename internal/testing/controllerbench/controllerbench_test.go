package main

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// The time of a process that has ended is separated from that of the children that it waited for.
func TestProcessorTime(t *testing.T) {
	// The shell waits; its child computes.
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", "sh -c 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done'; :")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", cmd.Process.Pid))
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	own, children, err := processorTime(string(stat))
	if err != nil || children <= 4*own || children == 0 {
		t.Errorf("%v s, children %v s, %v", own, children, err)
	}
	// A name may have any character.
	own, children, err = processorTime("7 (a) b) S 1 1 1 0 -1 0 0 0 0 0 110 40 300 700 20")
	if own != 1.5 || children != 10 || err != nil {
		t.Errorf("%v s, children %v s, %v", own, children, err)
	}
	for _, s := range []string{"", "7 (x) S 1 2", "7 (x) S 1 1 1 0 -1 0 0 0 0 0 x 40 300 700 20"} {
		if _, _, err := processorTime(s); err == nil || !strings.Contains(err.Error(), "/proc/PID/stat") {
			t.Errorf("%q: %v", s, err)
		}
	}
}

func TestTable(t *testing.T) {
	var out strings.Builder
	if err := printTable(&out, []row{{Program: "p.c", Strategy: "random", Jobs: "2", Executions: 1000, Times: 1.25, Controller: 0.002, Target: 0.006}}); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(strings.Fields(strings.Split(out.String(), "\n")[1]), " "); got != "p.c random 2 1000 1.25 2.0 6.0 25 %" {
		t.Errorf("%q", got)
	}
}
