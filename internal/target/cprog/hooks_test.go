package cprog

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
)

// hookKinds are the accesses of testdata/programs/bench/hooks.c.
var hookKinds = []string{
	"read8", "read16", "read32", "read64", "read128", "write8", "write16", "write32", "write64", "write128",
	"unaligned64", "copy64", "copy4096", "function",
}

// hookCost is what one access costs, without the loop around it, in ns of processor time.
type hookCost struct{ plain, watched, sanitizer float64 }

// hookCosts measures a kind of access in plain and in watched executions, and under gcc's
// ThreadSanitizer; the least of several measurements taken in turn.
func hookCosts(t testing.TB, kind string, times int) hookCost {
	t.Helper()
	source := testProgram("bench/hooks.c")
	dir := t.TempDir()
	native, sanitized := filepath.Join(dir, "native"), filepath.Join(dir, "sanitized")
	for out, flags := range map[string][]string{native: nil, sanitized: {"-fsanitize=thread"}} {
		args := append([]string{"-O1", "-pthread", "-fno-builtin-memcpy", "-o", out, source}, flags...)
		if b, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, b)
		}
	}
	// Its address space must not be random, or ThreadSanitizer may refuse to start.
	need.Tool(t, "setarch")
	alone := func(bin string) time.Duration {
		cmd := exec.CommandContext(context.Background(), "setarch", "-R", bin, kind, strconv.Itoa(times))
		if b, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", bin, err, b)
		}
		return cmd.ProcessState.UserTime()
	}
	tg := start(t, compile(t, source), kind, strconv.Itoa(times))
	var plain, watched, sanitizer, bare []time.Duration
	for range 3 {
		bare = append(bare, alone(native))
		sanitizer = append(sanitizer, alone(sanitized))
		plain = append(plain, measure(t, tg, schedule.Plan{Policy: schedule.Fair}).cpu)
		watched = append(watched, measure(t, tg, schedule.Plan{Policy: schedule.Fair, Watch: true}).cpu)
	}
	loop := slices.Min(bare)
	each := func(d []time.Duration) float64 { return float64(slices.Min(d)-loop) / float64(times) }
	return hookCost{each(plain), each(watched), each(sanitizer)}
}

// BenchmarkHooks measures each access hook. An operation is an access, a copy or a call.
func BenchmarkHooks(b *testing.B) {
	for _, kind := range hookKinds {
		b.Run(kind, func(b *testing.B) {
			times := 20_000_000
			if kind == "copy4096" {
				times /= 100
			}
			c := hookCosts(b, kind, times)
			b.ReportMetric(c.plain, "plain-ns")
			b.ReportMetric(c.watched, "watched-ns")
			b.ReportMetric(c.sanitizer, "sanitizer-ns")
			b.ReportMetric(c.plain/c.sanitizer, "plain/sanitizer")
			b.ReportMetric(c.watched/c.sanitizer, "watched/sanitizer")
		})
	}
}
