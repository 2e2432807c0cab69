package symbol

import (
	"debug/elf"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/trace"
)

// TestDamagedDebugInfo flips bytes of the debug sections. Any answer will do, as long as
// there is one, soon.
func TestDamagedDebugInfo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, b := range []build{
		{"gcc", []string{"-gdwarf-5", "-O2", "-fPIE", "-pie"}},
		{"clang", []string{"-gdwarf-4", "-O1", "-fPIE", "-pie"}},
		{"clang", []string{"-gdwarf-5", "-O2", "-fPIE", "-pie"}},
	} {
		program := b.compile(t, "sample.c")
		claims := claimsOf(t, program)
		ask := func(path string) {
			tab := New([]trace.Module{{Path: path}}, Options{DebugDirs: []string{}})
			for _, c := range claims {
				if len(tab.Call(trace.MakeSite(0, c.offset))) == 0 {
					t.Fatal("a chain without frames")
				}
				tab.Function(trace.MakeSite(0, c.offset))
				tab.Global(0, c.offset, c.size).Type.Format(c.bits, c.size)
			}
		}
		whole, err := os.ReadFile(program)
		if err != nil {
			t.Fatal(err)
		}
		f, err := elf.Open(program)
		if err != nil {
			t.Fatal(err)
		}
		var sections []*elf.Section
		for _, s := range f.Sections {
			if strings.HasPrefix(s.Name, ".debug_") && s.Size > 0 {
				sections = append(sections, s)
			}
		}
		f.Close()
		damaged := filepath.Join(t.TempDir(), "damaged")
		for range 150 {
			bytes := append([]byte{}, whole...)
			s := sections[rng.IntN(len(sections))]
			for range 1 + rng.IntN(8) {
				bytes[s.Offset+rng.Uint64N(s.Size)] = byte(rng.Uint32())
			}
			if err := os.WriteFile(damaged, bytes, 0o644); err != nil {
				t.Fatal(err)
			}
			// Reading an intact file takes milliseconds.
			endless := time.AfterFunc(5*time.Minute, func() { panic(fmt.Sprintf("%s with bytes of %s changed takes more than 5 minutes", b, s.Name)) })
			ask(damaged)
			endless.Stop()
		}
	}
}
