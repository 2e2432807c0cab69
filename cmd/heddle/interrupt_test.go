package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// A heddle that is stuck, in a read that never ends, is ended by the second Ctrl-C.
func TestSecondInterrupt(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := unix.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, sig := range []unix.Signal{unix.SIGINT, unix.SIGTERM} {
		cmd := exec.Command("heddle", "find", "--stdin", fifo, "--", "/bin/true")
		var errs bytes.Buffer
		cmd.Stderr = &errs
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		over := time.After(time.Minute)
		// The first ones may come before heddle listens to them.
		again := time.NewTicker(300 * time.Millisecond)
		time.Sleep(300 * time.Millisecond)
	signals:
		for {
			select {
			case <-ended:
				break signals
			case <-again.C:
				_ = cmd.Process.Signal(sig)
			case <-over:
				_ = cmd.Process.Kill()
				t.Fatalf("%v does not end it", sig)
			}
		}
		again.Stop()
		if status := cmd.ProcessState.ExitCode(); status == exitFailed && !strings.Contains(errs.String(), "interrupted again") || status != exitFailed && status != -1 {
			t.Errorf("%v: status %d, %q", sig, status, &errs)
		}
	}
}

// Whatever a trace names that is not a file is refused at once, by every command that reads it.
func TestTracesNameNoFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := unix.Mkfifo(at("fifo"), 0o666); err != nil {
		t.Fatal(err)
	}
	site := trace.MakeSite(0, 16)
	tr := &trace.Trace{
		Header:  trace.Header{Target: "c", Command: []string{at("fifo")}, Dir: dir, PointsVersion: schedule.PointsVersion},
		Modules: []trace.Module{{Path: at("fifo"), Program: true}},
		Threads: []trace.Thread{{ID: 0, Parent: -1}},
		Stacks:  [][]trace.Site{nil},
		Events:  []trace.Event{{Op: trace.OpAbort, Site: site, Enabled: trace.ThreadSet{Low: 1}}},
		Ending:  trace.Ending{Kind: trace.Assertion, Site: site, Message: "m"},
	}
	if err := trace.WriteFile(at("names.hdl"), tr); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"show", at("names.hdl")}, {"show", at("fifo")}, {"replay", "--trust", at("names.hdl")}, {"replay", at("fifo")},
		{"simplify", "--trust", at("names.hdl")}, {"simplify", at("fifo")}, {"convert", at("names.hdl"), at("out.txt")},
		{"convert", at("fifo"), at("out.txt")}, {"convert", "/dev/zero", at("out.std")},
	} {
		cmd := exec.Command("heddle", args...)
		cmd.Env = append(os.Environ(), "HEDDLE_CACHE="+at("cache"))
		began := make(chan struct{})
		killed := false
		timer := time.AfterFunc(time.Minute, func() { killed = true; <-began; _ = cmd.Process.Kill() })
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		close(began)
		_ = cmd.Wait()
		if timer.Stop(); killed {
			t.Errorf("heddle %s hangs: %s", strings.Join(args, " "), &out)
		}
		refused := strings.Contains(strings.Join(args, " "), "fifo") || args[0] == "replay" || args[0] == "simplify"
		if refused && !strings.Contains(out.String(), "not a regular file") {
			t.Errorf("heddle %s: %s", strings.Join(args, " "), &out)
		}
	}
}
