package patch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// watched are the functions of the runtime whose callers matter to heddle, and why: each caller is one that heddle has a
// hook for, or that has been read and needs none.
var watched = map[string]string{}

func init() {
	for why, names := range map[string]string{
		"reads the clock":           "nanotime nanotime1 walltime time_now",
		"draws a random number":     "cheaprand cheaprandn cheaprandu64 rand randn rand32 bootstrapRand",
		"makes a goroutine run":     "execute gogo schedule",
		"makes goroutines runnable": "ready goready readyWithTime injectglist runqput runqputslow runqputbatch globrunqput globrunqputhead globrunqputbatch",
	} {
		for _, name := range strings.Fields(names) {
			watched[name] = why
		}
	}
}

// reviewed are the uses that the newest known release has and no earlier one, with what heddle does about them. The
// next release makes these known, and its own take their place.
var reviewed = map[string]string{
	"(*mLockProfile).recordUnlock calls cheaprandu64, which draws a random number": "samples contention for profiles",
	"mutexSampleContention calls cheaprandu64, which draws a random number":        "samples contention for profiles",
	"cheaprand64 calls cheaprandu64, which draws a random number":                  "its callers are watched, or sample for profiles",
	"cheaprandu64 calls cheaprand, which draws a random number":                    "not on amd64",
	"crypto_internal_fips140deps_time_monoTime calls time_now, which reads the clock": "only for the entropy of FIPS mode, which is not " +
		"drawn: drbg.Read has an edit",
	"runtime.crypto_internal_fips140deps_time_monoTime is crypto/internal/fips140deps/time.monoTime": "see the call",
	"internal/runtime/maps.bootstrapRand is runtime.bootstrapRand":                                   "keys of hashes, as before in package runtime: randinit has an edit",
	"runtime.reflect_adjustAIXGCDataForRuntime is reflect.adjustAIXGCDataForRuntime":                 "types",
	"runtime.reflect_compiledTypelinks is reflect.compiledTypelinks":                                 "types",
}

// TestNewUses names each function of the newest release that reads the clock, draws a random number or has goroutines run,
// and each linkname between the runtime and another package, which no earlier release has: no edit can miss its place
// there.
func TestNewUses(t *testing.T) {
	tried := need.GoReleases[len(need.GoReleases)-1]
	known := map[string]string{}
	for _, release := range need.KnownGoReleases {
		if release != tried {
			maps.Copy(known, uses(t, goroot(t, release)))
		}
	}
	if len(known) < 300 {
		t.Fatalf("%d uses in the releases before", len(known))
	}
	for _, said := range newUses(uses(t, goroot(t, tried)), known) {
		t.Error(said)
	}
	for use := range reviewed {
		if os.Getenv("HEDDLE_GO_RELEASE") == "" && known[use] != "" {
			t.Errorf("%q is reviewed, but not new", use)
		}
	}
}

// newUses returns a line for each use that is neither known nor reviewed.
func newUses(uses, known map[string]string) (said []string) {
	for _, use := range keys(uses) {
		if known[use] == "" && reviewed[use] == "" {
			said = append(said, fmt.Sprintf("%s: %s: new; give it an edit, or name it in reviewed with the reason why it needs none", uses[use], use))
		}
	}
	return said
}

// uses returns, for linux/amd64, what is there of the calls of watched functions and of linknames, each with its file.
func uses(t *testing.T, goroot string) map[string]string {
	t.Helper()
	out := map[string]string{}
	platform := platform(t, goroot)
	src := filepath.Join(goroot, "src")
	err := filepath.WalkDir(src, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (name == filepath.Join(src, "cmd") || d.Name() == "testdata" || strings.HasPrefix(d.Name(), "_")):
			return fs.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		rel, err := filepath.Rel(src, name)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		pkg := filepath.Dir(rel)
		if pkg != "runtime" && !bytes.Contains(text, []byte("//go:linkname")) {
			return nil
		}
		if match, err := platform.MatchFile(filepath.Dir(name), d.Name()); !match || err != nil {
			return err
		}
		for line := range bytes.Lines(text) {
			words := strings.Fields(string(line))
			if len(words) == 3 && strings.HasPrefix(words[0], "//go:linkname") {
				if from, _, _ := strings.Cut(words[2], "."); (from == "runtime") != (pkg == "runtime") {
					out[pkg+"."+words[1]+" is "+words[2]] = rel
				}
			}
		}
		if pkg == "runtime" {
			return callsOf(rel, text, out)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// platform tells which files of a release are built for linux/amd64 with its own experiments.
func platform(t *testing.T, goroot string) build.Context {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), filepath.Join(goroot, "bin", "go"), "list", "-f", `{{join context.ToolTags " "}}`, "unsafe")
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN=local", "GOROOT="+goroot, "GOFLAGS=", "GOWORK=off")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	p := build.Default
	p.GOOS, p.GOARCH, p.BuildTags, p.ToolTags = "linux", "amd64", []string{"race"}, strings.Fields(string(out))
	return p
}

// callsOf adds the calls of watched functions in a file.
func callsOf(rel string, text []byte, out map[string]string) error {
	file, err := parser.ParseFile(token.NewFileSet(), rel, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range file.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		caller := fn.Name.Name
		if fn.Recv != nil {
			caller = "(" + types.ExprString(fn.Recv.List[0].Type) + ")." + caller
		}
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				if id, ok := call.Fun.(*ast.Ident); ok && watched[id.Name] != "" {
					out[caller+" calls "+id.Name+", which "+watched[id.Name]] = rel
				}
			}
			return true
		})
	}
	return nil
}
