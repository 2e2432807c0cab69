package symbol

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Other versions of the compilers, where they are installed: what the samples say of
// themselves is confirmed. The other tests are about those that are called gcc and clang.
func TestOtherVersions(t *testing.T) {
	version := func(path string) string {
		out, err := exec.Command(path, "--version").Output()
		if err != nil {
			t.Fatal(err)
		}
		first, _, _ := strings.Cut(string(out), "\n")
		return first
	}
	known := map[string]bool{}
	for _, name := range []string{"gcc", "clang"} {
		if path, err := exec.LookPath(name); err == nil {
			path, _ = filepath.EvalSymlinks(path)
			known[path] = true
		}
	}
	for _, name := range []string{"gcc-11", "gcc-12", "gcc-13", "gcc-14", "clang-13", "clang-14", "clang-15", "clang-16", "clang-17", "clang-18", "clang-19"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path, err := exec.LookPath(name)
			if err != nil {
				t.Skipf("%s is not installed", name) // nothing needs this version
			}
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				t.Fatal(err)
			}
			if known[real] {
				t.Skip("the other tests are about it")
			}
			t.Log(version(path))
			for _, flags := range []string{
				"-gdwarf-4 -O2", "-gdwarf-5 -O0", "-gdwarf-5 -O2", "-gdwarf-5 -O3 -fno-pie -no-pie -gz",
				"-gdwarf-5 -O1 -fdebug-types-section", "-gdwarf-5 -O1 -gsplit-dwarf", "-gdwarf-4 -O2 -gsplit-dwarf", "-gdwarf-5 -O1 -gz=zstd",
			} {
				t.Run(flags, func(t *testing.T) {
					b := build{name, strings.Fields(flags)}
					if strings.Contains(flags, "zstd") && exec.Command(path, "-gz=zstd", "-E", "-o", "/dev/null", "-x", "c", "/dev/null").Run() != nil {
						t.Skip("the compiler does not know zstd")
					}
					for _, sources := range [][]string{{"sample.c"}, {"sample.cc", "shape.cc"}} {
						program := b.compileApart(t, sources...)
						check(t, tableFor(t, program), claimsOf(t, program))
					}
				})
			}
		})
	}
}
