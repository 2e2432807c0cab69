package cprog

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// In a program without access hooks a new thread may run before its creator does anything with
// it, whichever call creates it. What libc has stored by then is there, as it is natively.
func TestCreationWithoutHooks(t *testing.T) {
	fork := `
#include <pthread.h>
#include <stdlib.h>
static volatile int state;
static pthread_t id;
static void *thread(void *x) { (void)x; if (FAILS) abort(); return NULL; }
int main(void) { BODY }`
	const create = "pthread_create(&id, NULL, thread, NULL);"
	c11 := `
#include <stdlib.h>
#include <threads.h>
static volatile int state;
static thrd_t id;
static int thread(void *x) { (void)x; if (FAILS) abort(); return 0; }
int main(void) { BODY }`
	cxx := `
#include <cstdlib>
#include <thread>
static volatile int state;
static std::thread t;
static void thread() { if (FAILS) abort(); }
int main() { BODY }`
	for _, c := range []struct {
		name, file, source, fails, body string
		found                           bool
	}{
		{"store after", "p.c", fork, "state == 0", create + "state = 1; pthread_join(id, NULL);", true},
		{"store before", "p.c", fork, "state == 0", "state = 1;" + create + "pthread_join(id, NULL);", false},
		{"result", "p.c", fork, "state == 7", "state = 7; state = " + create + "pthread_join(id, NULL);", true},
		{"two", "p.c", fork, "state == 1", create + "state = 1; state = 2; pthread_t first = id;" + create + "state = 3; pthread_join(id, NULL); pthread_join(first, NULL);", false},
		{"second runs first", "p.c", fork, "state == 1", create + "state = 1; pthread_t first = id;" + create + "state = 2; pthread_join(id, NULL); pthread_join(first, NULL);", true},
		{"identifier", "p.c", fork, "!pthread_equal(id, pthread_self())", create + "pthread_join(id, NULL);", false},
		{"copy of the identifier", "p.c", fork, "!pthread_equal(id, pthread_self())", "pthread_t mine; pthread_create(&mine, NULL, thread, NULL); id = mine; pthread_join(id, NULL);", true},
		{"C11 store after", "p.c", c11, "state == 0", "thrd_create(&id, thread, NULL); state = 1; thrd_join(id, NULL);", true},
		{"C11 identifier", "p.c", c11, "!thrd_equal(id, thrd_current())", "thrd_create(&id, thread, NULL); thrd_join(id, NULL);", false},
		{"std::thread", "p.cc", cxx, "t.get_id() != std::this_thread::get_id()", "t = std::thread(thread); t.join();", true},
		{"std::thread store before", "p.cc", cxx, "state == 0", "state = 1; t = std::thread(thread); t.join();", false},
	} {
		drivers := []string{"gcc", "clang"}
		if filepath.Ext(c.file) == ".cc" {
			drivers = []string{"g++", "clang++"}
		}
		for _, driver := range drivers {
			t.Run(c.name+" "+driver, func(t *testing.T) {
				need.Tool(t, driver)
				dir := t.TempDir()
				file, prog := filepath.Join(dir, c.file), filepath.Join(dir, "prog")
				if err := os.WriteFile(file, []byte(c.source), 0o644); err != nil {
					t.Fatal(err)
				}
				if b, err := exec.Command(driver, "-g", "-O2", "-pthread", "-DFAILS="+c.fails, "-DBODY="+c.body, "-o", prog, file).CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, b)
				}
				tg := start(t, prog)
				if o := run(t, tg, schedule.Plan{Policy: schedule.Fair, Record: true}); o.Ending.Kind != trace.Clean {
					t.Errorf("left alone: %v", o.Ending.Kind)
				}
				found := false
				for seed := range uint64(200) {
					o := run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: seed, Record: true})
					if o.Ending.Kind == trace.Clean {
						continue
					}
					found = true
					if err := trace.Validate(o.Trace); err != nil {
						t.Fatal(err)
					}
					again := run(t, tg, schedule.Plan{Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads, Record: true})
					if again.Ending.Kind != o.Ending.Kind || again.Diverged != nil {
						t.Errorf("the replay ends with %v: %+v", again.Ending.Kind, again.Diverged)
					}
					break
				}
				if found != c.found {
					t.Errorf("found %v, want %v", found, c.found)
				}
			})
		}
	}
}
