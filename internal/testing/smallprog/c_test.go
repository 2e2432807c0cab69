package smallprog

import (
	"context"
	"flag"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/target"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/runtimecache"
	"github.com/heddle-dev/heddle/internal/toolchain"
)

var compilers = flag.String("compilers", "gcc", "compilers of the interpreter, with commas between them")

// theRuntime is built once for all tests.
var theRuntime = sync.OnceValues(func() (toolchain.Runtime, error) {
	return runtimecache.Build(context.Background())
})

// interpreter builds testdata/interpreter.c.
func interpreter(t *testing.T, compiler string) string {
	t.Helper()
	need.Tool(t, compiler)
	family := toolchain.GCC
	if compiler == "clang" {
		family = toolchain.Clang
	}
	prog := filepath.Join(t.TempDir(), "interpreter")
	argv, err := toolchain.Wrap(toolchain.Compiler{Command: []string{compiler}, Family: family}, []string{"-g", "-O1", "-pthread", "-o", prog, "testdata/interpreter.c"}, theRuntime)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%q: %v\n%s", argv, err, b)
	}
	return prog
}

// TestC compares exhaustive searches with brute force on the C runtime.
func TestC(t *testing.T) {
	t.Parallel()
	n := *programs
	if n == 0 {
		n = 8
	}
	rt, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	for compiler := range strings.SplitSeq(*compilers, ",") {
		prog := interpreter(t, compiler)
		counts := map[string]int{}
		for seed := *from; seed < *from+uint64(n); seed++ {
			p := Random(seed, true)
			tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: append([]string{prog}, strings.Fields(p.String())...), Dir: filepath.Dir(prog), Runtime: rt.Library})
			if err != nil {
				t.Fatal(err)
			}
			compare(t, &p, func() target.Target { return tg }, *most, counts)
			tg.Close()
		}
		t.Log(compiler, counts)
	}
}
