package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

func TestMemorySize(t *testing.T) {
	for text, want := range map[string]memorySize{
		"16M": 16 << 20, "2G": 2 << 30, "2GiB": 2 << 30, "512mb": 512 << 20, "1.5g": 3 << 29, "33554432": 32 << 20,
		"": 0, "M": 0, "-1G": 0, "1K": 1024, "nanG": 0, "9999999T": 0, "2 apples": 0,
	} {
		var got memorySize
		if err := got.UnmarshalText([]byte(text)); got != want || (err == nil) != (want > 1024) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}

// peak runs heddle as a process, and returns its output and the most memory, in MB, that it,
// or the largest of the processes that it started, had.
func peak(t testing.TB, dir string, args ...string) ([]byte, int64) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	heddle := filepath.Join(t.TempDir(), "heddle") // see TestMain
	if err := os.Symlink(self, heddle); err != nil {
		t.Fatal(err)
	}
	// What grows without bound ends here, and not with the machine.
	cmd := exec.Command("sh", append([]string{"-c", `ulimit -v 16000000; exec "$0" "$@"`, heddle}, args...)...)
	var out, errs bytes.Buffer
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &out, &errs
	if err := cmd.Run(); err != nil && cmd.ProcessState.ExitCode() != exitFound {
		t.Fatalf("heddle %s: %v\n%s", strings.Join(args, " "), err, &errs)
	}
	return out.Bytes(), peakMB(cmd)
}

// peakMB is the peak resident memory, in MB, of the largest process that a finished command was
// or started. It is at least this test's own: Linux counts what the parent had before execve.
func peakMB(cmd *exec.Cmd) int64 {
	return cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss >> 10
}

// TestBoundedMemory: a program of millions of accesses is explored in the memory that heddle may
// use, however long it runs, and all of its accesses are examined.
func TestBoundedMemory(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "compress")
	e := expectation{source: filepath.Join(repository(t), "testdata/programs/bench/block_compressor.c")}
	compileProgram(t, e, "gcc", "-O1", prog)
	sharedRuntime(t)
	explore := func(size, memory string) (findJSON, int64) {
		out, mb := peak(t, dir, "find", "--json", "--seed=1", "--runs=2", "--time=0", "--memory="+memory, "--", prog, size, "5")
		var got findJSON
		if err := json.Unmarshal(out, &got); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		t.Logf("%s bytes in %s: %d MB, races_incomplete %q", size, memory, mb, got.RacesIncomplete)
		if got.Executions != 2 || got.Outcome != "clean" {
			t.Errorf("%s bytes in %s: %s after %d executions", size, memory, got.Outcome, got.Executions)
		}
		return got, mb
	}
	_, least := explore("100", "64M") // next to no accesses
	all, _ := explore("4000", "64M")
	if all.RacesIncomplete != "" {
		t.Errorf("all accesses fit, but %q", all.RacesIncomplete)
	}
	small, mb := explore("20000", "64M")
	large, mbLarge := explore("80000", "64M")
	for _, r := range []findJSON{small, large} {
		if r.RacesIncomplete != "" { // they are examined in the program, which remembers few at a time
			t.Errorf("%q", r.RacesIncomplete)
		}
	}
	// The ring that the events come through is mapped by heddle, too: 64 MB.
	const budget, ring, slack = 64, 64, 48
	for _, got := range []int64{mb, mbLarge} {
		if got-least > budget+ring+slack {
			t.Errorf("%d MB above the %d of a program without accesses, where %d were allowed", got-least, least, budget)
		}
	}
	if mbLarge > mb+mb/4 {
		t.Errorf("four times the accesses take %d MB in place of %d", mbLarge, mb)
	}
}

// TestUnwatched: if the memory for watching an execution runs out, heddle says up to where it looked
// for races and what to do, and finds the race after that with the memory that it asks for.
func TestUnwatched(t *testing.T) {
	sharedRuntime(t)
	for _, test := range []struct {
		flags, memory string
		note, races   bool
	}{
		{"-DRACY", "16M", true, false},
		{"-DRACY", "1G", false, true},
		{"", "16M", true, false},
		{"", "1G", false, false},
	} {
		for _, cc := range []string{"gcc", "clang"} {
			t.Run(strings.Join([]string{test.flags, test.memory, cc}, ","), func(t *testing.T) {
				dir := t.TempDir()
				prog := filepath.Join(dir, "epochs")
				e := expectation{source: filepath.Join(repository(t), "testdata/programs/bench/many_epochs.c")}
				e.flags = strings.Fields(test.flags)
				compileProgram(t, e, cc, "-O1", prog)
				b, err := heddleCommand(t, dir, nil, "find", "--seed=1", "--runs=3", "--time=0", "--races=ignore", "--memory="+test.memory, "--", prog).CombinedOutput()
				if err != nil {
					t.Fatalf("%v: %s", err, b)
				}
				looked := regexp.MustCompile(`races may be missed: an execution touches too much memory: the first \d+ accesses were looked at, and races after them are not seen; --memory SIZE allows for more`)
				if looked.Match(b) != test.note || regexp.MustCompile(`[12] data races? seen:`).Match(b) != test.races {
					t.Errorf("want a note %t, races %t:\n%s", test.note, test.races, b)
				}
			})
		}
	}
}

// TestCutRecording: a recording has accesses as far as the memory goes, says so, and replays.
func TestCutRecording(t *testing.T) {
	dir := t.TempDir()
	prog := filepath.Join(dir, "compress")
	e := expectation{source: filepath.Join(repository(t), "testdata/programs/bench/block_compressor.c")}
	compileProgram(t, e, "gcc", "-O1", prog)
	sharedRuntime(t)
	file := filepath.Join(dir, "cut.hdl")
	peak(t, dir, "record", "--accesses", "--memory=16M", "-o", file, "--", prog, "4000", "2")
	tr, err := trace.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	extra := 0
	for i := range tr.Events {
		if tr.Events[i].Detail() {
			extra++
		}
	}
	if want := 16 << 20 / 1024; tr.Header.MaxAccesses != want || extra != want {
		t.Errorf("%d accesses are recorded, and the header says %d; want %d", extra, tr.Header.MaxAccesses, want)
	}
	if err := trace.Validate(tr); err != nil {
		t.Error(err)
	}
	// On a machine with another budget, too.
	for _, memory := range []string{"16M", "1G"} {
		out, _ := peak(t, dir, "replay", "--json", "--memory="+memory, file)
		if !bytes.Contains(out, []byte(`"same": true`)) {
			t.Errorf("replayed in %s: %s", memory, out)
		}
	}
}
