//go:build e2e

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// realProgram is a program from Debian's sources, unmodified, built by its own build system
// with heddle in the compiler's place. docs/real-programs.md has what they showed.
type realProgram struct {
	name   string
	source string     // Debian's name of the source package
	needs  [2]string  // a header, and the package that has it
	build  [][]string // commands, in the source's directory; CC and CXX stand for heddle cc and heddle c++
	args   []string   // the program below the source's directory, and its arguments
	runs   int
	// What the executions must be at least, or nothing much was tested.
	behaviours, threads, events int
	shows                       []string
	bugs                        []seededBug
}

// seededBug is one lock taken out of a copy of the source.
type seededBug struct {
	name  string
	file  string
	lines map[int]string // what is taken out of each line
	kinds string         // what may be found, separated by blanks
	flags []string       // of heddle find
}

var squashfs = []string{"small", "out.sqsh", "-noappend", "-processors", "2", "-b", "4096", "-no-progress", "-quiet", "-mem", "16M"}

var realPrograms = []realProgram{
	{
		name: "pbzip2", source: "pbzip2", needs: [2]string{"bzlib.h", "libbz2-dev"},
		build: [][]string{{"make", "CXX=CXX", "pbzip2"}},
		args:  []string{"pbzip2", "-k", "-c", "-p3", "-b1", "-1", "small", "large"},
		runs:  1000, behaviours: 100, threads: 5, events: 100, shows: []string{"pbzip2.cpp:", "cond wait"},
	},
	{
		name: "xz", source: "xz-utils",
		build: [][]string{
			{"./configure", "CC=CC", "CFLAGS=-O1 -g", "--disable-shared", "--disable-nls", "--disable-doc", "--disable-scripts",
				"--disable-lzmadec", "--disable-lzmainfo", "--disable-xzdec", "--disable-lzma-links"},
			{"make", "-C", "src/liblzma"}, {"make", "-C", "src/xz"},
		},
		args: []string{"src/xz/xz", "-k", "-c", "-T3", "-0", "--block-size=8KiB", "small"},
		runs: 1000, behaviours: 50, threads: 4, events: 100, shows: []string{"coder_mt.c:", "cond wait"},
		bugs: []seededBug{{
			name: "a finished worker enters the free list without the lock", file: "src/liblzma/common/stream_encoder_mt.c",
			lines: map[int]string{409: "mythread_sync(thr->coder->mutex)"},
			kinds: "data race", flags: []string{"--time", "60s", "--races-fail", "--no-simplify"},
		}},
	},
	{
		name: "zstd", source: "libzstd",
		build: [][]string{{"make", "-C", "programs", "zstd", "CC=CC", "CFLAGS=-O1 -g", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"}},
		args:  []string{"programs/zstd", "-q", "-k", "-c", "-T3", "-1", "small", "large"},
		runs:  1000, behaviours: 2, threads: 3, events: 50, shows: []string{"pool.c:", "cond wait"},
	},
	{
		// gnulib's part of it knows no glibc since 2.28; Debian's patch for that is not always to be had.
		name: "lbzip2", source: "lbzip2",
		build: [][]string{{"./configure", "CC=CC"}, {"make", "CFLAGS=-O1 -g -D_IO_ftrylockfile -D_IO_IN_BACKUP=0x100"}},
		args:  []string{"src/lbzip2", "-k", "-c", "-n", "3", "-1", "small"},
		runs:  1000, behaviours: 50, threads: 5, events: 80, shows: []string{"process.c:", "sigsuspend"},
	},
	{
		name: "mksquashfs", source: "squashfs-tools", needs: [2]string{"zlib.h", "zlib1g-dev"},
		build: [][]string{{"make", "-C", "squashfs-tools", "CC=CC", "XATTR_SUPPORT=0", "mksquashfs"}},
		args:  append([]string{"squashfs-tools/mksquashfs"}, squashfs...),
		runs:  1000, behaviours: 500, threads: 12, events: 300, shows: []string{"caches-queues-lists.c:", "cond wait"},
		bugs: []seededBug{{
			name: "a block is handed on without the lock", file: "squashfs-tools/caches-queues-lists.c",
			lines: map[int]string{
				169: "pthread_cleanup_push((void *) pthread_mutex_unlock, &queue->mutex);",
				170: "pthread_mutex_lock(&queue->mutex);", 182: "pthread_cleanup_pop(1);",
			},
			kinds: "hang deadlock signal", flags: []string{"--time", "60s", "--max-steps", "20000"},
		}, {
			name: "a block is given back without the lock", file: "squashfs-tools/caches-queues-lists.c",
			lines: map[int]string{
				489: "pthread_cleanup_push((void *) pthread_mutex_unlock, &cache->mutex);",
				490: "pthread_mutex_lock(&cache->mutex);", 506: "pthread_cleanup_pop(1);",
			},
			kinds: "hang deadlock signal misuse", flags: []string{"--time", "60s", "--max-steps", "20000"},
		}},
	},
}

// Fetches the sources from Debian, so it needs the network.
func TestRealPrograms(t *testing.T) {
	t.Setenv("HEDDLE_APT_LISTS", t.TempDir()) // apt's lists are fetched once
	for _, p := range realPrograms {
		t.Run(p.name, func(t *testing.T) { p.test(t) })
	}
}

func (p *realProgram) test(t *testing.T) {
	if p.needs[0] != "" {
		if _, err := os.Stat("/usr/include/" + p.needs[0]); err != nil {
			t.Skipf("%s is missing: apt-get install %s", p.needs[0], p.needs[1])
		}
	}
	dir := t.TempDir()
	fetch := exec.CommandContext(t.Context(), filepath.Join(repository(t), "cmd/heddle/testdata/fetch-source.sh"), p.source, dir)
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("cannot fetch the source of %s: %v\n%s", p.source, err, out)
	}
	p.make(t, filepath.Join(dir, "source"), p.build)

	// One input that most programs leave to one thread, and one of several blocks.
	write := func(name string, size int) {
		words := strings.Fields("which threads go over and which go under the heddle lifts one warp shed weft loom pick beat shuttle")
		b := strings.Builder{}
		for n := uint32(1); b.Len() < size; n = n*1664525 + 1013904223 {
			b.WriteString(words[int(n>>16)%len(words)] + " ")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(b.String()[:size]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("small", 20_000)
	write("large", 250_000)
	program := append([]string{"--", "source/" + p.args[0]}, p.args[1:]...)

	out := runJSON[findJSON](t, dir, exitNothing, append([]string{"find", "--json", "--time", "0", "--runs", fmt.Sprint(p.runs)}, program...)...)
	if out.Outcome != "clean" || out.Executions != p.runs || len(out.Notes) > 0 {
		t.Errorf("%+v", out)
	}
	if out.Behaviours < p.behaviours {
		t.Errorf("%d executions showed only %d behaviours", p.runs, out.Behaviours)
	}
	rec := runJSON[recordJSON](t, dir, exitNothing, append([]string{"record", "--json", "--strategy", "pct", "-o", "one.hdl"}, program...)...)
	if rec.Cost.Threads < p.threads || rec.Cost.Events < p.events || rec.Status != 0 {
		t.Errorf("recorded %+v", rec)
	}
	t.Logf("%.0f executions/s, %d scheduling points, %d threads, %d behaviours, %d memory points",
		float64(out.Executions)/out.Seconds, rec.Cost.Events, rec.Cost.Threads, out.Behaviours, out.Points)
	if r := runJSON[replayJSON](t, dir, exitNothing, "replay", "--json", "--times", "20", "one.hdl"); !r.Same {
		t.Errorf("%+v", r)
	}
	shown, err := heddleCommand(t, dir, nil, "show", "--full", "one.hdl").Output()
	for _, s := range p.shows {
		if err != nil || !strings.Contains(string(shown), s) {
			t.Errorf("show: %v, nothing of %q in\n%s", err, s, shown)
		}
	}
	tr, err := trace.ReadFile(filepath.Join(dir, "one.hdl"))
	if err != nil {
		t.Fatal(err)
	}
	if err := trace.Validate(tr); err != nil {
		t.Error(err)
	}
	for _, b := range p.bugs {
		t.Run(b.name, func(t *testing.T) { p.seeded(t, dir, &b, program) })
	}
}

// make runs build commands of the program.
func (p *realProgram) make(t *testing.T, source string, commands [][]string) {
	t.Helper()
	for _, c := range commands {
		build := heddleCommand(t, source, nil, "version")
		heddle := build.Path
		build.Args = nil
		for _, a := range c {
			switch a {
			case "CC=CC":
				a = "CC=" + heddle + " cc"
			case "CXX=CXX":
				a = "CXX=" + heddle + " c++"
			}
			build.Args = append(build.Args, a)
		}
		build.Path = c[0]
		if filepath.Base(c[0]) == c[0] {
			build.Path = lookPath(t, c[0])
		} else {
			build.Path = filepath.Join(source, c[0])
		}
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, out)
		}
	}
}

// seeded takes the lock out, builds that, and wants it found, simplified and replayed.
func (p *realProgram) seeded(t *testing.T, dir string, b *seededBug, program []string) {
	path := filepath.Join(dir, "source", b.file)
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for n, s := range b.lines {
		if !strings.Contains(lines[n-1], s) {
			t.Fatalf("%s:%d is %q, without %q: another version of the program?", b.file, n, lines[n-1], s)
		}
		lines[n-1] = strings.Replace(lines[n-1], s, "", 1)
	}
	if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	defer os.WriteFile(path, text, 0o644)
	commands := p.build
	if strings.HasPrefix(commands[0][0], "./") {
		commands = commands[1:]
	}
	p.make(t, filepath.Join(dir, "source"), commands)
	out := runJSON[findJSON](t, dir, exitFound, append(append([]string{"find", "--json", "-o", "bug.hdl"}, b.flags...), program...)...)
	if out.Finding == nil || !strings.Contains(b.kinds, out.Finding.Kind) {
		t.Fatalf("%+v", out)
	}
	found, err := trace.ReadFile(filepath.Join(dir, out.Trace))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %s, in execution %d; %d switches", out.Finding.Kind, out.Finding.Message, out.Finding.Execution, trace.CostOf(found.Events).Switches)
	file := out.Trace
	if s := out.Simplified; s != nil {
		t.Logf("simplified to %d switches, in %d executions and %.1f of %.1f s", s.Switches, s.Executions, s.Seconds, out.Seconds)
		file = s.Trace
	}
	if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "5", file); !r.Same {
		t.Errorf("%+v", r)
	}
}

func lookPath(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		t.Fatal(err)
	}
	return path
}
