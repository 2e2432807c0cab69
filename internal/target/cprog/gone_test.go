package cprog

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// goneFrame has one thread, or two, use an object, and another take its memory away.
const goneFrame = `
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>
struct all { pthread_mutex_t m; pthread_cond_t c; pthread_rwlock_t l; sem_t s; pthread_barrier_t b; pthread_spinlock_t p; pthread_once_t o; mtx_t x; int ready; };
static struct all *a;
static struct timespec soon = {1};
static void nothing(void) {}
static void init(struct all *n) {
  pthread_mutexattr_t attr;
  pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_mutexattr_init(&attr);
  KIND;
  pthread_mutex_init(&n->m, &attr);
  pthread_cond_init(&n->c, NULL);
  pthread_rwlock_init(&n->l, NULL);
  sem_init(&n->s, 0, 1);
  pthread_barrier_init(&n->b, NULL, 2);
  pthread_spin_init(&n->p, 0);
  n->o = once;
  mtx_init(&n->x, mtx_plain);
}
static void *use(void *p) { (void)nothing; (void)soon; USE; return p; }
static void *use2(void *p) { USE2; return p; }
GONE
int main(void) {
  pthread_t t[3];
  START;
  pthread_create(&t[0], NULL, use, NULL);
  pthread_create(&t[1], NULL, use2, NULL);
  pthread_create(&t[2], NULL, gone, NULL);
  for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
  return 0;
}`

// An object whose memory another thread frees, unmaps, leaves with its stack or writes over
// is the program's mistake, never the runtime's, and every execution of it is repeated by its
// script and can be followed loosely.
func TestObjectsInMemoryThatIsGone(t *testing.T) {
	const executions = 40
	uses := []struct{ name, use, use2, kind string }{
		{"mutex", "pthread_mutex_lock(&a->m); pthread_mutex_unlock(&a->m)", "pthread_mutex_trylock(&a->m) || pthread_mutex_unlock(&a->m)", ""},
		{"recursive", "struct all *b = a; pthread_mutex_lock(&b->m); pthread_mutex_lock(&b->m); pthread_mutex_unlock(&b->m); pthread_mutex_unlock(&b->m)", "pthread_mutex_timedlock(&a->m, &soon)", "pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE)"},
		{"robust", "pthread_mutex_lock(&a->m)", "pthread_mutex_lock(&a->m); pthread_mutex_unlock(&a->m)", "pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST)"},
		{"condition", "struct all *b = a; pthread_mutex_lock(&b->m); pthread_cond_timedwait(&b->c, &b->m, &soon); pthread_mutex_unlock(&b->m)", "struct all *b = a; pthread_mutex_lock(&b->m); pthread_cond_signal(&b->c); pthread_mutex_unlock(&b->m)", ""},
		{"rwlock", "pthread_rwlock_rdlock(&a->l); pthread_rwlock_unlock(&a->l)", "pthread_rwlock_timedwrlock(&a->l, &soon); pthread_rwlock_unlock(&a->l)", ""},
		{"semaphore", "sem_wait(&a->s); sem_post(&a->s)", "int v; sem_getvalue(&a->s, &v); sem_timedwait(&a->s, &soon); sem_post(&a->s)", ""},
		{"barrier", "pthread_barrier_wait(&a->b)", "pthread_barrier_wait(&a->b)", ""},
		{"spin", "pthread_spin_lock(&a->p); pthread_spin_unlock(&a->p)", "pthread_spin_lock(&a->p); pthread_spin_unlock(&a->p)", ""},
		{"once", "pthread_once(&a->o, nothing)", "pthread_once(&a->o, nothing)", ""},
		{"c11", "mtx_lock(&a->x); mtx_unlock(&a->x)", "mtx_trylock(&a->x)", ""},
	}
	ways := []struct {
		name, gone, start string
		always            bool // it is found with every kind of object
	}{
		{"freed", "static void *gone(void *p) { struct all *b = a; a = NULL; free(b); return p; }", "a = malloc(sizeof *a); init(a)", true},
		{"freed at once", "static void *gone(void *p) { free(a); return p; }", "a = malloc(sizeof *a); init(a)", true},
		{"moved", "static void *gone(void *p) { a = realloc(a, 2 * sizeof *a); return p; }", "a = malloc(sizeof *a); init(a)", true},
		{"unmapped", "static void *gone(void *p) { munmap(a, 4096); pthread_mutex_t q = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&q); pthread_mutex_unlock(&q); return p; }", "a = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); init(a)", true},
		{"half unmapped", "static void *gone(void *p) { munmap((char *)(((unsigned long)a + 4096) & ~4095ul), 4096); return p; }", "char *m = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0); a = (struct all *)(m + 4096 - sizeof *a / 2 / 8 * 8); init(a)", false},
		{"on a stack", "static void *home(void *p) { struct all here; init(&here); a = &here; pthread_mutex_lock(&here.m); pthread_mutex_unlock(&here.m); return p; } static void *gone(void *p) { char noise[2000]; memset(noise, 0x55, sizeof noise); return p + !noise[7]; }", "pthread_t h; pthread_create(&h, NULL, home, NULL); pthread_join(h, NULL)", false},
		{"overwritten", "static void *gone(void *p) { memset(a, 0x11, sizeof *a); pthread_mutex_t q = PTHREAD_MUTEX_INITIALIZER; pthread_mutex_lock(&q); memset(a, 0xff, sizeof *a); pthread_mutex_unlock(&q); return p; }", "a = malloc(sizeof *a); init(a)", false},
		{"made anew", "static void *gone(void *p) { struct all *b = a; memset(&b->m, 1, 4); b->p = 0; b->o = 1; memset(&b->s, 0, 4); memset(b, 0, sizeof *b); b->p = 1; return p; }", "a = malloc(sizeof *a); init(a)", false},
		{"null", "static void *gone(void *p) { a = NULL; return p; }", "static struct all here; a = &here; init(a)", false},
		{"none", "static void *gone(void *p) { return p; }", "a = NULL", true},
	}
	for _, u := range uses {
		for _, w := range ways {
			t.Run(u.name+" "+w.name, func(t *testing.T) {
				t.Parallel()
				src := strings.NewReplacer("USE2", u.use2, "USE", u.use, "KIND", u.kind, "GONE", w.gone, "START", w.start).Replace(goneFrame)
				flags := []string{"-w", []string{"-O0", "-O1", "-O2", "-fno-sanitize=thread"}[len(u.name+w.name)%4]}
				tg := start(t, compile(t, src, flags...))
				seen := map[trace.Kind]int{}
				var points []trace.Site
				for seed := range uint64(executions) {
					p := schedule.Plan{Policy: []schedule.Policy{schedule.Random, schedule.POS}[seed%2], Seed: seed, Record: true, Accesses: true, Points: points, Timeouts: seed%3 == 0}
					first := run(t, tg, p)
					if err := trace.Validate(first.Trace); err != nil {
						t.Fatalf("seed %d: %v", seed, err)
					}
					seen[first.Ending.Kind]++
					checkGone(t, &first)
					again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(first.Trace), Threads: first.Trace.Threads, Record: true, Accesses: true, Points: points, Seed: 999})
					if !reflect.DeepEqual(first.Trace.Events, again.Trace.Events) || first.Signature != again.Signature {
						t.Fatalf("seed %d: %v %q, again %v %q %+v", seed, first.Ending.Kind, first.Ending.Message, again.Ending.Kind, again.Ending.Message, again.Diverged)
					}
					r := rand.New(rand.NewPCG(seed, 9))
					for range 3 { // as in a simplifier
						script := slices.Clone(schedule.ScriptOf(first.Trace))
						lo := r.IntN(len(script))
						hi := min(len(script), lo+1+r.IntN(5))
						script = slices.Delete(script, lo, hi)
						o := run(t, tg, schedule.Plan{Mode: schedule.Tolerant, Script: script, Threads: first.Trace.Threads, Record: true, Accesses: true, Points: points})
						checkGone(t, &o)
					}
					if seed < 8 {
						for i := range first.Trace.Events {
							if e := &first.Trace.Events[i]; (e.Op.IsAccess() || e.Op == trace.OpFree) && !slices.Contains(points, e.Site) {
								points = append(points, e.Site)
							}
						}
					}
				}
				if found := executions - seen[trace.Clean]; w.always && found == 0 {
					t.Error(seen)
				}
			})
		}
	}
}

// checkGone requires an ending that is the program's, with a place in it.
func checkGone(t *testing.T, o *schedule.Outcome) {
	t.Helper()
	switch e := o.Ending; e.Kind {
	case trace.Clean, trace.Deadlock:
	case trace.Misuse:
		if e.Site == 0 {
			t.Errorf("misuse without a place: %s", e.Message)
		}
	case trace.Signal:
		if e.Status != 11 && e.Status != 7 || len(e.Stack) == 0 || e.Site == 0 {
			t.Errorf("signal %d, site %v, stack %v", e.Status, e.Site, e.Stack)
		}
	default:
		t.Errorf("%v %q", e.Kind, e.Message)
	}
}
