// Package bench has what the commands that measure heddle share: compilers, the machine, medians.
package bench

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"

	"github.com/heddle-dev/heddle/internal/toolchain"
)

// Compilers are gcc and g++, and heddle's runtime built by them.
type Compilers struct {
	C, CXX  toolchain.Compiler
	Runtime toolchain.Runtime
	Cache   string // directory of built runtimes
}

// FindCompilers uses gcc, which ThreadSanitizer's figures are for, whatever HEDDLE_CC says.
func FindCompilers(ctx context.Context) (cs Compilers, err error) {
	for name, value := range map[string]string{"HEDDLE_CC": "gcc", "HEDDLE_CXX": "g++"} {
		if err := os.Setenv(name, value); err != nil {
			return cs, err
		}
	}
	if cs.C, err = toolchain.Find(ctx, toolchain.C); err != nil {
		return cs, err
	}
	if cs.CXX, err = toolchain.Find(ctx, toolchain.CXX); err != nil {
		return cs, err
	}
	if cs.Cache, err = toolchain.CacheDir(""); err != nil {
		return cs, err
	}
	cs.Runtime, err = toolchain.Build(ctx, toolchain.Options{Compiler: cs.C, Cache: cs.Cache})
	return cs, err
}

// Compile runs a compiler with arguments, as heddle cc does if wrapped.
func (cs *Compilers) Compile(ctx context.Context, compiler toolchain.Compiler, wrapped bool, args ...string) error {
	argv := append(slices.Clone(compiler.Command), args...)
	if wrapped {
		var err error
		if argv, err = toolchain.Wrap(compiler, args, func() (toolchain.Runtime, error) { return cs.Runtime, nil }); err != nil {
			return err
		}
	}
	if msg, err := exec.CommandContext(ctx, argv[0], argv[1:]...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(argv, " "), err, msg)
	}
	return nil
}

// Host says where figures come from.
type Host struct {
	CPUs     int    `json:"cpus"`
	Model    string `json:"model"`
	Compiler string `json:"compiler"`
	Load     string `json:"load"` // averages over 1, 5 and 15 minutes, at the start
}

// ThisHost describes this machine.
func ThisHost(cs Compilers) Host {
	m := Host{CPUs: runtime.NumCPU(), Compiler: cs.C.Version}
	if b, err := os.ReadFile("/proc/loadavg"); err == nil {
		m.Load = strings.Join(strings.Fields(string(b))[:3], " ")
	}
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			m.Model = strings.TrimSpace(value)
			break
		}
	}
	return m
}

// Names splits a list at its commas.
func Names(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' })
}

// Median sorts x and returns the median, the greater of two; 0 for none.
func Median[T int | float64](x []T) (m T) {
	if len(x) > 0 {
		slices.Sort(x)
		m = x[len(x)/2]
	}
	return m
}
