package gotest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/heddle-dev/heddle/internal/gotool"
	"github.com/heddle-dev/heddle/internal/result"
	"github.com/heddle-dev/heddle/internal/wholefile"
)

// Cover says that coverage is measured, over all executions. The build flags of the recipe say of what.
type Cover struct {
	// Mode is what the profile says it is: set, count or atomic. Tests are built with set or count, since one goroutine
	// runs at a time, and atomic counters would be scheduling points that order goroutines.
	Mode    string
	Profile string // file for the profile; empty for none
}

// BuildMode returns the mode with which tests are built.
func (c *Cover) BuildMode() string {
	if c.Mode == "atomic" {
		return "count"
	}
	return c.Mode
}

// counterSpace is the size of the file for counters, which takes only the space of those that are used.
const counterSpace = 256 << 20

// measured are the counters of a package's tests.
type measured struct {
	dir      string // with the file of counters, and the package's profile
	counters string
}

// beginCover prepares the measurement of a package's tests.
func (s *suite) beginCover() (*measured, error) {
	if s.options.Cover == nil {
		return nil, nil
	}
	dir, err := os.MkdirTemp("", "heddle-cover-")
	if err != nil {
		return nil, fmt.Errorf("coverage cannot be measured: %w", err)
	}
	m := &measured{dir: dir, counters: filepath.Join(dir, "counters")}
	err = os.WriteFile(m.counters, nil, 0o600)
	if err == nil {
		err = os.Truncate(m.counters, counterSpace)
	}
	if err != nil {
		os.RemoveAll(dir)
		return nil, fmt.Errorf("coverage cannot be measured: %w", err)
	}
	s.options.How.Cover = m.counters
	return m, nil
}

// endCover reports the coverage of a package's tests.
func (s *suite) endCover(ctx context.Context, m *measured, plain gotool.Binary, r *result.Package) {
	if m == nil {
		return
	}
	defer os.RemoveAll(m.dir)
	s.options.How.Cover = ""
	if ctx.Err() != nil {
		return
	}
	profile := filepath.Join(m.dir, "profile")
	text, err := plain.Cover(ctx, m.counters, profile)
	if err == nil {
		r.Coverage, r.CoverageLine = percent(text), text
		err = s.addProfile(profile)
	}
	if err != nil && ctx.Err() == nil {
		s.launcher.Note(fmt.Sprintf("%s: its coverage is not known: %v", r.Package, err))
	}
}

// percent returns the share of statements that a line of go test names; nil if it names none.
func percent(line string) *float64 {
	number, _, ok := strings.Cut(strings.TrimPrefix(line, "coverage: "), "%")
	share, err := strconv.ParseFloat(number, 64)
	if !ok || err != nil {
		return nil
	}
	return &share
}

// addProfile adds a package's profile to that of the run. A count says how often executions of any schedule reached a
// block.
func (s *suite) addProfile(file string) error {
	b, err := os.ReadFile(file)
	if err != nil {
		return errors.New("the test binary wrote no profile: does TestMain call m.Run?")
	}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "mode: ") {
			continue
		}
		if i := strings.LastIndexByte(line, ' '); s.options.Cover.Mode == "set" && i >= 0 && line[i:] != " 0\n" {
			line = line[:i] + " 1\n"
		}
		s.profile.WriteString(line)
	}
	return nil
}

// writeProfile writes the profile of all packages.
func (s *suite) writeProfile() error {
	c := s.options.Cover
	if c == nil || c.Profile == "" {
		return nil
	}
	if err := wholefile.WriteBytes(c.Profile, 0o666, []byte("mode: "+c.Mode+"\n"+s.profile.String())); err != nil {
		return fmt.Errorf("cannot write the coverage profile: %w", err)
	}
	return nil
}
