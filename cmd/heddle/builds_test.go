package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// However a program is compiled and linked, its bug is found, and told by source line.
func TestBuildOptions(t *testing.T) {
	source := filepath.Join(repository(t), "testdata/programs/fail/cxx_thread_lost_update.cc")
	for _, compiler := range []string{"gcc", "clang"} {
		for _, flags := range []string{
			"-O0", "-O3", "-O2 -flto", "-O2 -static-libstdc++ -static-libgcc", "-O2 -no-pie -fno-pie", "-O2 -fno-plt",
			"-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-all -fcf-protection=full -Wl,-z,relro,-z,now",
			"-Os -ffunction-sections -Wl,--gc-sections", "-O1 -gsplit-dwarf", "-O1 -gdwarf-4 -fdebug-types-section -gz",
		} {
			t.Run(compiler+" "+flags, func(t *testing.T) {
				t.Parallel()
				if _, err := exec.LookPath(compiler); err != nil {
					t.Skip(err)
				}
				e := readExpectation(t, source)
				dir := t.TempDir()
				prog := filepath.Join(dir, "prog")
				env := "HEDDLE_CXX=" + map[string]string{"gcc": "g++", "clang": "clang++"}[compiler]
				args := append(append([]string{"c++", "-g", "-o", prog, source}, e.flags...), strings.Fields(flags)...)
				if out, err := heddleCommand(t, dir, []string{env}, args...).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
				var r findJSON
				status := jsonOf(t, heddleCommand(t, dir, nil, e.find(prog, "--time=30s")...), &r)
				if status != exitFound || r.Finding.Kind != e.kind || !strings.Contains(r.Finding.Where, "cxx_thread_lost_update.cc:") {
					t.Fatalf("ended with %d: %+v %+v", status, r, r.Finding)
				}
				if again := heddleCommand(t, dir, nil, "replay", "--quiet", r.Trace); again.Run() == nil || again.ProcessState.ExitCode() != exitFound {
					t.Errorf("the replay ended with %d", again.ProcessState.ExitCode())
				}
			})
		}
	}
}
