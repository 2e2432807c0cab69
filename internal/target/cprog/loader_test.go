package cprog

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// withPlugin builds a source twice: as a program, and with PLUGIN defined as plugin.so beside it.
func withPlugin(t testing.TB, source string, flags ...string) string {
	t.Helper()
	prog := compile(t, source, "-rdynamic")
	compilePlugin(t, filepath.Join(filepath.Dir(prog), "prog.c"), filepath.Join(filepath.Dir(prog), "plugin.so"), flags...)
	return prog
}

const plugins = `
#define _GNU_SOURCE
#include <assert.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static void say(const char *s) { printf("%s\n", s); fflush(stdout); }
static void *have(void *p) { assert(p); return p; }
typedef int function(void);
`

// What programs do with libraries that they load, and what they print without heddle.
var loaderPrograms = []struct {
	name, source string
	flags        []string // of the plug-in
	snapshot     bool     // it can carry it
}{
	{"constructors and destructors", `
#ifdef PLUGIN
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static void handler(void) { say("atexit"); }
static void *thread(void *p) { pthread_mutex_lock(&m); say("thread"); pthread_mutex_unlock(&m); return p; }
__attribute__((constructor)) static void up(void) {
  pthread_t t; say("up"); atexit(handler);
  pthread_create(&t, NULL, thread, NULL); pthread_join(t, NULL);
}
__attribute__((destructor)) static void down(void) { pthread_mutex_lock(&m); say("down"); pthread_mutex_unlock(&m); }
int value(void) { return 4; }
#else
static void *other(void *p) { void *h = have(dlopen("libm.so.6", RTLD_LAZY)); assert(dlsym(h, "cos")); dlclose(h); return p; }
int main(void) {
  pthread_t t; pthread_create(&t, NULL, other, NULL);
  for (int i = 0; i < 2; i++) {
    void *h = have(dlopen("./plugin.so", i ? RTLD_LAZY | RTLD_GLOBAL : RTLD_NOW));
    assert(h == dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) && ((function *)dlsym(h, "value"))() == 4);
    Dl_info info; assert(dladdr(dlsym(h, "value"), &info) && strstr(info.dli_fname, "plugin.so"));
    assert(!dlsym(RTLD_DEFAULT, "value") == !i);
    assert(dlclose(h) == 0);
    if (!i) { assert(dlclose(h) == 0); say("closed"); }
  }
  pthread_join(t, NULL);
  say("main ends");
  return 0;
}
#endif`, nil, true},
	{"thread-local storage", tlsProgram, nil, true},
	{"thread-local storage of the first kind", tlsProgram, []string{"-ftls-model=initial-exec"}, true},
	{"without access hooks", `
#ifdef PLUGIN
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER; static int n;
int value(void) { pthread_mutex_lock(&m); int r = ++n; pthread_mutex_unlock(&m); return r; }
#else
static function *value;
static void *thread(void *p) { value(); return p; }
int main(void) {
  value = (function *)dlsym(have(dlopen("./plugin.so", RTLD_NOW)), "value");
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, thread, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(value() == 3);
  return 0;
}
#endif`, []string{"-fno-sanitize=thread"}, true},
	{"libc's own functions by handle", `
typedef int locks(pthread_mutex_t *);
#ifdef PLUGIN
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static locks *early;
__attribute__((constructor)) static void up(void) { early = dlsym(RTLD_NEXT, "pthread_mutex_lock"); }
int value(void) {
  static int n;
  void *(*more)(size_t) = dlsym(RTLD_NEXT, "malloc");
  early(&m); // by a thread that would have to wait
  n++;
  ((locks *)dlsym(have(dlopen("libc.so.6", RTLD_LAZY)), "pthread_mutex_unlock"))(&m);
  free(have(more(20)));
  dlerror();
  assert(dlsym(RTLD_DEFAULT, "value") && !dlerror() && !dlsym(RTLD_NEXT, "value") && dlerror());
  return n;
}
#else
static void *thread(void *p) { for (int i = 0; i < 2; i++) ((function *)p)(); return p; }
int main(void) {
  function *value = (function *)dlsym(have(dlopen("./plugin.so", RTLD_NOW | RTLD_GLOBAL)), "value");
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, thread, value);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  assert(value() == 5);
  return 0;
}
#endif`, nil, true},
	{"thread-local objects", `
extern int __cxa_thread_atexit_impl(void (*)(void *), void *, void *);
#ifdef PLUGIN
extern void *__dso_handle;
static void gone(void *p) { printf("object %d\n", *(int *)p); free(p); }
__attribute__((destructor)) static void down(void) { say("down"); }
int value(void) { int *p = malloc(sizeof *p); *p = 3; return __cxa_thread_atexit_impl(gone, p, &__dso_handle); }
#else
static pthread_barrier_t b;
static void *thread(void *p) {
  void *h = have(dlopen("./plugin.so", RTLD_NOW));
  assert(((function *)dlsym(h, "value"))() == 0);
  dlclose(h);
  assert(dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD) == h); // it has an object
  dlclose(h);
  pthread_barrier_wait(&b);
  return p;
}
int main(void) {
  pthread_t t; pthread_barrier_init(&b, NULL, 2);
  pthread_create(&t, NULL, thread, NULL);
  pthread_barrier_wait(&b);
  pthread_join(t, NULL);
  say("joined");
  dlclose(have(dlopen("libm.so.6", RTLD_NOW))); // any of them
  say("closed");
  assert(!dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD));
  return 0;
}
#endif`, nil, true},
	{"walking the list", `
#ifdef PLUGIN
int value(void) { return 4; }
#else
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int look(struct dl_phdr_info *i, size_t n, void *found) {
  assert(n >= sizeof *i);
  pthread_mutex_lock(&m); pthread_mutex_unlock(&m);
  if (!strstr(i->dlpi_name, "plugin.so")) return 0;
  *(int *)found = 1;
  return i->dlpi_phnum > 0 && *(char *)(i->dlpi_addr + 1) == 'E'; // it must still be there
}
static void *thread(void *p) { int found = 0; assert(dl_iterate_phdr(look, &found) == found); return p; }
int main(void) {
  pthread_t t; pthread_create(&t, NULL, thread, NULL);
  for (int i = 0; i < 2; i++) dlclose(have(dlopen("./plugin.so", RTLD_NOW)));
  pthread_join(t, NULL);
  return 0;
}
#endif`, nil, true},
	{"closed, but opened before main", `
#ifdef PLUGIN
__attribute__((destructor)) static void down(void) { say("down"); }
#else
static void *handle;
__attribute__((constructor)) static void early(void) { handle = have(dlopen("./plugin.so", RTLD_NOW)); }
int main(void) { dlclose(handle); say("closed"); assert(!dlopen("./plugin.so", RTLD_NOW | RTLD_NOLOAD)); return 0; }
#endif`, nil, false},
	{"executable stacks", `
#ifdef PLUGIN
int value(void) { return 4; }
#else
int main(void) { assert(((function *)dlsym(have(dlopen("./plugin.so", RTLD_NOW)), "value"))() == 4); return 0; }
#endif`, []string{"-z", "execstack"}, false},
}

const tlsProgram = `
#ifdef PLUGIN
static __thread int n = 7; static __thread char text[100] = "hello";
int value(void) { assert(!strcmp(text, n < 10 ? "hello" : "xello")); if (n == 9) text[0] = 'x'; return n++; }
#else
static function *value;
static void *thread(void *p) { free(malloc(20)); for (int i = 7; i < 12; i++) assert(value() == i); printf("thread\n"); return p; }
int main(void) {
  pthread_t t[3];
  for (int k = 0; k < 2; k++) {
    void *h = have(dlopen("./plugin.so", RTLD_NOW));
    value = (function *)dlsym(h, "value");
    for (int j = 0; j < 6; j++) { // more of them than threads are made beforehand
      for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, thread, NULL);
      for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    }
    dlclose(h);
  }
  return 0;
}
#endif`

func TestLoader(t *testing.T) {
	for _, c := range loaderPrograms {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			prog := withPlugin(t, plugins+c.source, c.flags...)
			alone(t, prog)
			cmd := exec.Command(prog)
			cmd.Dir = filepath.Dir(prog)
			lib, err := theRuntime()
			if err != nil {
				t.Fatal(err)
			}
			cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib)
			want, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Dir: filepath.Dir(prog), Runtime: lib, Tell: func(s string) { said = append(said, s) }})
			if err != nil {
				t.Fatal(err)
			}
			defer tg.Close()
			for seed := range uint64(50) {
				o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true, Accesses: seed%2 == 0})
				if o.Ending.Kind != trace.Clean {
					t.Fatalf("seed %d: %v %s", seed, o.Ending.Kind, o.Ending.Message)
				}
				if got := strings.Split(string(o.Ending.Output), "\n"); !sameLines(got, strings.Split(string(want), "\n")) {
					t.Fatalf("seed %d: output %q, alone %q", seed, got, want)
				}
				if err := trace.Validate(o.Trace); err != nil {
					t.Fatal(err)
				}
			}
			if (tg.Isolation() == Snapshot) != c.snapshot || (len(said) == 0) != c.snapshot {
				t.Errorf("isolation %v, told %q", tg.Isolation(), said)
			}
			sameUnderEach(t, prog, 12, 3)
		})
	}
}

// sameLines compares lines of one thread; those of another come anywhere.
func sameLines(a, b []string) bool {
	rest := func(s []string) []string {
		return slices.DeleteFunc(slices.Clone(s), func(l string) bool { return l == "thread" })
	}
	return len(a) == len(b) && slices.Equal(rest(a), rest(b))
}

// A C program can get its C++ library with a plug-in.
func TestCxxPlugin(t *testing.T) {
	prog := compile(t, plugins+`
int main(int argc, char **argv) {
  void *h = have(dlopen("./plugin.so", RTLD_NOW));
  assert(((int (*)(int))dlsym(h, "work"))(2) == 4);
  if (argc > 1) ((void (*)(void))dlsym(h, argv[1]))();
  dlclose(h);
  say("closed");
  return 0;
}`)
	source := filepath.Join(filepath.Dir(prog), "plugin.cc")
	if err := os.WriteFile(source, []byte(`
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
static std::mutex m;
static int total;
struct object { int v = 0; ~object() { std::lock_guard<std::mutex> l(m); total += v; } };
static thread_local object mine;
static const std::string &name() { static std::string s = "plugin"; return s; }
struct last { ~last() { std::printf("gone %d\n", total); } } last;
extern "C" int work(int n) {
  std::vector<std::thread> ts;
  for (int i = 0; i < 2; i++) ts.emplace_back([n] { mine.v = n; if (name() != "plugin") throw 1; });
  for (auto &t : ts) t.join();
  try { if (n > 1) throw std::runtime_error("caught"); } catch (const std::exception &) { return total; }
  return -1;
}
extern "C" void boom() { throw std::runtime_error("not caught"); }
`), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(need.Tool(t, "g++"), "-g", "-O1", "-pthread", "-fsanitize=thread", "-shared", "-fPIC", "-o", filepath.Join(filepath.Dir(prog), "plugin.so"), source)
	if b, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, b)
	}
	alone(t, prog)
	tg := start(t, prog)
	for seed := range uint64(50) {
		o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true})
		if o.Ending.Kind != trace.Clean || string(o.Ending.Output) != "gone 4\nclosed\n" {
			t.Fatalf("seed %d: %v %s, output %q", seed, o.Ending.Kind, o.Ending.Message, o.Ending.Output)
		}
	}
	sameUnderEach(t, prog, 8, 2)
	o := run(t, start(t, prog, "boom"), schedule.Plan{Record: true})
	if o.Ending.Kind != trace.Exception || o.Ending.Message != "std::runtime_error" {
		t.Errorf("%v %s", o.Ending.Kind, o.Ending.Message)
	}
}

// What cannot be carried is named.
func TestLoaderRefuses(t *testing.T) {
	const lazily = `
#ifdef PLUGIN
void nowhere(void); int value(int n) { if (n) nowhere(); return 4; }
#else
int main(void) { assert(((int (*)(int))dlsym(have(dlopen("./plugin.so", RTLD_LAZY)), "value"))(0) == 4); return 0; }
#endif`
	prog := withPlugin(t, plugins+lazily)
	alone(t, prog)
	o := run(t, start(t, prog), schedule.Plan{Record: true})
	if o.Ending.Kind != trace.Unsupported || !strings.Contains(o.Ending.Message, "a library that lacks functions") {
		t.Errorf("%v %s", o.Ending.Kind, o.Ending.Message)
	}
}

// Functions of libc that go to the loader on their own can find its lock taken. That is not
// a hang of the program.
func TestLoaderLockInLibc(t *testing.T) {
	prog := withPlugin(t, plugins+`
#include <sched.h>
#ifdef PLUGIN
__attribute__((constructor)) static void up(void) { for (int i = 0; i < 3; i++) sched_yield(); }
#else
static void *thread(void *p) { sched_yield(); dlvsym(RTLD_DEFAULT, "none", "NONE"); return p; }
int main(void) {
  pthread_t t; pthread_create(&t, NULL, thread, NULL);
  have(dlopen("./plugin.so", RTLD_NOW));
  pthread_join(t, NULL);
  return 0;
}
#endif`)
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Dir: filepath.Dir(prog), Runtime: lib, Watchdog: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	refused, after := false, false
	for n := uint64(0); n < 100 && !after; n++ {
		o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: n})
		switch {
		case o.Ending.Kind == trace.Unsupported && strings.Contains(o.Ending.Message, "the loader's lock"):
			refused = true
		case o.Ending.Kind != trace.Clean:
			t.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
		default:
			after = refused
		}
	}
	if !refused || !after {
		t.Errorf("met the lock: %v, and went on after that: %v", refused, after)
	}
}

// Memory instructions of a library can be scheduling points, wherever and in whatever order
// libraries are loaded, and a library has the same number in all traces.
func TestPointsInLibraries(t *testing.T) {
	prog := withPlugin(t, plugins+`
#ifdef PLUGIN
static volatile int n;
int value(void) { n++; return n; }
#else
static void *thread(void *p) {
  ((function *)dlsym(have(dlopen(p, RTLD_NOW)), "value"))();
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t t[4];
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, thread, argv[1 + i % 2]);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  for (int i = 0; i < 2; i++)
    assert(((function *)dlsym(have(dlopen(argv[1 + i], RTLD_NOW)), "value"))() == 3);
  return argc - 3;
}
#endif`)
	dir := filepath.Dir(prog)
	compilePlugin(t, filepath.Join(dir, "prog.c"), filepath.Join(dir, "second.so"), "-DSECOND=1", "-O0")
	tg := start(t, prog, "./plugin.so", "./second.so")
	base := run(t, tg, schedule.Plan{Record: true, Accesses: true})
	points := racySites(base.Trace)
	for n := range uint64(20) {
		racy := run(t, tg, schedule.Plan{Record: true, Accesses: true, Policy: schedule.Random, Seed: n})
		for _, s := range racySites(racy.Trace) {
			if !slices.Contains(points, s) {
				points = append(points, s)
			}
		}
	}
	failed, orders := map[int]bool{}, map[string]bool{}
	for n := range uint64(300) {
		o := run(t, tg, schedule.Plan{Record: true, Accesses: true, Policy: schedule.Random, Seed: n, Points: points})
		if o.Ending.Kind == trace.Assertion {
			failed[int(n)] = true
		}
		order := ""
		for i, m := range o.Trace.Modules {
			if name := filepath.Base(m.Path); name == "plugin.so" || name == "second.so" {
				if now := tg.Modules(); now[i].Path != m.Path || m.Path != filepath.Join(dir, name) || m.BuildID == "" {
					t.Fatalf("module %d is %+v, was %+v", i, m, now[i])
				}
			}
		}
		for _, e := range o.Trace.Events {
			if m := e.Site.Module(); e.Op == trace.OpRead && m > 0 && !strings.Contains(order, filepath.Base(o.Trace.Modules[m].Path)) {
				order += filepath.Base(o.Trace.Modules[m].Path) + " "
			}
		}
		orders[order] = true
	}
	if len(failed) == 0 {
		t.Errorf("with %d points no addition was lost", len(points))
	}
	if !orders["plugin.so second.so "] || !orders["second.so plugin.so "] {
		t.Errorf("loaded in orders %v", orders)
	}
}
