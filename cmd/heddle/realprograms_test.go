//go:build e2e

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/trace"
)

// realProgram is a program from Debian's sources, unmodified, built by its own build system
// with heddle in the compiler's place. docs/real-programs.md has what they showed.
type realProgram struct {
	name   string
	source string     // Debian's name of the source package
	needs  [2]string  // a header or program, and the package that has it
	build  [][]string // commands, in the source's directory; CC and CXX represent heddle cc and heddle c++, TESTDATA for ours
	env    [2]string  // a variable, and its value
	args   []string   // the program below the source's directory, and its arguments
	also   [][]string // other arguments, which are to be clean, too
	runs   int
	flags  []string // of heddle find, with and without the bugs
	note   string   // how the only note begins that there may be
	// What the executions must be at least, or nothing much was tested.
	behaviours, threads, events int
	shows                       []string
	bugs                        []seededBug
}

// seededBug is a call that --omit omits.
type seededBug struct {
	name    string
	without string
	kinds   string   // what may be found, separated by commas
	flags   []string // of heddle find
}

var squashfs = []string{"small", "out.sqsh", "-noappend", "-processors", "2", "-b", "4096", "-no-progress", "-quiet", "-mem", "16M"}

var realPrograms = []realProgram{
	{
		name: "pbzip2", source: "pbzip2", needs: [2]string{"bzlib.h", "libbz2-dev"},
		build: [][]string{{"make", "CXX=CXX", "pbzip2"}},
		args:  []string{"pbzip2", "-k", "-c", "-p3", "-b1", "-1", "small", "large"},
		runs:  1000, behaviours: 100, threads: 5, events: 100, shows: []string{"pbzip2.cpp:", "cond wait"},
		flags: []string{"--max-steps", "20000"},
		bugs: []seededBug{{
			"the writer counts what it has written without the lock", "pthread_mutex_lock@pbzip2.cpp:1750",
			"hang,deadlock", nil,
		}},
	},
	{
		name: "xz", source: "xz-utils",
		build: [][]string{
			{"./configure", "CC=CC", "CFLAGS=-O1 -g", "--disable-shared", "--disable-nls", "--disable-doc", "--disable-scripts",
				"--disable-lzmadec", "--disable-lzmainfo", "--disable-xzdec", "--disable-lzma-links"},
			{"make", "-C", "src/liblzma"}, {"make", "-C", "src/xz"},
		},
		// With priorities, one worker takes every block.
		args: []string{"src/xz/xz", "-k", "-c", "-T3", "-0", "--block-size=8KiB", "small"},
		runs: 1000, behaviours: 50, threads: 2, events: 100, shows: []string{"coder_mt.c:", "cond wait"},
		bugs: []seededBug{{
			"a finished worker enters the free list without the lock", "pthread_mutex_lock@stream_encoder_mt.c:409",
			"data race", []string{"--races=fail"},
		}, {
			"a worker is given a block without the lock", "pthread_mutex_lock@stream_encoder_mt.c:579",
			"exit,hang,deadlock", nil,
		}},
	},
	{
		name: "zstd", source: "libzstd",
		build: [][]string{{"make", "-C", "programs", "zstd", "CC=CC", "CFLAGS=-O1 -g", "HAVE_ZLIB=0", "HAVE_LZMA=0", "HAVE_LZ4=0"}},
		args:  []string{"programs/zstd", "-q", "-k", "-c", "-T2", "-1", "zeros"},
		runs:  1000, behaviours: 500, threads: 5, events: 300, shows: []string{"pool.c:", "fileio_asyncio.c:", "cond wait"},
		flags: []string{"--max-steps", "2000000"},
		bugs: []seededBug{{
			"a job is put into the queue without the lock", "pthread_mutex_lock@pool.c:289",
			"signal,hang,deadlock,assertion", nil,
		}, {
			"a thread that has done a job says so without the lock", "pthread_mutex_lock@pool.c:97",
			"deadlock,hang", nil,
		}},
	},
	{
		// gnulib's part of it knows no glibc since 2.28; Debian's patch for that is not always available.
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
		flags: []string{"--max-steps", "20000"},
		bugs: []seededBug{{
			"a block is handed on without the lock", "pthread_mutex_lock@caches-queues-lists.c:170",
			"hang,deadlock,signal", nil,
		}, {
			"a block is given back without the lock", "pthread_mutex_lock@caches-queues-lists.c:490",
			"hang,deadlock,signal,misuse", nil,
		}, {
			"a block enters a queue without the lock", "pthread_mutex_lock@caches-queues-lists.c:69",
			"hang,deadlock", nil,
		}},
	},
	{
		// The client is linked to it: both ends of the connections are under control.
		name: "memcached", source: "memcached", needs: [2]string{"event.h", "libevent-dev"},
		build: [][]string{
			{"./configure", "CC=CC", "CFLAGS=-O1 -g", "--disable-docs", "--disable-coverage", "--disable-extstore"},
			{"CC", "-O1", "-g", "-c", "TESTDATA/memcached_client.c", "-o", "client.o"},
			{"make", "memcached", "LIBS=client.o -Wl,--wrap=main -levent"},
		},
		args: []string{"memcached", "-u", "root", "-l", "127.0.0.1", "-p", "11311", "-U", "0", "-t", "2"},
		note: "the program uses setrlimit ", // a process for each execution, then
		runs: 1000, behaviours: 900, threads: 11, events: 1000, shows: []string{"thread.c:", "memcached_client.c:", "eventfd"},
		bugs: []seededBug{{
			"requests for one item are not kept apart", "pthread_mutex_lock@thread.c:122", "assertion", nil,
		}, {
			"the server's statistics are not guarded", "pthread_mutex_lock@thread.c:935", "assertion", nil,
		}},
	},
	{
		// Its own tests, each in one process.
		name: "libuv", source: "libuv1", needs: [2]string{"/usr/bin/cmake", "cmake"}, env: [2]string{"UV_RUN_AS_ROOT", "1"},
		build: [][]string{
			{"env", "CC=CC", "cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O1 -g", "."},
			{"cmake", "--build", "build", "--target", "uv_run_tests_a"},
		},
		args: []string{"build/uv_run_tests_a", "threadpool_multiple_event_loops", "threadpool_multiple_event_loops"},
		also: [][]string{
			{"threadpool_queue_work_simple", "threadpool_queue_work_simple"},
			{"threadpool_cancel_work", "threadpool_cancel_work"},
			{"barrier_serial_thread", "barrier_serial_thread"},
			{"async", "async"},
		},
		runs: 1000, behaviours: 50, threads: 8, events: 300, shows: []string{"threadpool.c:", "cond wait", "epoll"},
	},
	{
		// The library under a program of ours that does what its users do.
		name: "leveldb", source: "leveldb", needs: [2]string{"/usr/bin/cmake", "cmake"},
		build: [][]string{
			{"env", "CC=CC", "CXX=CXX", "cmake", "-B", "build", "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_CXX_FLAGS=-O1 -g",
				"-DLEVELDB_BUILD_TESTS=OFF", "-DLEVELDB_BUILD_BENCHMARKS=OFF", "."},
			{"cmake", "--build", "build", "--target", "leveldb"},
			{"CXX", "-O1", "-g", "-std=c++17", "-Iinclude", "TESTDATA/leveldb_threads.cc", "build/libleveldb.a", "-pthread", "-o", "threads"},
		},
		args: []string{"threads", "db"},
		runs: 1000, behaviours: 500, threads: 5, events: 500, shows: []string{"db_impl.cc:", "cond wait"},
		bugs: []seededBug{{
			"a reader looks for the tables without the lock", "pthread_mutex_lock@db_impl.cc:1118", "misuse,signal", nil,
		}, {
			"the thread that compacts does so without the lock", "pthread_mutex_lock@db_impl.cc:684", "misuse,signal,deadlock,assertion", nil,
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
	if p.env[0] != "" {
		t.Setenv(p.env[0], p.env[1])
	}
	if p.needs[0] != "" {
		path := p.needs[0]
		if !filepath.IsAbs(path) {
			path = filepath.Join("/usr/include", path)
		}
		if _, err := os.Stat(path); err != nil {
			t.Skipf("%s is missing: apt-get install %s", p.needs[0], p.needs[1])
		}
	}
	dir := t.TempDir()
	fetch := exec.CommandContext(t.Context(), filepath.Join(repository(t), "cmd/heddle/testdata/fetch-source.sh"), p.source, dir)
	if out, err := fetch.CombinedOutput(); err != nil {
		t.Fatalf("cannot fetch the source of %s: %v\n%s", p.source, err, out)
	}
	p.make(t, filepath.Join(dir, "source"), p.build)

	// One input that most programs leave to one thread, and two of several blocks: zstd wants
	// half a megabyte for each, and is quick with zeros.
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
	if err := os.WriteFile(filepath.Join(dir, "zeros"), make([]byte, 1_200_000), 0o644); err != nil {
		t.Fatal(err)
	}
	program := append([]string{"--", "source/" + p.args[0]}, p.args[1:]...)
	for _, args := range p.also {
		out, mb := runJSONPeak[findJSON](t, dir, exitNothing, slices.Concat([]string{"find", "--json", "--races=ignore", "--time", "0", "--runs", fmt.Sprint(p.runs)}, p.flags, program[:2], args)...)
		if out.Outcome != "clean" || out.Executions != p.runs || len(out.Notes) > 0 || out.Behaviours < p.behaviours {
			t.Errorf("%q: %+v", args, out)
		}
		t.Logf("%q: %.0f executions/s, %d behaviours, %d MB", args, float64(out.Executions)/out.Seconds, out.Behaviours, mb)
	}

	out, mb := runJSONPeak[findJSON](t, dir, exitNothing, slices.Concat([]string{"find", "--json", "--races=ignore", "--time", "0", "--runs", fmt.Sprint(p.runs)}, p.flags, program)...)
	if out.Outcome != "clean" || out.Executions != p.runs {
		t.Errorf("%+v", out)
	}
	for _, n := range out.Notes {
		if p.note == "" || !strings.HasPrefix(n, p.note) {
			t.Errorf("note: %s", n)
		}
	}
	if out.Behaviours < p.behaviours {
		t.Errorf("%d executions showed only %d behaviours", p.runs, out.Behaviours)
	}
	rec := runJSON[recordJSON](t, dir, exitNothing, append([]string{"record", "--json", "--strategy", "pct", "-o", "one.hdl"}, program...)...)
	if rec.Cost.Threads < p.threads || rec.Cost.Events < p.events || rec.Status != 0 {
		t.Errorf("recorded %+v", rec)
	}
	t.Logf("%.0f executions/s, %d scheduling points, %d threads, %d behaviours, %d memory points, %d MB",
		float64(out.Executions)/out.Seconds, rec.Cost.Events, rec.Cost.Threads, out.Behaviours, out.Points, mb)
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
		t.Run(b.name, func(t *testing.T) { b.test(t, dir, slices.Concat(p.flags, program)) })
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
			case "CC", "CXX":
				build.Args = append(build.Args, heddle)
				a = map[string]string{"CC": "cc", "CXX": "c++"}[a]
			}
			build.Args = append(build.Args, strings.Replace(a, "TESTDATA", filepath.Join(repository(t), "cmd/heddle/testdata"), 1))
		}
		switch {
		case c[0] == "CC", c[0] == "CXX":
			build.Path = heddle
		case filepath.Base(c[0]) == c[0]:
			build.Path = lookPath(t, c[0])
		default:
			build.Path = filepath.Join(source, c[0])
		}
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(c, " "), err, out)
		}
	}
}

// test leaves the call out, and wants the bug found, simplified, and replayed 20 times. A hang whose loops take many points a turn is kept
// as it was found, which a note says.
func (b *seededBug) test(t *testing.T, dir string, program []string) {
	args := append([]string{"find", "--json", "--time", "60s", "--without", b.without, "-o", "bug.hdl"}, b.flags...)
	out, mb := runJSONPeak[findJSON](t, dir, exitFound, append(args, program...)...)
	s := out.Simplified
	long := s == nil && slices.ContainsFunc(out.Notes, func(n string) bool { return strings.HasPrefix(n, "not simplified: a few turns of each loop") })
	if out.Finding == nil || s == nil && !long || !slices.Contains(strings.Split(b.kinds, ","), out.Finding.Kind) {
		t.Fatalf("%+v", out)
	}
	if long {
		t.Logf("%s: %s, in execution %d, after %.1f s; %d MB; %s", out.Finding.Kind, out.Finding.Message, out.Finding.Execution, out.Seconds, mb, out.Notes)
		if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "20", out.Trace); !r.Same || r.Times != 20 {
			t.Errorf("%+v", r)
		}
		return
	}
	found, err := trace.ReadFile(filepath.Join(dir, out.Trace))
	if err != nil {
		t.Fatal(err)
	}
	before := trace.CostOf(found.Events)
	t.Logf("%s: %s, in execution %d, after %.1f s; %d MB", out.Finding.Kind, out.Finding.Message, out.Finding.Execution, out.Seconds-s.Seconds, mb)
	t.Logf("from %d switches (%d preemptions) to %d (%d), in %d executions and %.1f s", before.Switches, before.Preemptions,
		s.Switches, s.Preemptions, s.Executions, s.Seconds)
	if s.Switches > before.Switches || s.Switches == before.Switches && s.Preemptions > before.Preemptions {
		t.Errorf("simplifying made it worse")
	}
	if r := runJSON[replayJSON](t, dir, exitFound, "replay", "--json", "--times", "20", s.Trace); !r.Same || r.Times != 20 {
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
