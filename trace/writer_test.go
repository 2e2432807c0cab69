package trace

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// The test binary runs itself as a writer that is killed, or that has little disk.
const childEnv = "HEDDLE_TRACE_TEST_WRITER"

func TestMain(m *testing.M) {
	if mode, name, ok := strings.Cut(os.Getenv(childEnv), ":"); ok {
		os.Exit(child(mode, name))
	}
	os.Exit(m.Run())
}

// child writes the events of childTrace again and again.
func child(mode, name string) int {
	if mode == "limited" {
		signal.Ignore(syscall.SIGXFSZ)
		limit := syscall.Rlimit{Cur: 400 << 10, Max: 400 << 10}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			fmt.Println("cannot limit:", err)
			return 3
		}
	}
	t := childTrace()
	if mode == "limited" {
		for len(t.Events) < 60_000 { // beyond the limit by far
			t.Events = append(t.Events, t.Events...)
		}
		spread(t.Events)
		if err := WriteFile(name, t); err == nil {
			fmt.Println("WriteFile: no error")
		} else if _, serr := os.Stat(name + IncompleteExt); serr == nil {
			fmt.Println("WriteFile left", name+IncompleteExt)
		}
	}
	w, err := NewWriter(name)
	if err != nil {
		fmt.Println(err)
		return 3
	}
	if err := w.WriteHeader(t.Header); err != nil {
		fmt.Println(err)
		return 3
	}
	for _, th := range t.Threads {
		w.WriteThread(th)
	}
	for _, m := range t.Modules {
		w.WriteModule(m)
	}
	for _, s := range t.Stacks[1:] {
		w.WriteStack(s)
	}
	for range 100_000 {
		if err = w.WriteEvents(t.Events); err != nil {
			break
		}
		if mode == "killed" {
			if err = w.Flush(); err != nil {
				break
			}
			fmt.Println(w.Events())
		}
	}
	if err != nil {
		fmt.Println("write:", errors.Is(err, syscall.EFBIG), err)
	}
	if err := w.Close(t.Ending); err != nil {
		fmt.Println("close:", errors.Is(err, syscall.EFBIG), err)
	}
	if err := w.Close(t.Ending); err != nil {
		fmt.Println("again:", errors.Is(err, syscall.EFBIG), err)
	}
	return 0
}

// childTrace has no starts and ends, so that its events can be repeated.
func childTrace() *Trace {
	t := simulate(1, 3, 2000)
	t.Allocs = nil
	t.Events = slices.DeleteFunc(t.Events, func(e Event) bool {
		return e.Op == OpThreadStart || e.Op == OpThreadEnd || e.Op == OpThreadCreate || e.Op == OpThreadJoin
	})
	spread(t.Events)
	return t
}

// spread gives the events values that do not compress to nothing.
func spread(events []Event) {
	for i := range events {
		events[i].Value = uint64(i) * uint64(i) * 0x9e3779b97f4a7c15
	}
}

func startChild(t *testing.T, mode, name string) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"="+mode+":"+name)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return cmd, bufio.NewReader(out)
}

func wantFiles(t *testing.T, dir string, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the directory has %q, want %q", got, want)
	}
}

func TestKilledWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bug.hdl")
	cmd, out := startChild(t, "killed", name)
	flushed := 0
	for range 20 {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if flushed, err = strconv.Atoi(strings.TrimSpace(line)); err != nil {
			t.Fatalf("the writer says %q", line)
		}
	}
	if _, err := NewWriter(name); err == nil || !strings.Contains(err.Error(), "another heddle is writing") {
		t.Errorf("a second writer meanwhile: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()

	wantFiles(t, filepath.Dir(name), "bug.hdl.incomplete")
	_, err := ReadFile(name)
	wantError(t, err, os.ErrNotExist, name, "bug.hdl.incomplete does", "run again")
	_, err = ReadFile(name + IncompleteExt)
	wantError(t, err, ErrIncomplete, name+IncompleteExt, "record the trace again")
	got, err := ReadPrefix(name + IncompleteExt)
	wantError(t, err, ErrIncomplete, name+IncompleteExt)
	if got == nil || len(got.Events) < flushed {
		t.Fatalf("the prefix has less than the %d events that were flushed: %v", flushed, err)
	}
	if len(got.Threads) != 4 || got.Header.Target != "c" || got.Ending.Kind != Unsupported {
		t.Errorf("the prefix is %+v, %+v, %+v", got.Header, got.Threads, got.Ending)
	}
	want := childTrace().Events
	for i := range got.Events {
		if got.Events[i].Value != want[i%len(want)].Value {
			t.Fatalf("event %d has value %#x", i, got.Events[i].Value)
		}
	}

	// What is left does not stand in the way of the next run.
	next := simulate(2, 2, 100)
	if err := WriteFile(name, next); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(name), "bug.hdl")
	if got, err = ReadFile(name); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the next trace", got, next)
}

func TestFullDisk(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bug.hdl")
	old := simulate(1, 1, 50)
	if err := WriteFile(name, old); err != nil {
		t.Fatal(err)
	}
	cmd, out := startChild(t, "limited", name)
	said, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, want := range []string{"write: true", "close: true " + name + ": the trace was not written", "again: true"} {
		if !strings.Contains(string(said), want) {
			t.Errorf("the writer lacks %q in:\n%s", want, said)
		}
	}
	if strings.Contains(string(said), "WriteFile") {
		t.Errorf("%s", said)
	}
	wantFiles(t, filepath.Dir(name), "bug.hdl", "bug.hdl.incomplete")
	got, err := ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the trace that was there before", got, old)
	got, err = ReadPrefix(name + IncompleteExt)
	wantError(t, err, ErrIncomplete)
	if got == nil || len(got.Events) == 0 {
		t.Errorf("nothing of what fitted can be read: %v", err)
	}
}

func TestWriterOnFullDevice(t *testing.T) {
	f, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	if err := Encode(f, simulate(1, 1, 10)); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("error %v, want ENOSPC", err)
	}
}

// Whatever write fails, the error comes out, at the latest from Close, and stays.
func TestEveryWriteCanFail(t *testing.T) {
	tr := simulate(1, 3, 2*blockEvents)
	var all counter
	if err := Encode(&all, tr); err != nil {
		t.Fatal(err)
	}
	boom := errors.New("boom")
	for n := 0; n < int(all); n += 1 + int(all)/40 {
		if err := Encode(&limited{n, boom}, tr); err != boom {
			t.Fatalf("after %d bytes of %d: error %v", n, all, err)
		}
	}
}

// limited fails after n bytes.
type limited struct {
	n   int
	err error
}

func (l *limited) Write(p []byte) (int, error) {
	if len(p) > l.n {
		n := l.n
		l.n = 0
		return n, l.err
	}
	l.n -= len(p)
	return len(p), nil
}

func TestDiscard(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bug.hdl")
	w, err := NewWriter(name)
	if err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(name), "bug.hdl.incomplete")
	if err := w.Discard(); err != nil {
		t.Fatal(err)
	}
	wantFiles(t, filepath.Dir(name))
	if err := w.Close(Ending{}); err == nil || !strings.Contains(err.Error(), "discarded") {
		t.Errorf("Close after Discard: %v", err)
	}
	if err := w.Discard(); err != nil {
		t.Errorf("Discard again: %v", err)
	}

	tr := simulate(1, 1, 10)
	if err := WriteFile(name, tr); err != nil {
		t.Fatal(err)
	}
	if w, err = NewWriter(name); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteHeader(Header{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Ending{}); err != nil {
		t.Fatal(err)
	}
	if err := w.Discard(); err != nil {
		t.Errorf("Discard after Close: %v", err)
	}
	wantFiles(t, filepath.Dir(name), "bug.hdl")
	if err := w.WriteEvent(&Event{}); err == nil {
		t.Error("an event was written after Close")
	}
}

func TestNewWriterRefuses(t *testing.T) {
	dir := t.TempDir()
	if _, err := NewWriter(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a directory: %v", err)
	}
	if _, err := NewWriter("/dev/null"); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a device: %v", err)
	}
	if _, err := NewWriter(filepath.Join(dir, "no", "bug.hdl")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no directory: %v", err)
	}
	// An error of the header is found by Close as well.
	w, err := NewWriter(filepath.Join(dir, "bug.hdl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(Ending{}); err == nil || !strings.Contains(err.Error(), "bug.hdl: the trace was not written") {
		t.Errorf("Close without a header: %v", err)
	}
	wantFiles(t, dir, "bug.hdl.incomplete")
}

// A trace can be shown while it is written.
func TestReadWhileWritten(t *testing.T) {
	name := filepath.Join(t.TempDir(), "bug.hdl")
	tr := simulate(1, 2, 400)
	w, err := NewWriter(name)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	if err := w.content(tr); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	got, err := ReadPrefix(name + IncompleteExt)
	wantError(t, err, ErrIncomplete)
	wantEqual(t, "what was flushed", &Trace{Events: got.Events}, &Trace{Events: tr.Events})
	var text bytes.Buffer
	if err := WriteText(&text, got); err != nil {
		t.Error(err)
	}
}
