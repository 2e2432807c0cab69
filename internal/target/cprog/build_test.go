package cprog

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/schedule"
)

// theRuntime is the runtime, built once for all tests.
var theRuntime = sync.OnceValues(func() (string, error) {
	rt, err := runtimecache.Build(context.Background())
	return rt.Library, err
})

// compile builds a C or C++ source for ThreadSanitizer, whose place the runtime takes.
func compile(t testing.TB, source string, flags ...string) string {
	t.Helper()
	dir := t.TempDir()
	file := source
	if !filepath.IsAbs(source) && filepath.Ext(source) != ".c" {
		file = filepath.Join(dir, "prog.c")
		if err := os.WriteFile(file, []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	out := filepath.Join(dir, "prog")
	args := append([]string{"-g", "-O1", "-pthread", "-fsanitize=thread", "-fno-builtin-memcpy", "-o", out, file}, flags...)
	driver := "gcc"
	if filepath.Ext(file) == ".cc" {
		driver = "g++"
	}
	need.Tool(t, driver)
	if b, err := exec.Command(driver, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", driver, args, err, b)
	}
	return out
}

// compilePlugin builds a shared library.
func compilePlugin(t testing.TB, file, out string, flags ...string) {
	t.Helper()
	args := append([]string{"-g", "-O1", "-pthread", "-fsanitize=thread", "-shared", "-fPIC", "-DPLUGIN", "-o", out, file}, flags...)
	if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
		t.Fatalf("gcc %v: %v\n%s", args, err, b)
	}
}

func start(t testing.TB, prog string, args ...string) *Target {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: append([]string{prog}, args...), Dir: filepath.Dir(prog), Runtime: lib})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

func run(t testing.TB, tg *Target, p schedule.Plan) schedule.Outcome {
	t.Helper()
	o, err := tg.Run(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func testProgram(name string) string {
	dir, err := filepath.Abs("../../../testdata/programs")
	if err != nil {
		panic(err)
	}
	return filepath.Join(dir, name)
}

// alone runs a program without heddle: what a test says of a call must be true of the system's.
// One of five attempts must succeed: some programs assert times, and a loaded machine is late.
func alone(t testing.TB, prog string) {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for attempt := 1; ; attempt++ {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		cmd := exec.CommandContext(ctx, prog)
		cmd.Dir = filepath.Dir(prog)
		cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib) // passive
		b, err := cmd.CombinedOutput()
		cancel()
		switch {
		case err == nil:
			return
		case attempt == 5:
			t.Fatalf("without heddle: %v\n%s", err, b)
		}
		t.Logf("without heddle, attempt %d: %v\n%s", attempt, err, b)
	}
}
