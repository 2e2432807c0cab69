package gotool

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// The releases of Go 1 that heddle supports.
const (
	OldestRelease = 24
	NewestRelease = 27
)

var releaseForm = regexp.MustCompile(`\bgo1\.(\d+)`)

// Releases names the supported releases in messages.
var Releases = fmt.Sprintf("Go 1.%d to 1.%d", OldestRelease, NewestRelease)

// release returns the n of Go 1.n, 0 if the version has none.
func release(version string) int {
	m := releaseForm.FindStringSubmatch(version)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

// Supported returns in one sentence why heddle cannot run programs of this release; nil if it can.
func (t *Tool) Supported() error {
	if n := release(t.Version); n < OldestRelease || n > NewestRelease {
		do := "choose one of these with --go, or with GOTOOLCHAIN"
		if n > NewestRelease { // go.mod may allow no older one
			do = "install a newer heddle, or " + do
		}
		return fmt.Errorf("%s is %s, and heddle knows the runtimes of %s: %s", t.Path, t.Version, Releases, do)
	}
	if t.OS != "linux" || t.Arch != "amd64" {
		return fmt.Errorf("%s builds for %s/%s, and heddle runs programs for linux/amd64: unset GOOS and GOARCH", t.Path, t.OS, t.Arch)
	}
	if _, err := os.Stat(filepath.Join(t.Root, "src", "runtime", "proc.go")); err != nil {
		return fmt.Errorf("the Go installation in %s lacks the sources of its runtime, which heddle extends: install Go from https://go.dev/dl, or name another with --go", t.Root)
	}
	return nil
}
