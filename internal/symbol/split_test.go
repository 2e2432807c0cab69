package symbol

import (
	gocontext "context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// compileApart compiles each source separately, so that the files that hold the split units
// lie beside the program, and links them. It skips the test if the tools cannot do it.
func (b build) compileApart(t *testing.T, sources ...string) string {
	t.Helper()
	dir := t.TempDir()
	driver := b.cc
	if filepath.Ext(sources[0]) == ".cc" {
		driver = strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(b.cc)
	}
	need.Tool(t, driver)
	link := append([]string{"-Wl,--build-id", "-o", "sample"}, b.flags...)
	for _, s := range sources {
		abs, err := filepath.Abs(filepath.Join("testdata", s))
		if err != nil {
			t.Fatal(err)
		}
		object := strings.TrimSuffix(s, filepath.Ext(s)) + ".o"
		cmd := exec.Command(driver, append([]string{"-fno-optimize-sibling-calls", "-c", abs, "-o", object}, b.flags...)...)
		cmd.Dir = dir
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
		}
		link = append(link, object)
	}
	cmd := exec.Command(driver, append(link, "-lpthread", "-ldl")...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	return filepath.Join(dir, "sample")
}

// Units in files of their own, or gathered in one, name as much as those in the program.
func TestSplit(t *testing.T) {
	// Binutils' dwp does not know DWARF 5, and LLVM's does not end with GCC's; compressed
	// sections are too much for it.
	packers := map[string]string{"gcc-gdwarf-4": "dwp", "clang-gdwarf-4": "llvm-dwp", "clang-gdwarf-5": "llvm-dwp"}
	for _, cc := range []string{"gcc", "clang"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			for _, more := range [][]string{{"-O0"}, {"-O2"}, {"-O1", "-fdebug-types-section"}, {"-O1", "-ffunction-sections", "-gz"}} {
				b := build{cc, append([]string{"-g", version, "-gsplit-dwarf", "-fPIE", "-pie"}, more...)}
				t.Run(b.String(), func(t *testing.T) {
					t.Parallel()
					for _, sources := range [][]string{{"sample.c"}, {"sample.cc", "shape.cc"}} {
						program := b.compileApart(t, sources...)
						claims := claimsOf(t, program)
						check(t, tableFor(t, program), claims)
						dwos, _ := filepath.Glob(filepath.Join(filepath.Dir(program), "*.dwo"))
						if len(dwos) != len(sources) {
							t.Fatalf("%d split files for %v", len(dwos), sources)
						}
						if packer := packers[cc+version]; packer == "" || slices.Contains(more, "-gz") {
							t.Logf("not packed: no packer takes this")
						} else if path, err := exec.LookPath(packer); err != nil {
							t.Logf("not packed: %v", err)
						} else {
							ctx, stop := gocontext.WithTimeout(t.Context(), time.Minute) // one that does not end fails
							defer stop()
							cmd := exec.CommandContext(ctx, path, "-e", program, "-o", program+".dwp")
							cmd.Dir = filepath.Dir(program)
							if out, err := cmd.CombinedOutput(); err != nil {
								t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
							}
							for _, f := range dwos {
								if err := os.Remove(f); err != nil {
									t.Fatal(err)
								}
							}
							check(t, tableFor(t, program), claims)
						}
					}
				})
			}
		}
	}
}

// Types that are in units of their own.
func TestTypeUnits(t *testing.T) {
	for _, cc := range []string{"gcc", "clang"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			b := build{cc, []string{"-g", version, "-O1", "-fdebug-types-section", "-fPIE", "-pie"}}
			t.Run(b.String(), func(t *testing.T) {
				t.Parallel()
				c := b.compile(t, "sample.c")
				check(t, tableFor(t, c), claimsOf(t, c))
				cc := b.compile(t, "sample.cc", "shape.cc")
				check(t, tableFor(t, cc), claimsOf(t, cc))
			})
		}
	}
}

// Sections as the linker and objcopy compress them.
func TestCompressed(t *testing.T) {
	for _, how := range []string{"zlib", "zstd", "zlib-gnu"} {
		b := build{"gcc", []string{"-g", "-O1", "-fPIE", "-pie"}}
		program := b.compile(t, "sample.c")
		claims := claimsOf(t, program)
		cmd := exec.Command(need.Tool(t, "objcopy"), "--compress-debug-sections="+how, program)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Logf("not with %s: %s", how, out)
			continue
		}
		check(t, tableFor(t, program), claims)
	}
}

// Without the file, or with that of another build, lines and the names of functions are
// still named, and a message names what is missing.
func TestSplitMissing(t *testing.T) {
	for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
		b := build{"gcc", []string{"-g", version, "-O0", "-gsplit-dwarf", "-fPIE", "-pie"}}
		program := b.compileApart(t, "sample.c")
		claims := claimsOf(t, program)
		other := build{"gcc", []string{"-g", version, "-O1", "-gsplit-dwarf", "-fPIE", "-pie"}}.compileApart(t, "sample.c")
		dwo := filepath.Join(filepath.Dir(program), "sample.dwo")
		for _, c := range []struct{ want, source string }{
			{"sample.dwo is of another build; build the program again", filepath.Join(filepath.Dir(other), "sample.dwo")},
			{"sample.dwo cannot be read (no such file or directory); keep it", ""},
			{"sample.dwo cannot be read (not an ELF file)", "testdata/sample.c"},
		} {
			os.Remove(dwo)
			if c.source != "" {
				bytes, err := os.ReadFile(c.source)
				if err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(dwo, bytes, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			tab := tableFor(t, program)
			for _, claim := range claims {
				if claim.kind != "call" {
					continue
				}
				f := tab.Call(trace.MakeSite(0, claim.offset))
				if last := f[len(f)-1]; !last.Known() || last.Func == "" {
					t.Errorf("%s: %v", c.want, f)
				}
			}
			if p := tab.Problems(); len(p) != 1 || !strings.Contains(p[0].Error(), c.want) {
				t.Errorf("problems are %v, want %s", p, c.want)
			}
		}
	}
}
