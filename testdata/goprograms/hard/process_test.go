package hard

import (
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"
)

// A child process, whose output is read through a pipe.
func TestExec(t *testing.T) {
	done := make(chan string)
	for _, text := range []string{"one", "two"} {
		go func() {
			out, err := exec.Command("echo", text).CombinedOutput()
			if err != nil {
				t.Error(err)
			}
			done <- string(out)
		}()
	}
	if a, b := <-done, <-done; len(a)+len(b) != len("one\ntwo\n") {
		t.Errorf("%q %q", a, b)
	}
}

// A signal that the program sends itself.
func TestSignal(t *testing.T) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGUSR1)
	defer signal.Stop(c)
	if err := syscall.Kill(os.Getpid(), syscall.SIGUSR1); err != nil {
		t.Fatal(err)
	}
	select {
	case s := <-c:
		if s != syscall.SIGUSR1 {
			t.Error(s)
		}
	case <-time.After(time.Hour):
		t.Error("no signal")
	}
}

// Files are read and written by system calls that do not wait.
func TestFiles(t *testing.T) {
	name := t.TempDir() + "/f"
	done := make(chan error)
	go func() { done <- os.WriteFile(name, []byte("text"), 0o600) }()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); string(b) != "text" {
		t.Error(string(b), err)
	}
}

// A pipe of the system's between two goroutines.
func TestOSPipe(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	go func() {
		b := make([]byte, 16)
		n, _ := r.Read(b)
		r.Close()
		done <- string(b[:n])
	}()
	w.WriteString("through")
	w.Close()
	if s := <-done; s != "through" {
		t.Error(s)
	}
}
