package ipc

import (
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/internal/abi"
)

// begin runs a command for a test.
func begin(t *testing.T, words ...string) *Process {
	t.Helper()
	cmd := exec.Command(words[0], words[1:]...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &Process{cmd: cmd, shm: &abi.Shm{}}
}

// watch is how long a process counts as still after so long without a sign of life.
func watch(p *Process, d time.Duration) (still time.Duration) {
	var s stillness
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		still = s.since(p)
	}
	return still
}

// neverStill fails the test if a process counts as still for most of each of several watches. The
// machine may be so busy that in one it does not get to run at all.
func neverStill(t *testing.T, p *Process) {
	t.Helper()
	least := watched
	for range 5 {
		if least = min(least, watch(p, watched)); least <= watched*2/3 {
			return
		}
	}
	t.Errorf("still for %v of %v", least, watched)
}

const watched = 2 * time.Second

// TestStill: a process that waits for nothing that the machine owes it is still.
func TestStill(t *testing.T) {
	p := begin(t, "sleep", "60")
	var s stillness
	for end := time.Now().Add(30 * time.Second); s.since(p) < watched; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("still for %v only", s.since(p))
		}
	}
}

// TestStoppedIsNotStill: a program under SIGSTOP, or in a container that is frozen, does not
// hang.
func TestStoppedIsNotStill(t *testing.T) {
	p := begin(t, "sleep", "60")
	if err := unix.Kill(p.Pid(), unix.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	neverStill(t, p)
}

// TestStarvedIsNotStill: a program that the machine does not let run does not hang.
func TestStarvedIsNotStill(t *testing.T) {
	const loop = "while :; do :; done"
	for range 2 {
		begin(t, "taskset", "-c", "0", "sh", "-c", loop)
	}
	p := begin(t, "taskset", "-c", "0", "nice", "-n", "19", "sh", "-c", loop)
	time.Sleep(200 * time.Millisecond)
	neverStill(t, p) // though it has a hundredth of a processor
}
