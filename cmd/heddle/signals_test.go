package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// appears waits until a file exists.
func appears(t *testing.T, name string) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(name); err == nil {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s does not appear", name)
		}
	}
}

// failing is a program that fails at the end of a long execution, so that its simplification takes long.
func failing(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "fails.c")
	const text = `#include <pthread.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void *f(void *a) {
  for (int i = 0; i < 20000; i++) { pthread_mutex_lock(&m); pthread_mutex_unlock(&m); }
  return a;
}
int main(void) {
  pthread_t t[3];
  for (int i = 0; i < 3; i++) pthread_create(&t[i], 0, f, 0);
  for (int i = 0; i < 3; i++) pthread_join(t[i], 0);
  abort();
}
`
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	prog := filepath.Join(dir, "fails")
	if out, err := exec.Command("gcc", "-O1", "-pthread", "-o", prog, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return prog
}

// TestInterruptedSimplification: what was found by then is reported, in good order.
func TestInterruptedSimplification(t *testing.T) {
	prog := failing(t)
	dir := filepath.Dir(prog)
	sharedRuntime(t) // it takes long to build
	cmd := heddleCommand(t, dir, nil, "find", "--json", "--time", "0", "--simplify-time", "0", "--", prog)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	appears(t, filepath.Join(dir, "fails.hdl"))
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != exitFound {
		t.Errorf("exit status %d: %s", got, stderr.String())
	}
	var out findJSON
	if err := json.Unmarshal([]byte(stdout.String()), &out); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	if out.Outcome != "found" || out.Finding == nil || !out.Finding.Confirmed || out.Trace != "fails.hdl" || out.Simplified != nil && out.Simplified.Complete {
		t.Errorf("%s", stdout.String())
	}
}

// TestSecondSignal ends heddle in every state: here it waits for a file to be opened.
func TestSecondSignal(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o666); err != nil {
		t.Fatal(err)
	}
	prog := failing(t)
	for _, args := range [][]string{
		{"find", "--stdin", fifo, "--", prog},
		{"show", fifo},
		{"simplify", "--static", fifo},
	} {
		cmd := heddleCommand(t, filepath.Dir(prog), nil, args...)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		for n := 1; ; n++ {
			select {
			case <-ended:
			case <-time.After(time.Second):
				if n > 20 {
					cmd.Process.Kill()
					t.Errorf("%v: %d signals do not end it", args, n)
					<-ended
					break
				}
				cmd.Process.Signal(os.Interrupt) // the first may come before heddle handles signals
				continue
			}
			break
		}
		if cmd.ProcessState.Success() {
			t.Errorf("%v: success", args)
		}
	}
}

// TestInterruptedSearch: a search that was interrupted before it found a bug has not done what was
// asked, so the status is not that of a search without a finding.
func TestInterruptedSearch(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "prog")
	sharedRuntime(t) // it takes long to build
	source := filepath.Join(repository(t), "testdata", "programs", "bench", "five_threads.c")
	if out, err := heddleCommand(t, dir, nil, "cc", "-pthread", source, "-o", prog).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := heddleCommand(t, dir, nil, "find", "--json", "--time", "0", "--", prog)
	var stdout, stderr strings.Builder
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(3 * time.Second) // somewhere in the exploration
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	var out findJSON
	if err := json.Unmarshal([]byte(stdout.String()), &out); err != nil {
		t.Fatalf("%v: %s", err, stdout.String())
	}
	if status := cmd.ProcessState.ExitCode(); status != exitFailed || out.Outcome != "interrupted" || stderr.String() != "heddle: interrupted\n" {
		t.Errorf("status %d, %s\n%s", status, &stderr, stdout.String())
	}
}
