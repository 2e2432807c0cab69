package toolchain

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Language selects the kind of compiler.
type Language uint8

const (
	C Language = iota
	CXX
)

func (l Language) String() string { return [...]string{"C", "C++"}[l] }

// env is the variable with which a user names the compiler. CC and CXX do not count: in the builds
// that matter they are set to "heddle cc".
func (l Language) env() string { return [...]string{"HEDDLE_CC", "HEDDLE_CXX"}[l] }

// candidates are tried in this order.
func (l Language) candidates() []string {
	if l == CXX {
		return []string{"c++", "g++", "clang++"}
	}
	return []string{"cc", "gcc", "clang"}
}

// Family is a compiler's command-line dialect.
type Family uint8

const (
	GCC Family = iota + 1
	Clang
)

func (f Family) String() string {
	switch f {
	case GCC:
		return "gcc"
	case Clang:
		return "clang"
	}
	return "unknown"
}

// Compiler is a C or C++ compiler driver.
type Compiler struct {
	// Command is the executable's path and the arguments that come before all others,
	// as in HEDDLE_CC="ccache gcc".
	Command []string
	Family  Family
	Version string // first line of what --version prints
	Major   int    // major version number, 0 if it could not be read
	// Assembler is the directory of the assembler that puts hooks into inline assembly, see PrepareAssembler; "" for the compiler's own.
	Assembler string
}

// Path returns the compiler's executable.
func (c Compiler) Path() string { return c.Command[0] }

// insideVar marks the environment of a compiler that heddle started, so that a script called cc
// that leads back to heddle is detected instead of recursing without end.
const insideVar = "HEDDLE_CC_RUNNING"

// Environ returns the environment for the compiler.
func (c Compiler) Environ() []string { return append(os.Environ(), insideVar+"="+c.Path()) }

// Find returns the compiler for a language: what HEDDLE_CC or HEDDLE_CXX names, else the
// first of cc, gcc, clang (c++, g++, clang++) in PATH that is not heddle itself and that
// heddle knows how to talk to.
func Find(ctx context.Context, lang Language) (Compiler, error) {
	if outer, ok := os.LookupEnv(insideVar); ok {
		return Compiler{}, fmt.Errorf("the compiler that heddle started, %s, started heddle again: set %s to the real compiler", outer, lang.env())
	}
	if named := strings.Fields(os.Getenv(lang.env())); len(named) > 0 {
		path, ok := lookPath(named[0])
		if !ok {
			return Compiler{}, fmt.Errorf("%s names %q, which is neither an executable file nor a command in PATH (other than heddle): set it to a gcc or clang",
				lang.env(), named[0])
		}
		return identify(ctx, append([]string{path}, named[1:]...))
	}
	var unusable error
	for _, name := range lang.candidates() {
		path, ok := lookPath(name)
		if !ok {
			continue
		}
		c, err := identify(ctx, []string{path})
		if err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			return Compiler{}, ctx.Err()
		}
		unusable = errors.Join(unusable, err)
	}
	if unusable != nil {
		return Compiler{}, unusable
	}
	return Compiler{}, fmt.Errorf("there is no %s compiler: none of %s is in PATH; install gcc or clang, or set %s",
		lang, strings.Join(lang.candidates(), ", "), lang.env())
}

// lookPath finds an executable in PATH, skipping those that are heddle (a link called cc, as ccache
// uses it).
func lookPath(name string) (string, bool) {
	dirs := filepath.SplitList(os.Getenv("PATH"))
	if strings.ContainsRune(name, '/') {
		dirs = []string{""}
	}
	self, _ := os.Stat("/proc/self/exe")
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		st, err := os.Stat(path)
		if err != nil || st.IsDir() || st.Mode()&0o111 == 0 || self != nil && os.SameFile(st, self) {
			continue
		}
		if abs, err := filepath.Abs(path); err == nil {
			return abs, true
		}
	}
	return "", false
}

// identify determines a compiler's family and version.
func identify(ctx context.Context, command []string) (Compiler, error) {
	c := Compiler{Command: command}
	cmd := exec.CommandContext(ctx, command[0], append(command[1:len(command):len(command)], "--version")...)
	cmd.Env = append(c.Environ(), "LC_ALL=C")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return c, ctx.Err()
		}
		if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
			return c, fmt.Errorf("%s cannot be started (%v): set HEDDLE_CC and HEDDLE_CXX to working compilers", c.Path(), err)
		}
		return c, fmt.Errorf("%s --version failed (%v): %s", strings.Join(command, " "), err, firstLine(errs.String()))
	}
	c.Version = firstLine(out.String())
	switch text := out.String(); {
	case strings.Contains(text, "clang version"):
		c.Family = Clang
	case strings.Contains(text, "Free Software Foundation"):
		c.Family = GCC
	default:
		return c, fmt.Errorf("%s is neither gcc nor clang (it says %q): set HEDDLE_CC and HEDDLE_CXX to one of them", c.Path(), c.Version)
	}
	c.Major = major(c.Version)
	return c, nil
}

var (
	parenthesised = regexp.MustCompile(`\([^)]*\)`)
	version       = regexp.MustCompile(`(?:^|\s)(\d+)\.\d+`)
)

// major parses the major version from the first line of --version, in which gcc also puts its
// distributor's version, in parentheses.
func major(line string) int {
	m := version.FindStringSubmatch(parenthesised.ReplaceAllString(line, ""))
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1])
	return n
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
