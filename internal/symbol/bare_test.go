package symbol

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// On a machine with Go and gcc alone the tests skip what they cannot do, and say why.
func TestWithoutTools(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.v", "-test.short", "-test.run=^(TestSplit|TestAgainstAddr2line|TestDamagedDebugInfo|TestDwz|TestDebugLink|TestOtherVersions)$")
	cmd.Env = append(os.Environ(), "PATH="+need.Without(t), "HEDDLE_TOOLS=")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for _, want := range []string{"clang is not installed (Debian: apt-get install clang)", "g++ is not installed"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("no word of %q in\n%s", want, out)
		}
	}
}
