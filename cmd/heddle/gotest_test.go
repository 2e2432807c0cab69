package main

import (
	"bufio"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/kept"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// goModule copies packages of testdata/goprograms into a module of its own, so that what
// heddle keeps there stays there.
func goModule(t *testing.T, packages ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range append([]string{"go.mod"}, packages...) {
		from := filepath.Join(repository(t), "testdata", "goprograms", name)
		info, err := os.Stat(from)
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			err = os.CopyFS(filepath.Join(dir, name), os.DirFS(from))
		} else {
			var b []byte
			if b, err = os.ReadFile(from); err == nil {
				err = os.WriteFile(filepath.Join(dir, name), b, 0o666)
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// runTest runs heddle test --json and decodes its lines.
func runTest(t *testing.T, dir string, env []string, wantStatus int, args ...string) (tests []testJSON, packages []packageJSON) {
	t.Helper()
	cmd := heddleCommand(t, dir, env, append([]string{"test", "--json"}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != wantStatus {
		t.Fatalf("%v: %v, want status %d\n%s%s", args, err, wantStatus, out, &stderr)
	}
	for line := range strings.Lines(string(out)) {
		if strings.Contains(line, `"test":`) {
			var r testJSON
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			tests = append(tests, r)
		} else {
			var r packageJSON
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				t.Fatal(err)
			}
			packages = append(packages, r)
		}
	}
	return tests, packages
}

// A lost update in a real package: found, kept, replayed, simplified, shown, found again.
func TestGoPackage(t *testing.T) {
	t.Parallel()
	dir := goModule(t, "fail/lost_update", "pass/lost_update")
	tests, packages := runTest(t, dir, nil, exitFound, "-race=false", "./fail/lost_update")
	if len(tests) != 1 || len(packages) != 1 || tests[0].Outcome != "found" || packages[0].Found != 1 {
		t.Fatalf("%+v\n%+v", tests, packages)
	}
	r := tests[0]
	if r.Finding.Kind != "test failure" || !strings.Contains(r.Finding.Message, "a deposit was lost") || !strings.Contains(r.Finding.Where, "lost_update_test.go:") {
		t.Errorf("%+v", r.Finding)
	}
	if ok, _ := regexp.MatchString(`^fail/lost_update/_heddle/TestDeposits/[0-9a-f]{16}\.hdl$`, r.Trace); !ok || r.Simplified == nil {
		t.Errorf("kept in %s; %+v", r.Trace, r.Simplified)
	}
	tr, err := trace.ReadFile(filepath.Join(dir, r.Trace))
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Validate(tr); err != nil {
		t.Error(err)
	}
	if c := trace.CostOf(tr.Events); c.Preemptions != 1 {
		t.Errorf("simplified to %+v", c)
	}
	again := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "100", r.Trace)
	if !again.Same || !strings.Contains(again.Finding.Message, "a deposit was lost") {
		t.Errorf("%+v", again)
	}
	out, err := heddleCommand(t, t.TempDir(), nil, "show", filepath.Join(dir, r.Trace)).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "lost_update.go:") || !strings.Contains(string(out), "a deposit was lost") {
		t.Errorf("%v\n%s", err, out)
	}
	tests, _ = runTest(t, dir, nil, exitFound, "./fail/lost_update")
	if r := tests[0]; !r.Known || r.Changed || r.Executions != 1 {
		t.Errorf("the second time: %+v", r)
	}

	testDlv(t, dir, r.Trace)

	// The correct twin, in place of it.
	good, err := os.ReadFile(filepath.Join(dir, "pass/lost_update/lost_update.go"))
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "fail/lost_update/lost_update.go"), good, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
	tests, packages = runTest(t, dir, nil, exitNothing, "-race=false", "-count=2000", "./fail/lost_update")
	if r := tests[0]; r.Outcome != "clean" || len(r.Fixed) != 1 || packages[0].Outcome != "clean" {
		t.Errorf("fixed: %+v", r)
	}
	runJSON[replayJSON](t, dir, exitNothing, "replay", "--json", "--changed", r.Trace)
}

// Interrupted, heddle test says so and leaves whole files.
func TestGoTestInterrupted(t *testing.T) {
	t.Parallel()
	dir := goModule(t, "pass/lost_update")
	cmd := heddleCommand(t, dir, nil, "test", "-v", "-timeout=0", "-count=1000000000", "./pass/lost_update")
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if strings.HasPrefix(lines.Text(), "=== RUN") {
			time.Sleep(time.Second) // somewhere in the exploration
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	_ = cmd.Wait()
	all := strings.Join(said, "\n")
	if cmd.ProcessState.ExitCode() != exitFailed || !strings.HasSuffix(stderr.String(), "heddle: interrupted\n") ||
		!strings.Contains(all, "--- STOP: TestDeposits (") || !strings.Contains(all, "STOP\theddletest/pass/lost_update\t") {
		t.Errorf("status %d\n%s\n%s", cmd.ProcessState.ExitCode(), all, &stderr)
	}
	err = filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		if strings.Contains(name, "incomplete") || strings.Contains(name, "heddle") {
			t.Errorf("left behind: %s", name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// testDlv replays in the debugger, up to the failing line.
func testDlv(t *testing.T, dir, file string) {
	t.Helper()
	run := func(env ...string) string {
		cmd := heddleCommand(t, dir, env, "replay", "--dlv", file)
		cmd.Stdin = strings.NewReader("bt 12\ncontinue\nquit\n")
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	tools, err := exec.LookPath("go")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	if err := os.Symlink(tools, filepath.Join(bin, "go")); err != nil {
		t.Fatal(err)
	}
	path := "PATH=" + bin + ":/usr/bin:/bin"
	if _, err := exec.LookPath("/usr/bin/dlv"); err != nil {
		if out := run(path); !strings.Contains(out, "heddle: dlv is not in PATH: install it with go install ") {
			t.Errorf("without dlv: %s", out)
		}
	}
	// One that says what it is told, and is left at once.
	script := "#!/bin/sh\ncat \"$5\"\nls -l /proc/self/fd/3\n"
	if err := os.WriteFile(filepath.Join(bin, "dlv"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	told := regexp.MustCompile(`(?s)break failure \S+/lost_update_test\.go:\d+\ncondition failure runtime\.hd\.pos >= \d+\nbreak ending runtime\.hdFinish\n.*\ncontinue\n.*memfd:heddle`)
	if out := run(path); !told.MatchString(out) || !strings.Contains(out, "heddle: the debugger ended before the execution began") {
		t.Errorf("told: %s", out)
	}
	if _, err := exec.LookPath("dlv"); err != nil {
		t.Log("dlv is not installed: a session is not tested")
		return
	}
	stopped := regexp.MustCompile(`(?s)\[failure\] heddletest/fail/lost_update\.TestDeposits.*\[ending\] runtime\.hdFinish`)
	if out := run(); !stopped.MatchString(out) {
		t.Errorf("session: %s", out)
	}
}

// The same test is the same under every release that heddle knows: found and replayed.
func TestGoReleases(t *testing.T) {
	for _, version := range need.OtherGoReleases() {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			dir := goModule(t, "fail/abba")
			env := []string{"GOTOOLCHAIN=" + need.GoRelease(t, version)}
			tests, _ := runTest(t, dir, env, exitFound, "./fail/abba")
			if r := tests[0]; r.Finding == nil || r.Finding.Kind != "deadlock" {
				t.Fatalf("%+v", r)
			}
			cmd := heddleCommand(t, dir, env, "replay", "-q", tests[0].Trace)
			if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitFound {
				t.Errorf("%s", out)
			}
		})
	}
}

// A program that is not a test: one execution is all of its main.
func TestGoMain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		// The main goroutine does not wait for both.
		"main.go": `package main

import (
	"fmt"
	"os"
	"sync"
)

func main() {
	var mu sync.Mutex
	done := make(chan bool, 2)
	paid := 0
	for range 2 {
		go func() {
			mu.Lock()
			paid += len(os.Args)
			mu.Unlock()
			done <- true
		}()
	}
	<-done
	mu.Lock()
	defer mu.Unlock()
	if paid != 2*len(os.Args) {
		panic(fmt.Sprint("paid ", paid))
	}
}
`} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	found := runJSON[findJSON](t, dir, exitFound, "find", "--json", "-o", "x.hdl", "--", ".", "a", "b")
	if found.Finding == nil || found.Finding.Kind != "panic" || !strings.HasSuffix(found.Finding.Message, "paid 3") {
		t.Fatalf("%+v", found.Finding)
	}
	if again := runJSON[replayJSON](t, t.TempDir(), exitFound, "replay", "--json", filepath.Join(dir, "x.hdl")); !again.Same {
		t.Errorf("%+v", again)
	}
}

// A guard of an hour runs out only where any delay is taken to be possible.
func TestGoEarlyTimeouts(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"m_test.go": `package m

import (
	"testing"
	"time"
)

func TestGuard(t *testing.T) {
	done := make(chan bool)
	go func() { close(done) }()
	select {
	case <-done:
	case <-time.After(time.Hour):
		t.Error("an hour is over")
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	runTest(t, dir, nil, exitNothing, "-count=1000")
	tests, _ := runTest(t, dir, nil, exitFound, "--early-timeouts")
	if f := tests[0].Finding; f == nil || f.Message != "an hour is over" {
		t.Fatalf("%+v", tests[0])
	}
	cmd := heddleCommand(t, dir, nil, "replay", "-q", tests[0].Trace)
	if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != exitFound {
		t.Errorf("%s", out)
	}
}

// Two goroutines take two locks in opposite orders, and a guard ends the test after ten seconds.
// Simplified, the failure is still the deadlock: no guard overtakes a goroutine that could run.
func TestGoSimplifiedGuard(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/m\n\ngo 1.24\n",
		"m_test.go": `package m

import (
	"sync"
	"testing"
	"time"
)

func TestWatch(t *testing.T) {
	var a, b sync.Mutex
	done := make(chan bool, 2)
	go func() { a.Lock(); b.Lock(); b.Unlock(); a.Unlock(); done <- true }()
	go func() { b.Lock(); a.Lock(); a.Unlock(); b.Unlock(); done <- true }()
	for range 2 {
		select {
		case <-done:
		case <-time.After(10 * time.Second):
			t.Fatal("stuck")
		}
	}
}
`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, flags := range [][]string{{"--no-early-timeouts"}, nil} {
		tests, _ := runTest(t, dir, nil, exitFound, append(flags, "-timeout=30s")...)
		r := tests[0]
		if r.Finding == nil || r.Finding.Message != "stuck" || r.Simplified == nil {
			t.Fatalf("%v: %+v", flags, r)
		}
		tr, err := trace.ReadFile(filepath.Join(dir, r.Trace))
		if err != nil {
			t.Fatal(err)
		}
		if n := tr.Overtakings(); n != 0 || r.Finding.EarlyTimeouts != 0 || len(tr.Threads) < 4 {
			t.Errorf("%v: %d overtakings, %d early, %d threads", flags, n, r.Finding.EarlyTimeouts, len(tr.Threads))
		}
		if err := os.RemoveAll(filepath.Join(dir, kept.Dir)); err != nil {
			t.Fatal(err)
		}
	}
}
