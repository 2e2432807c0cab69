package symbol

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/symbol/cxxname"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/trace"
)

// oracleFrame is a frame as addr2line -i -f prints it.
type oracleFrame struct {
	fn, file string
	line     int
}

// oracles names the addr2line of each compiler's own tools: they agree on what both can
// read, but binutils 2.40 loses inlined frames of clang's DWARF 5 that have equal ranges.
var oracles = map[string]string{"gcc": "addr2line", "clang": "llvm-addr2line"}

// addr2line asks an oracle for the frames of many addresses.
func addr2line(t *testing.T, oracle, path string, addrs []uint64) [][]oracleFrame {
	t.Helper()
	var in, out bytes.Buffer
	for _, a := range addrs {
		fmt.Fprintf(&in, "%#x\n", a)
	}
	c := exec.Command(need.Tool(t, oracle), "-a", "-i", "-f", "-e", path)
	c.Stdin, c.Stdout = &in, &out
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	var all [][]oracleFrame
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	for i := 0; i < len(lines); {
		if strings.HasPrefix(lines[i], "0x") {
			all = append(all, nil)
			i++
			continue
		}
		f := oracleFrame{fn: lines[i]}
		place, _, _ := strings.Cut(lines[i+1], " (discriminator")
		colon := strings.LastIndex(place, ":")
		f.file = place[:colon]
		f.line, _ = strconv.Atoi(place[colon+1:]) // "?" is 0
		all[len(all)-1] = append(all[len(all)-1], f)
		i += 2
	}
	if len(all) != len(addrs) {
		t.Fatalf("addr2line answered %d of %d addresses", len(all), len(addrs))
	}
	return all
}

// ownCode is count addresses spread over the functions that path defines itself.
func ownCode(t *testing.T, path string, count int) []uint64 {
	t.Helper()
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	syms, err := f.Symbols()
	if err != nil {
		t.Fatal(err)
	}
	var all []uint64
	for _, s := range syms {
		if elf.ST_TYPE(s.Info) == elf.STT_FUNC && s.Size > 0 {
			for a := s.Value; a < s.Value+s.Size; a++ {
				all = append(all, a)
			}
		}
	}
	step := max(1, len(all)/count)
	var out []uint64
	for i := 0; i < len(all); i += step {
		out = append(out, all[i])
	}
	return out
}

func TestAgainstAddr2line(t *testing.T) {
	cases := []build{
		{"gcc", []string{"-gdwarf-4", "-O0"}}, {"gcc", []string{"-gdwarf-4", "-O2"}},
		{"gcc", []string{"-gdwarf-5", "-O2"}}, {"gcc", []string{"-gdwarf-5", "-O3", "-fno-pie", "-no-pie", "-gz"}},
		{"clang", []string{"-gdwarf-4", "-O2"}}, {"clang", []string{"-gdwarf-5", "-O0"}},
		{"clang", []string{"-gdwarf-5", "-O2", "-ffunction-sections", "-Wl,--gc-sections"}},
	}
	if testing.Short() {
		cases = []build{cases[2], cases[4]}
	}
	for _, b := range cases {
		t.Run(b.String(), func(t *testing.T) {
			t.Parallel()
			path := b.compile(t, "sample.cc", "shape.cc")
			tab := tableFor(t, path)
			addrs := ownCode(t, path, 400)
			same, inlined := 0, 0
			for i, want := range addr2line(t, oracles[b.cc], path, addrs) {
				got := tab.Exact(trace.MakeSite(0, addrs[i]))
				if want[0].file == "??" || want[0].file == "" {
					continue // start-up code without debug information
				}
				if len(want) > 1 {
					inlined++
				}
				if err := agrees(got, want); err != "" {
					t.Errorf("%#x: %s\n  got  %v\n  want %v", addrs[i], err, got, want)
				}
				same++
			}
			if same < 250 {
				t.Errorf("only %d addresses were compared", same)
			}
			if optimised := b.flags[1] != "-O0"; optimised && inlined < 5 {
				t.Errorf("only %d addresses had inlined frames", inlined)
			}
		})
	}
}

// agrees compares a chain with the oracle's; empty if they say the same.
func agrees(got []Frame, want []oracleFrame) string {
	if len(got) != len(want) {
		return fmt.Sprintf("%d frames, want %d", len(got), len(want))
	}
	for i, w := range want {
		g := got[i]
		if g.Inlined && !cxxname.Mangled(g.Linkage) && w.fn == want[len(want)-1].fn {
			continue // without a linkage name binutils prints the symbol that the code is in
		}
		switch {
		case w.fn != "??" && g.Linkage != w.fn && g.Func != w.fn:
			return fmt.Sprintf("frame %d is in %s, want %s", i, g.Linkage, w.fn)
		case filepath.Clean(w.file) != g.File:
			return fmt.Sprintf("frame %d is in %s, want %s", i, g.File, w.file)
		case w.line != 0 && w.line != g.Line:
			return fmt.Sprintf("frame %d is at line %d, want %d", i, g.Line, w.line)
		}
	}
	return ""
}
