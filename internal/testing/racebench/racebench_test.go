package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/heddle-dev/heddle/internal/testing/need"
)

// The test's binary stands in for racebench.
func TestMain(m *testing.M) {
	if os.Getenv("RACEBENCH") != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// tests are written in the form of ThreadSanitizer's. The barrier makes the threads' order certain.
var tests = map[string]string{
	"racing.c": `// RUN: %clang_tsan -O1 %s -o %t && %deflake %run %t | FileCheck %s
#include <pthread.h>
void __tsan_testonly_barrier_init(unsigned *, unsigned);
void __tsan_testonly_barrier_wait(unsigned *);
static unsigned barrier;
int x;
static void *work(void *arg) {
  __tsan_testonly_barrier_wait(&barrier);
  x = 1;
  return arg;
}
int main(void) {
  pthread_t t;
  __tsan_testonly_barrier_init(&barrier, 2);
  pthread_create(&t, 0, work, 0);
  x = 2;
  __tsan_testonly_barrier_wait(&barrier);
  pthread_join(t, 0);
  return 0;
}
// CHECK: WARNING: ThreadSanitizer: data race
`,
	"closed.c": `// RUN: %clang_tsan -O1 %s -o %t && %deflake %run %t | FileCheck %s
#include <pthread.h>
#include <unistd.h>
void __tsan_testonly_barrier_init(unsigned *, unsigned);
void __tsan_testonly_barrier_wait(unsigned *);
static unsigned barrier;
static int fds[2];
static void *work(void *arg) {
  write(fds[1], "", 1);
  __tsan_testonly_barrier_wait(&barrier);
  return arg;
}
int main(void) {
  pthread_t t;
  pipe(fds);
  __tsan_testonly_barrier_init(&barrier, 2);
  pthread_create(&t, 0, work, 0);
  __tsan_testonly_barrier_wait(&barrier);
  close(fds[1]);
  pthread_join(t, 0);
  return 0;
}
// CHECK: WARNING: ThreadSanitizer: data race
`,
	"closed_after_read.c": `// RUN: %clang_tsan -O1 %s -o %t && %run %t 2>&1 | FileCheck %s
#include <pthread.h>
#include <unistd.h>
static int fds[2];
static void *work(void *arg) {
  write(fds[1], "", 1);
  return arg;
}
int main(void) {
  pthread_t t;
  char byte;
  pipe(fds);
  pthread_create(&t, 0, work, 0);
  read(fds[0], &byte, 1);
  close(fds[1]);
  pthread_join(t, 0);
  return 0;
}
// CHECK-NOT: WARNING: ThreadSanitizer: data race
`,
	"joined.cpp": `// RUN: %clangxx_tsan -O1 %s -o %t && %run %t 2>&1 | FileCheck %s
#include <pthread.h>
static int x;
static void *work(void *arg) {
  x = 1;
  return arg;
}
int main() {
  pthread_t t;
  pthread_create(&t, 0, work, 0);
  pthread_join(t, 0);
  x = 2;
}
// CHECK-NOT: WARNING: ThreadSanitizer: data race
`,
	"annotated.c": `// RUN: %clang_tsan -O1 %s -o %t && %run %t 2>&1 | FileCheck %s
void AnnotateIgnoreReadsBegin(const char *, int);
int main(void) { AnnotateIgnoreReadsBegin("", 0); return 0; }
// CHECK-NOT: ThreadSanitizer
`,
}

// TestMeasure: a race is expected and reported, none is expected and reported, and a test by the
// sanitizer's own interface is not compared.
func TestMeasure(t *testing.T) {
	need.Tool(t, "gcc")
	need.Tool(t, "g++")
	dir := t.TempDir()
	heddle := filepath.Join(dir, "heddle")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", heddle, "./cmd/heddle")
	build.Dir = filepath.Join("..", "..", "..")
	if msg, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, msg)
	}
	for name, source := range tests {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(source), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.CommandContext(t.Context(), os.Args[0], append(args, "-heddle", heddle, "-tests", dir)...)
		cmd.Env = append(os.Environ(), "RACEBENCH=1")
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return string(out)
	}
	var all results
	if err := json.Unmarshal([]byte(run("-json")), &all); err != nil {
		t.Fatal(err)
	}
	want := []row{
		{Test: "annotated.c", Skipped: "ThreadSanitizer's own interface: AnnotateIgnoreReadsBegin"},
		{Test: "closed.c", Expected: "data race", TSan: []string{"data race"}, Heddle: []string{"data race"}, Races: 1},
		{Test: "closed_after_read.c"},
		{Test: "joined.cpp"},
		{Test: "racing.c", Expected: "data race", TSan: []string{"data race"}, Heddle: []string{"data race"}, Races: 1},
	}
	if !reflect.DeepEqual(all.Rows, want) {
		t.Errorf("%+v, want %+v", all.Rows, want)
	}
	if out := run("-programs", "racing.c"); !strings.Contains(out, "race expected, and reported: by ThreadSanitizer 1 of 1, by heddle 1 of 1\n") {
		t.Errorf("%s", out)
	}
}
