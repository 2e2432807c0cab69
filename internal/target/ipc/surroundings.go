package ipc

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/heddle-dev/heddle/trace"
)

// A trace records what a program may read besides its arguments and standard input, as NAME=hash,
// so that a replay that differs can name what has changed. The kinds of names:
const (
	envPrefix  = "$"      // an environment variable
	filePrefix = "file:"  // a file that was opened for reading
	hostPrefix = "host: " // a property of the machine or the session, in words
)

// Surroundings returns the names and hashes of an environment and of other properties of the
// machine and the session that programs ask for. Environments hold secrets: 16 bits of a hash show
// a change and reveal no value.
func Surroundings(env []string) []string {
	var list []string
	for _, v := range slices.Sorted(slices.Values(env)) {
		name, value, _ := strings.Cut(v, "=")
		list = append(list, envPrefix+name+"="+hash(value, 2))
	}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		list = append(list, host("the host's name", u.Nodename[:]), host("the kernel", append(u.Release[:], u.Version[:]...)))
	}
	for _, l := range limits {
		var r unix.Rlimit
		if unix.Getrlimit(l.resource, &r) == nil {
			list = append(list, host("the limit on "+l.what, fmt.Append(nil, r)))
		}
	}
	list = append(list, host("the user", fmt.Append(nil, os.Getuid(), os.Getgid())))
	for _, l := range []struct{ file, line, what string }{
		{"/proc/self/status", "Umask:", "the umask"}, // the system call that reads it also sets it
		{"/proc/cpuinfo", "flags", "the processor's features"},
	} {
		if line := lineOf(l.file, l.line); line != "" {
			list = append(list, host(l.what, []byte(line)))
		}
	}
	return list
}

// lineOf returns the first line of a file that begins with with.
func lineOf(file, with string) string {
	b, _ := os.ReadFile(file)
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, with) {
			return line
		}
	}
	return ""
}

var limits = []struct {
	resource int
	what     string
}{
	{unix.RLIMIT_STACK, "the stack (ulimit -s)"}, {unix.RLIMIT_NOFILE, "descriptors (ulimit -n)"},
	{unix.RLIMIT_AS, "virtual memory (ulimit -v)"}, {unix.RLIMIT_FSIZE, "the size of files (ulimit -f)"},
	{unix.RLIMIT_NPROC, "processes (ulimit -u)"},
}

func host(what string, value []byte) string {
	return hostPrefix + what + "=" + hash(string(value), 2)
}

func hash(s string, n int) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:n])
}

// inputs returns the hashes of files, each once, except for the kernel's files and files that no
// longer exist.
func inputs(paths []string) (list []string) {
	const most = 64
	for _, path := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if strings.HasPrefix(path, "/proc/") || strings.HasPrefix(path, "/sys/") || strings.HasPrefix(path, "/dev/") {
			continue
		}
		if h, ok := fileHash(path); ok && len(list) < most {
			list = append(list, filePrefix+path+"="+h)
		}
	}
	return list
}

// hashedFiles caches hashes of files that have not changed since, judging by size and time.
var hashedFiles = newHashCache()

// fileHash returns a hash of a file's content; of a large file, of its beginning and size.
func fileHash(path string) (string, bool) {
	const most = 16 << 20
	st, err := os.Stat(path)
	if err != nil || !st.Mode().IsRegular() {
		return "", false
	}
	return hashedFiles.get(path, st, func() (string, bool) {
		f, err := os.Open(path)
		if err != nil {
			return "", false
		}
		defer f.Close()
		h := sha256.New()
		fmt.Fprintln(h, st.Size())
		if _, err := io.Copy(h, io.LimitReader(f, most)); err != nil {
			return "", false
		}
		return hex.EncodeToString(h.Sum(nil)[:8]), true
	})
}

// Changed names, in words, what has changed since recorded was made; now is the header of the
// program as started now.
func Changed(recorded, now trace.Header) (changed []string) {
	was, is := surroundings(recorded), surroundings(now)
	var vars, others []string
	for name, h := range was {
		path, file := strings.CutPrefix(name, filePrefix)
		v, variable := strings.CutPrefix(name, envPrefix)
		met, there := is[name]
		switch {
		case file:
			if met, there := fileHash(path); !there {
				others = append(others, "the input file "+path+" (which no longer exists)")
			} else if met != h {
				others = append(others, "the input file "+path)
			}
		case variable && (!there || met != h):
			vars = append(vars, v)
		case there && met != h:
			others = append(others, strings.TrimPrefix(name, hostPrefix))
		}
	}
	for name := range is {
		if v, variable := strings.CutPrefix(name, envPrefix); variable {
			if _, there := was[name]; !there && len(was) > 0 {
				vars = append(vars, v)
			}
		}
	}
	slices.Sort(others)
	slices.SortFunc(vars, func(a, b string) int {
		return cmp.Or(cmp.Compare(session(a), session(b)), cmp.Compare(a, b))
	})
	switch n := len(vars); {
	case n == 1:
		changed = append(changed, "the environment variable "+vars[0])
	case n > 6:
		changed = append(changed, fmt.Sprintf("the environment variables %s and %d more", strings.Join(vars[:5], " "), n-5))
	case n > 0:
		changed = append(changed, "the environment variables "+strings.Join(vars, " "))
	case recorded.EnvDigest != "" && recorded.EnvDigest != now.EnvDigest:
		changed = append(changed, "the environment")
	}
	return append(changed, others...)
}

// session returns 1 for a variable that differs in nearly every shell, 0 for others.
func session(name string) int {
	switch name {
	case "_", "OLDPWD", "PWD", "SHLVL", "WINDOWID", "COLUMNS", "LINES", "SSH_CLIENT", "SSH_CONNECTION", "SSH_TTY":
		return 1
	}
	return 0
}

func surroundings(h trace.Header) map[string]string {
	m := map[string]string{}
	for _, s := range h.Surroundings {
		if i := strings.LastIndexByte(s, '='); i > 0 {
			m[s[:i]] = s[i+1:]
		}
	}
	return m
}
