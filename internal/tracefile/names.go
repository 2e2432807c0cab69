package tracefile

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/usage"
)

// Passing is in the name of an execution that does not fail, written beside the trace of one that does.
const Passing = ".pass"

// IsPassing reports whether a file has the name of such an execution.
func IsPassing(name string) bool { return strings.Contains(filepath.Base(name), Passing+".") }

// Derived returns the name for a trace made from another one by a step ("min", "static"), in the
// same directory: a.hdl gives a.min.hdl, that a.min2.hdl, and so on.
func Derived(name, step string) string {
	suffix := ""
	for _, s := range []string{".hdl", ".std", ".std.gz", ".txt", ".stmt"} {
		if strings.HasSuffix(name, s) {
			suffix = s
		}
	}
	base := strings.TrimSuffix(name, suffix)
	if dot := strings.LastIndex(base, "."+step); dot > 0 {
		digits := base[dot+1+len(step):]
		if n, err := strconv.Atoi(digits); err == nil || digits == "" {
			return fmt.Sprintf("%s.%s%d%s", base[:dot], step, max(n, 1)+1, suffix)
		}
	}
	return base + "." + step + suffix
}

// NotInput rejects an output file that is the input.
func NotInput(output, input string) error {
	in, err := os.Stat(input)
	if err != nil {
		return nil // reading it reports the reason
	}
	if out, err := os.Stat(output); err == nil && os.SameFile(in, out) {
		return usage.Errorf("%s is the trace to read: give the result another name", output)
	}
	return nil
}
