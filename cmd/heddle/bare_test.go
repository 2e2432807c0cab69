package main

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// On a machine with Go and gcc alone the tests skip what they cannot do, say why, and do the rest.
func TestWithoutTools(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^(TestConformance|TestReplayInGdb)$/^(gcc|clang|)/^(mutex|keys)$")
	cmd.Env = append(os.Environ(), "PATH="+need.Without(t), "HEDDLE_TOOLS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"clang is not installed (Debian: apt-get install clang)", "g++ is not installed", "--- PASS: TestConformance/gcc/mutex", "--- SKIP: TestConformance/clang/mutex"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no word of %q in\n%s", want, out)
		}
	}
}
