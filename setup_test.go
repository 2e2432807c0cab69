package heddle_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// What .ci/setup does on machines of several kinds. The commands that it finds are scripts.
func TestSetup(t *testing.T) {
	t.Parallel()
	bash, grep := need.Tool(t, "bash"), need.Tool(t, "grep")
	const (
		root    = "#!/bin/sh\necho 0\n"
		user    = "#!/bin/sh\necho 1000\n"
		nothing = "#!/bin/sh\n"
		refuse  = "#!/bin/sh\nexit 1\n"
		// install makes commands of the packages' names, and one that each of some others is for.
		install = `#!/bin/sh
echo "apt-get $*"
[ "$1" = install ] || exit 0
for p; do
  case $p in install | -*) continue ;; lldb) [ -z "$NO_LLDB" ] || exit 100 ;; esac
  for c in $p; do printf '#!/bin/sh\n' >"$BIN/$c"; done
  case $p in clang)
    printf '#!/bin/sh\n[ "$1" != -dumpversion ] || { echo 14.0.6; exit; }\n[ -z "$NEEDS_LIBOMP" ] || [ -e "$BIN/libomp-14-dev" ]\n' >"$BIN/clang" ;;
  esac
done
for c in addr2line llvm-dwp libtoolize protoc dot; do printf '#!/bin/sh\n' >"$BIN/$c"; done
/bin/chmod +x "$BIN"/*
`
	)
	for name, test := range map[string]struct {
		what   string
		has    map[string]string
		env    string
		status int
		says   []string
		never  []string
	}{
		"no Go": {"test", map[string]string{"gcc": nothing}, "", 1, []string{"setup: Go is missing: install Go 1.25"}, nil},
		"no package manager": {"test", map[string]string{"go": nothing, "gcc": nothing, "id": root}, "", 0,
			[]string{"missing: g++ clang binutils cmake", "there is no apt-get", "without g++ clang", "the tests that need them skip"}, nil},
		"no C compiler": {"demo", map[string]string{"go": nothing, "id": root}, "", 1,
			[]string{"missing: gcc", "a C compiler is missing: install gcc or clang, or set HEDDLE_CC"}, nil},
		"not root": {"test", map[string]string{"go": nothing, "gcc": nothing, "id": user, "apt-get": install, "sudo": refuse}, "", 0,
			[]string{"apt-get needs root: run  sudo apt-get install g++ clang"}, []string{"apt-get update", "installing"}},
		"told not to": {"test", map[string]string{"go": nothing, "gcc": nothing, "id": root, "apt-get": install}, "HEDDLE_INSTALL=no", 0,
			[]string{"HEDDLE_INSTALL=no: nothing is installed", "the tests that need them skip"}, []string{"apt-get update"}},
		"root": {"test", map[string]string{"go": nothing, "gcc": nothing, "id": root, "apt-get": install}, "", 0,
			[]string{"installing g++ clang binutils", "apt-get update -q", "apt-get install -q -y --no-install-recommends g++ clang"}, []string{"skip", "cannot install"}},
		"a package for a version of another": {"test", map[string]string{"go": nothing, "gcc": nothing, "id": root, "apt-get": install}, "NEEDS_LIBOMP=1", 0,
			[]string{"missing: libomp-14-dev", "installing libomp-14-dev"}, []string{"skip", "cannot install"}},
		"one package missing": {"test", map[string]string{"go": nothing, "gcc": nothing, "id": root, "apt-get": install}, "NO_LLDB=1", 0,
			[]string{"cannot install lldb", "without lldb, the tests that need them skip"}, []string{"cannot install gdb"}},
		"demo with clang": {"demo", map[string]string{"go": nothing, "clang": nothing}, "", 0, nil, []string{"setup:"}},
		"nobody knows":    {"rest", map[string]string{"go": nothing}, "", 2, []string{"usage: .ci/setup demo|test"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bin := t.TempDir()
			if err := os.Symlink(grep, filepath.Join(bin, "grep")); err != nil {
				t.Fatal(err)
			}
			for command, script := range test.has {
				// A process that is forked meanwhile would keep the file open for writing, and
				// then it cannot be run.
				syscall.ForkLock.RLock()
				err := os.WriteFile(filepath.Join(bin, command), []byte(script), 0o755)
				syscall.ForkLock.RUnlock()
				if err != nil {
					t.Fatal(err)
				}
			}
			cmd := exec.Command(bash, ".ci/setup", test.what)
			cmd.Env = []string{"PATH=" + bin, "BIN=" + bin, test.env}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != test.status {
				t.Errorf("exit status %d, want %d\n%s", got, test.status, out)
			}
			for _, s := range test.says {
				if !strings.Contains(string(out), s) {
					t.Errorf("no word of %q in\n%s", s, out)
				}
			}
			for _, s := range test.never {
				if strings.Contains(string(out), s) {
					t.Errorf("%q in\n%s", s, out)
				}
			}
		})
	}
}
