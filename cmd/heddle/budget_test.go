package main

import (
	"os"
	"path/filepath"
	"testing"
)

// A program that passes more scheduling points than the usual step budget, once its racing
// instructions are scheduling points, is long, but ends and does not hang. Its twin, in which threads
// look for what never comes, hangs. It does not count its turns, since a loop that does might give up.
func TestLongOnceRacesAreSeen(t *testing.T) {
	sharedRuntime(t)
	const source = `#include <pthread.h>
static int progress;
#ifdef STUCK
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int never, spun, first = -1;
#endif
static void *work(void *a) {
  for (int i = 0; i < N; i++) progress++;
#ifdef STUCK
  pthread_mutex_lock(&m);
  if (first < 0) first = *(int *)a;
  pthread_mutex_unlock(&m);
  for (int stop = first != 3; !stop; spun = 1) {
    pthread_mutex_lock(&m);
    stop = never;
    pthread_mutex_unlock(&m);
  }
#endif
  return a;
}
int main(void) {
  pthread_t t[4];
  int id[4] = {0, 1, 2, 3};
  for (int i = 0; i < 4; i++) pthread_create(&t[i], NULL, work, &id[i]);
  for (int i = 0; i < 4; i++) pthread_join(t[i], NULL);
  return 0;
}
`
	dir := t.TempDir()
	file := filepath.Join(dir, "long.c")
	if err := os.WriteFile(file, []byte(source), 0o666); err != nil {
		t.Fatal(err)
	}
	build := func(name string, flags ...string) {
		args := append([]string{"cc", "-O0", "-g", file, "-o", filepath.Join(dir, name), "-pthread"}, flags...)
		if out, err := heddleCommand(t, dir, nil, args...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	build("long", "-DN=150000")
	if out := runJSON[findJSON](t, dir, 0, "find", "--json", "--races=ignore", "--time=0", "--runs=8", "--no-simplify", "--", "./long"); out.Outcome != "clean" || out.Executions != 8 {
		t.Errorf("%+v", out)
	}
	build("stuck", "-DSTUCK", "-DN=10")
	if out := runJSON[findJSON](t, dir, exitFound, "find", "--json", "--time=60s", "--no-simplify", "--", "./stuck"); out.Finding.Kind != "hang" {
		t.Errorf("%+v", out)
	}
}
