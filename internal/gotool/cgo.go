package gotool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// RaceDetector returns in one sentence why programs cannot be built with Go's own race detector, a
// library that comes with Go and is linked by cgo; nil if they can.
func (t *Tool) RaceDetector(ctx context.Context) error {
	out, err := t.output(ctx, "env", "-json", "CC")
	if err != nil {
		return fmt.Errorf("the go command %s cannot be used here: %w", t.Path, err)
	}
	var env struct{ CC string }
	if err := json.Unmarshal(out, &env); err != nil {
		return fmt.Errorf("%s is not a go command: it does not answer go env -json", t.Path)
	}
	cc, err := SplitQuoted(env.CC)
	if err != nil || len(cc) == 0 {
		return fmt.Errorf("Go's race detector needs a C compiler, and CC is %q: set it to the name of one", env.CC)
	}
	if _, err := exec.LookPath(cc[0]); err != nil && !errors.Is(err, exec.ErrDot) {
		return fmt.Errorf("Go's race detector needs a C compiler, and %s cannot be run: install gcc, or name another compiler with CC", cc[0])
	}
	library := filepath.Join(t.Root, "src", "runtime", "race", "internal", "amd64v1", "race_linux.syso")
	if _, err := os.Stat(library); err != nil {
		return fmt.Errorf("the Go installation in %s lacks the library of Go's race detector (%s): install Go from https://go.dev/dl, or name another with --go",
			t.Root, strings.TrimPrefix(library, t.Root+string(filepath.Separator)))
	}
	return nil
}
