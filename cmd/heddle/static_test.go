package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/heddle-dev/heddle/internal/engine"
	"github.com/heddle-dev/heddle/internal/simplify/tinertia"
	"github.com/heddle-dev/heddle/internal/target/cprog"
	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/internal/testing/tracegen"
	"github.com/heddle-dev/heddle/trace"
)

// Reordering first never ends with more context switches than executing alone, and saves
// executions in the geometric mean of the traces in which it gains something.
func TestStaticMergingFirst(t *testing.T) {
	library := sharedRuntime(t)
	var mu sync.Mutex // of the counts
	with, without, used, ratio := 0, 0, 0, 0.0
	t.Run("programs", func(t *testing.T) {
		for k, e := range expectations(t, "fail") {
			if k%2 != need.Amount(0, k%2) {
				continue
			}
			if e.partly {
				t.Logf("%s: simplifying it to the end takes longer than a test may", e.name)
				continue
			}
			t.Run(e.name, func(t *testing.T) {
				t.Parallel()
				prog := filepath.Join(t.TempDir(), e.name)
				compileProgram(t, e, "gcc", "-O1", prog)
				tg, err := cprog.Start(t.Context(), cprog.Config{Path: prog, Args: append([]string{prog}, e.args...), Dir: filepath.Dir(prog), Runtime: library})
				if err != nil {
					t.Fatal(err)
				}
				defer tg.Close()
				for seed := range uint64(need.Amount(1, 2)) {
					r, err := engine.Find(t.Context(), tg, engine.Options{Seed: seed + 1, Runs: 20000, NoSimplify: true, Spurious: slices.Contains(e.options, "--spurious"), Races: engine.RacesReported}, nil)
					if err != nil || r.Finding == nil || r.Finding.Recorded == nil {
						t.Errorf("not found (%v)", err)
						continue
					}
					a, err := engine.Simplify(t.Context(), tg, r.Finding.Recorded, engine.SimplifyOptions{}, nil)
					if err != nil {
						t.Fatal(err)
					}
					b, err := engine.Simplify(t.Context(), tg, r.Finding.Recorded, engine.SimplifyOptions{NoStatic: true}, nil)
					if err != nil {
						t.Fatal(err)
					}
					if a.Switches > b.Switches {
						t.Errorf("seed %d: %d switches with reordering first, %d without", seed+1, a.Switches, b.Switches)
					}
					t.Logf("seed %d: %d/%d in %d with, %d/%d in %d without", seed+1, a.Switches, a.Preemptions, a.Executions, b.Switches, b.Preemptions, b.Executions)
					mu.Lock()
					with += a.Executions
					without += b.Executions
					if len(a.Details.Operations) > 0 && a.Details.Operations[0].Operation == tinertia.StaticMerge {
						used++
						ratio += math.Log(float64(a.Executions) / float64(b.Executions))
					}
					mu.Unlock()
				}
			})
		}
	})
	// Of a sum, twenty_threads alone is a tenth, and chance decides how long its search takes.
	ratio = math.Exp(ratio / float64(max(used, 1)))
	t.Logf("%d executions with, %d without; reordering gained something for %d traces, for which it takes %.2f of the executions", with, without, used, ratio)
	if ratio >= 0.98 || used == 0 {
		t.Errorf("reordering first saves nothing: it takes %.2f of the executions in the geometric mean", ratio)
	}
}

// Of random traces, in every format and by every method: the derivation holds, the simplified trace is what it
// makes of the trace, and has no more context switches.
func TestStaticDerivations(t *testing.T) {
	dir := t.TempDir()
	heddle := func(args ...string) ([]byte, int) {
		t.Helper()
		var out, messages bytes.Buffer
		status := run(t.Context(), append([]string{"heddle"}, args...), &out, &messages)
		if status > 1 || messages.Len() > 0 {
			t.Fatalf("heddle %q: status %d, %s", args, status, messages.String())
		}
		return out.Bytes(), status
	}
	gained := map[string]int{}
	for seed := range uint64(need.Amount(2, 60)) {
		random := tracegen.Random(seed, tracegen.Shape{Threads: 2 + int(seed%4), Length: 3 + int(seed%12), Stay: int(seed % 8 * 12)}).Trace
		file := func(suffix string) string { return filepath.Join(dir, fmt.Sprintf("%d%s", seed, suffix)) }
		if err := trace.WriteFile(file(".hdl"), random); err != nil {
			t.Fatal(err)
		}
		for _, suffix := range []string{".std.gz", ".stmt", ".txt"} {
			heddle("convert", file(".hdl"), file(suffix))
		}
		if err := os.WriteFile(file(".hand.stmt"), statements(seed), 0o666); err != nil {
			t.Fatal(err)
		}
		for _, names := range [][2]string{{".hdl", ".hdl"}, {".hdl", ".stmt"}, {".hdl", ".std"}, {".std.gz", ".std"}, {".std.gz", ".hdl"}, {".stmt", ".stmt"}, {".txt", ".txt"}, {".hand.stmt", ".stmt"}} {
			in, out, proof := file(names[0]), file(".out"+names[1]), file(".derivation")
			most := -1
			for _, method := range []string{"fewest", "merge", "simtrace", "bintrcred"} {
				text, _ := heddle("simplify", "--static", "--json", "--method", method, "-o", out, "--derivation", proof, in)
				var r staticJSON
				if err := json.Unmarshal(text, &r); err != nil {
					t.Fatal(err)
				}
				if text, status := heddle("check", "derivation", in, proof, out); status != 0 {
					t.Errorf("%s to %s by %s: %s", in, out, method, text)
				}
				if r.After > r.Before || r.Derivation.After != r.After || r.Trace != out || method != "fewest" && r.Method != method {
					t.Errorf("%s by %s: %+v with the derivation %+v", in, method, r, *r.Derivation)
				}
				if method == "fewest" {
					most = r.After
				}
				if r.After < most {
					t.Errorf("%s: %d context switches by %s, and %d by the best method", in, r.After, method, most)
				}
				// What was written has as many.
				text, _ = heddle("simplify", "--static", "--json", "--method", "simtrace", "-o", file(".again"+names[1]), out)
				var again staticJSON
				if err := json.Unmarshal(text, &again); err != nil {
					t.Fatal(err)
				}
				if names[0] != ".hdl" || names[1] != ".std" { // in which some operations are several events, or none
					if again.Before != r.After {
						t.Errorf("%s by %s: %d context switches, and the file has %d", in, method, r.After, again.Before)
					}
				}
				if r.Before > r.After {
					gained[method]++
					if text, status := heddle("check", "derivation", in, proof, in); status != 1 {
						t.Errorf("%s by %s: the trace itself is taken for the simplified one: %s", in, method, text)
					}
				}
			}
		}
	}
	for _, method := range []string{"fewest", "merge", "simtrace", "bintrcred"} {
		if gained[method] == 0 {
			t.Errorf("%s has gained nothing", method)
		}
	}
}

// statements returns a random trace of statements, some of ranges.
func statements(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0x57a7))
	var out bytes.Buffer
	for g := range 6 {
		fmt.Fprintf(&out, "let g%d = %d\n", g, g*g)
	}
	threads := 2 + r.IntN(4)
	for range 5 + r.IntN(40) {
		op := []string{"localize", "Share"}[r.IntN(2)]
		lo := r.IntN(6)
		global := fmt.Sprintf("g%d", lo)
		if r.IntN(5) == 0 {
			global += fmt.Sprintf("..g%d", lo+r.IntN(6-lo))
		}
		fmt.Fprintf(&out, "T%d: %s(x%d, %s)\n", r.IntN(threads), op, r.IntN(3), global)
	}
	return out.Bytes()
}
