package symbol

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// build is one way to compile a sample.
type build struct {
	cc    string // "gcc" or "clang"; the C++ driver is derived from it
	flags []string
}

func (b build) String() string { return b.cc + " " + strings.Join(b.flags, " ") }

func run(t testing.TB, name string, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	c := exec.Command(name, args...)
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String()
}

// compile builds the sample's sources from testdata and returns the program's path.
func (b build) compile(t testing.TB, sources ...string) string {
	t.Helper()
	driver := b.cc
	if filepath.Ext(sources[0]) == ".cc" {
		driver = strings.NewReplacer("gcc", "g++", "clang", "clang++").Replace(b.cc)
	}
	out := filepath.Join(t.TempDir(), "sample")
	// A tail call has no return address in its caller.
	args := append([]string{"-fno-optimize-sibling-calls", "-Wl,--build-id", "-o", out}, b.flags...)
	for _, s := range sources {
		abs, err := filepath.Abs(filepath.Join("testdata", s))
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, abs)
	}
	run(t, need.Tool(t, driver), append(args, "-lpthread", "-ldl")...)
	return out
}

// tableFor is a table of the one module path, with the build id it has now.
func tableFor(t testing.TB, path string, debugDirs ...string) *Table {
	t.Helper()
	im, err := readImage(path)
	if err != nil {
		t.Fatal(err)
	}
	return New([]trace.Module{{Path: path, BuildID: im.BuildID, Program: true}}, Options{DebugDirs: append([]string{}, debugDirs...)})
}

// claim is a line that a sample prints, see testdata/sample.c.
type claim struct {
	kind   string
	offset uint64
	size   uint32
	bits   uint64
	text   string
}

func parseHex(t testing.TB, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func claimsOf(t testing.TB, program string) []claim {
	t.Helper()
	var out []claim
	for _, line := range strings.Split(strings.TrimSpace(run(t, program)), "\n") {
		parts := map[string]int{"call": 3, "entry": 3, "data": 4, "value": 5}
		f := strings.SplitN(line, " ", parts[strings.Fields(line)[0]])
		c := claim{kind: f[0], text: f[len(f)-1]}
		size := "0"
		switch c.kind {
		case "call", "entry":
			c.offset = parseHex(t, f[1])
		case "data":
			c.offset, size = parseHex(t, f[1]), f[2]
		case "value":
			c.bits, size, c.offset = parseHex(t, f[1]), f[2], parseHex(t, f[3])
		default:
			t.Fatalf("claim %q", line)
		}
		n, err := strconv.ParseUint(size, 10, 32)
		if err != nil {
			t.Fatal(err)
		}
		c.size = uint32(n)
		out = append(out, c)
	}
	return out
}

// builds is every combination the samples are tried in; with -short only some.
func builds() []build {
	if testing.Short() {
		return []build{
			{"gcc", []string{"-gdwarf-4", "-O0", "-fno-pie", "-no-pie"}},
			{"gcc", []string{"-gdwarf-5", "-O2", "-fPIE", "-pie"}},
			{"clang", []string{"-gdwarf-5", "-O2", "-fPIE", "-pie"}},
		}
	}
	var out []build
	for _, cc := range []string{"gcc", "clang"} {
		for _, version := range []string{"-gdwarf-4", "-gdwarf-5"} {
			for _, opt := range []string{"-O0", "-O2"} {
				for _, pie := range [][]string{{"-fPIE", "-pie"}, {"-fno-pie", "-no-pie"}} {
					out = append(out, build{cc, append([]string{version, "-g", opt}, pie...)})
				}
			}
		}
	}
	return append(out, build{"gcc", []string{"-g", "-O2", "-flto", "-gz", "-fPIE", "-pie"}})
}

// sourceLine is the text of a line of testdata.
func sourceLine(t testing.TB, file string, line int) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(b), "\n")
	if line < 1 || line > len(lines) {
		return fmt.Sprintf("no line %d", line)
	}
	return lines[line-1]
}
