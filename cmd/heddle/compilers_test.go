package main

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// someCompiler is a C compiler and the C++ compiler that belongs to it.
type someCompiler struct{ cc, cxx, version string }

func (c someCompiler) clang() bool { return strings.HasPrefix(c.cc, "clang") }

// env makes heddle use it, for programs and for the runtime.
func (c someCompiler) env() []string { return []string{"HEDDLE_CC=" + c.cc, "HEDDLE_CXX=" + c.cxx} }

// eachInstalledCompiler runs a test with every version of gcc and clang that is installed, once
// where it has two names, and prints which these are.
func eachInstalledCompiler(t *testing.T, test func(*testing.T, someCompiler)) {
	seen := map[string]bool{}
	for _, name := range []string{"gcc", "clang", "gcc-11", "gcc-12", "gcc-13", "gcc-14", "clang-13", "clang-14", "clang-15", "clang-16", "clang-17", "clang-18", "clang-19"} {
		t.Run(name, func(t *testing.T) {
			c := someCompiler{cc: name, cxx: strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(name)}
			var path string
			for _, n := range []string{c.cxx, c.cc} {
				var err error
				if path, err = exec.LookPath(n); err != nil {
					t.Skipf("%s is not installed", n) // nothing needs this version
				}
			}
			real, err := filepath.EvalSymlinks(path)
			if err != nil {
				t.Fatal(err)
			}
			if seen[real] {
				t.Skipf("%s is one of those before", name)
			}
			seen[real] = true
			out, err := exec.Command(path, "--version").Output()
			if err != nil {
				t.Fatal(err)
			}
			c.version, _, _ = strings.Cut(string(out), "\n")
			t.Log(c.version)
			test(t, c)
		})
	}
}

// kinds is a program for every kind of failure, and for what is different between compilers:
// copies of structs, volatile accesses, 128-bit atomics, what C++20's headers are made of.
var kinds = []string{
	"struct_copy_tear.c", "null_publish.c", "three_way_deadlock.c", "use_after_free_threads.c", "exit_status_race.c",
	"tss_statistics.c", "flag_spin.c", "aba_stack.c", "cxx_exception_race.cc", "cxx_semaphore_slots.cc", "cxx_promise_deadlock.cc",
}

// With every compiler that is installed the runtime, built by it, finds and replays what it
// has to, and nothing in the correct twins.
func TestEveryCompiler(t *testing.T) {
	eachInstalledCompiler(t, func(t *testing.T, c someCompiler) {
		t.Parallel()
		for _, name := range kinds {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				dir := t.TempDir()
				e := readExpectation(t, filepath.Join(repository(t), "testdata/programs/fail", name))
				compileProgram(t, e, c.cc, "-O2", filepath.Join(dir, "fail"))
				var out findJSON
				if status := jsonOf(t, heddleCommand(t, dir, c.env(), e.find("./fail", "--time", "20s")...), &out); status != exitFound {
					t.Fatalf("%+v", out)
				}
				if f := out.Finding; f.Kind != e.kind || !strings.Contains(f.Message+" "+f.Where, e.finding) {
					t.Errorf("found %s: %s at %s; want %s: %s", f.Kind, f.Message, f.Where, e.kind, e.finding)
				}
				if s := out.Simplified; e.minimum && (s.Switches != e.switches || e.preemptions >= 0 && s.Preemptions != e.preemptions) {
					t.Errorf("simplified to %d switches, %d preemptions; stated minimum %d, %d", s.Switches, s.Preemptions, e.switches, e.preemptions)
				}
				for _, n := range out.Notes {
					t.Errorf("note: %s", n)
				}
				var again replayJSON
				jsonOf(t, heddleCommand(t, dir, c.env(), "replay", "--json", "--times", "20", out.Simplified.Trace), &again)
				if !again.Same || again.Outcome != "found" {
					t.Errorf("replay: %+v", again)
				}

				e = readExpectation(t, filepath.Join(repository(t), "testdata/programs/pass", name))
				compileProgram(t, e, c.cc, "-O2", filepath.Join(dir, "pass"))
				var clean findJSON
				if status := jsonOf(t, heddleCommand(t, dir, c.env(), e.find("./pass", "--time", "0", "--runs", "300")...), &clean); status != exitNothing || len(clean.Notes) > 0 {
					t.Errorf("the twin: %+v", clean)
				}
			})
		}
	})
}

// However a program is compiled and linked, its bug is found, and reported by source line, through
// inlined functions.
func TestBuildOptions(t *testing.T) {
	both := []string{
		"-O0", "-O3", "-O2 -flto", "-O2 -no-pie -fno-pie", "-O2 -fPIE -pie", "-O2 -static-libstdc++ -static-libgcc", "-O2 -fno-plt",
		"-O2 -D_FORTIFY_SOURCE=2 -fstack-protector-all -fcf-protection=full -Wl,-z,relro,-z,now",
		"-Os -ffunction-sections -Wl,--gc-sections", "-O2 -fuse-ld=gold", "-O2 -fuse-ld=lld",
		"-O1 -gdwarf-4 -fdebug-types-section -gz", "-O1 -gdwarf-5 -gz=zlib", "-O1 -gz=zstd",
		"-O1 -gdwarf-4 -gsplit-dwarf", "-O1 -gdwarf-5 -gsplit-dwarf -gz",
	}
	clangs := []string{
		"-O2 -flto=full -fuse-ld=lld", "-O2 -flto=thin -fuse-ld=lld", "-O2 -flto=thin -fuse-ld=gold", "-O2 -stdlib=libc++", "-O1 -gline-tables-only",
		"-O1 -fuse-ld=lld -Wl,--compress-debug-sections=zstd",
	}
	source := filepath.Join(repository(t), "testdata/programs/fail/cxx_inlined_update.cc")
	eachInstalledCompiler(t, func(t *testing.T, c someCompiler) {
		t.Parallel()
		all := both
		if c.clang() {
			all = append(all[:len(all):len(all)], clangs...)
		}
		for _, flags := range all {
			t.Run(flags, func(t *testing.T) {
				t.Parallel()
				c.can(t, flags)
				e := readExpectation(t, source)
				dir := t.TempDir()
				prog := filepath.Join(dir, "prog")
				args := append(append([]string{"c++", "-g", "-o", prog, source}, e.flags...), strings.Fields(flags)...)
				if out, err := heddleCommand(t, dir, c.env(), args...).CombinedOutput(); err != nil || len(out) > 0 {
					t.Fatalf("%v\n%s", err, out)
				}
				var r findJSON
				status := jsonOf(t, heddleCommand(t, dir, nil, e.find(prog, "--time=30s")...), &r)
				if status != exitFound || r.Finding.Kind != e.kind || !strings.HasSuffix(r.Finding.Where, "audit cxx_inlined_update.cc:18") {
					t.Fatalf("ended with %d: %+v %+v", status, r, r.Finding)
				}
				shown, err := heddleCommand(t, dir, nil, "show", r.Simplified.Trace).Output()
				if err != nil || !strings.Contains(string(shown), "d_update.cc:17") {
					t.Errorf("the access in an inlined function is not shown by its line: %v\n%s", err, shown)
				}
				if again := heddleCommand(t, dir, nil, "replay", "--quiet", r.Trace); again.Run() == nil || again.ProcessState.ExitCode() != exitFound {
					t.Errorf("the replay ended with %d", again.ProcessState.ExitCode())
				}
			})
		}
	})
}

// can skips a test where the compiler, its linker or its library does not know the options: it
// makes nothing of them without heddle, either.
func (c someCompiler) can(t *testing.T, flags string) {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "try.cc")
	if err := os.WriteFile(file, []byte("#include <string>\nint main(int n, char **v) { return std::string(v[0]).size() == 0 && n; }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(c.cxx, append([]string{"-g", "-Werror", "-o", "try", file}, strings.Fields(flags)...)...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		first, _, _ := strings.Cut(string(out), "\n")
		t.Skipf("not with this compiler: %s", first)
	}
}

// The runtime stands in for memcpy and similar ones. A compiler that makes a call of one out of a
// struct's copy in the runtime would make that an access of the program's.
func TestRuntimeDoesNotCallItsOwn(t *testing.T) {
	eachInstalledCompiler(t, func(t *testing.T, c someCompiler) {
		t.Setenv("HEDDLE_CC", c.cc)
		lib, err := elf.Open(sharedRuntime(t))
		if err != nil {
			t.Fatal(err)
		}
		defer lib.Close()
		symbols, err := lib.Symbols()
		if err != nil {
			t.Fatal(err)
		}
		address := map[uint64]string{}
		for _, s := range symbols {
			switch s.Name {
			case "memcpy", "memmove", "memset", "__tsan_memcpy", "__tsan_memmove", "__tsan_memset":
				address[s.Value] = s.Name
			}
		}
		if len(address) != 6 {
			t.Fatalf("of memcpy and similar functions these exist: %v", address)
		}
		function := func(pc uint64) string {
			for _, s := range symbols {
				if elf.ST_TYPE(s.Info) == elf.STT_FUNC && pc >= s.Value && pc < s.Value+s.Size {
					return s.Name
				}
			}
			return "?"
		}
		for _, s := range lib.Sections {
			if s.Flags&elf.SHF_EXECINSTR == 0 {
				continue
			}
			code, err := s.Data()
			if err != nil {
				t.Fatal(err)
			}
			// call and jmp with a 32-bit distance; other bytes that look like one do not
			// meet one of six addresses.
			for i := 0; i+5 <= len(code); i++ {
				if code[i] != 0xe8 && code[i] != 0xe9 {
					continue
				}
				next := s.Addr + uint64(i) + 5
				to := next + uint64(int64(int32(binary.LittleEndian.Uint32(code[i+1:]))))
				if name, ok := address[to]; ok {
					t.Errorf("%s calls %s", function(next-5), name)
				}
			}
		}
	})
}
