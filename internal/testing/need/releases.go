package need

import (
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
)

// KnownGoReleases are the newest releases that tests know of each Go 1.n that heddle supports
// (gotool.OldestRelease to NewestRelease). The go command fetches those that are not installed.
var KnownGoReleases = []string{"go1.24.12", "go1.25.6", "go1.26.8", "go1.27.4"}

// GoReleases are the releases that tests try: KnownGoReleases, or the one that HEDDLE_GO_RELEASE names. That may be one
// which heddle does not support yet (CONTRIBUTING.md), or local for the go command in PATH, whatever it is.
var GoReleases = func() []string {
	if r := os.Getenv("HEDDLE_GO_RELEASE"); r != "" {
		return []string{r}
	}
	return KnownGoReleases
}()

// BuiltGoReleases are those of GoReleases with which tests build the standard library: without make whole, the oldest, the
// newest and the one that runs the tests.
func BuiltGoReleases() (releases []string) {
	for i, r := range GoReleases {
		if Whole() || i == 0 || i == len(GoReleases)-1 || r == runtime.Version() {
			releases = append(releases, r)
		}
	}
	return releases
}

// OtherGoReleases are BuiltGoReleases without the one that runs the tests.
func OtherGoReleases() (releases []string) {
	for _, r := range BuiltGoReleases() {
		if r != runtime.Version() {
			releases = append(releases, r)
		}
	}
	return releases
}

// GoRelease returns the value of GOTOOLCHAIN that makes the go command a release. It skips the test if the go command
// neither has the release nor can fetch it, or fails as Tool does.
func GoRelease(t testing.TB, release string) string {
	t.Helper()
	if release == runtime.Version() || release == "local" {
		return "local"
	}
	cmd := exec.CommandContext(t.Context(), "go", "version")
	cmd.Dir = t.TempDir() // a toolchain line of a module would be obeyed
	cmd.Env = append(os.Environ(), "GOTOOLCHAIN="+release)
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), release+" ") {
		report := t.Skipf
		if os.Getenv("HEDDLE_TOOLS") == "required" {
			report = t.Fatalf
		}
		report("%s is not on this machine and cannot be fetched (GOTOOLCHAIN=%s go version): %v\n%s", release, release, err, out)
	}
	return release
}
