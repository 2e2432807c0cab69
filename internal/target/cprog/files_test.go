package cprog

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

// tree is everything that a program can see of the files below dir.
func tree(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		fmt.Fprintf(&b, "%s %v %d", rel, info.Mode(), info.Sys().(*syscall.Stat_t).Uid)
		switch {
		case info.Mode().IsRegular():
			content, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			fmt.Fprintf(&b, " %v %q", info.ModTime().UnixNano(), content)
		case info.Mode()&fs.ModeSymlink != 0:
			target, _ := os.Readlink(path)
			fmt.Fprintf(&b, " -> %s", target)
		}
		b.WriteByte('\n')
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// Each case changes files; what it found must be there again for the next execution, and
// afterwards. SETUP is true of every execution's beginning.
func TestFilesArePutBack(t *testing.T) {
	for _, c := range []struct{ name, body string }{
		{"written", `fd = open("a", O_RDWR); assert(read(fd, buf, 99) == 5 && write(fd, "more", 4) == 4); close(fd)`},
		{"truncated", `fd = open("a", O_WRONLY | O_TRUNC); write(fd, "x", 1)`},
		{"truncated by name", `assert(truncate("a", 2) == 0); assert(truncate("d/b", 20000) == 0)`},
		{"truncated by descriptor", `fd = open("a", O_RDWR); assert(ftruncate(fd, 1) == 0)`},
		{"appended", `FILE *f = fopen("a", "a"); fprintf(f, "tail"); fclose(f); f = fopen("a", "r"); assert(fgets(buf, 99, f) && strcmp(buf, "alphatail") == 0)`},
		{"stdio leaves it open", `FILE *f = fopen("a", "w"); fprintf(f, "lost"); fflush(f)`},
		{"created", `fd = open("new", O_CREAT | O_EXCL | O_WRONLY, 0600); assert(fd >= 0 && write(fd, "z", 1) == 1); FILE *f = fopen("d/new", "wx"); assert(f); fputs("q", f)`},
		{"created by openat", `int d = open("d", O_DIRECTORY | O_RDONLY); assert(openat(d, "c", O_CREAT | O_EXCL | O_RDWR, 0640) >= 0 && access("d/c", F_OK) == 0)`},
		{"removed", `assert(unlink("a") == 0 && access("a", F_OK) == -1 && remove("d/b") == 0 && rmdir("d") == 0 && unlink("link") == 0)`},
		{"removed and made again", `unlink("a"); fd = open("a", O_CREAT | O_WRONLY, 0600); write(fd, "other", 5); close(fd); fd = open("a", O_RDWR | O_TRUNC); write(fd, "3", 1)`},
		{"written and removed", `fd = open("a", O_WRONLY | O_TRUNC); write(fd, "x", 1); unlink("a")`},
		{"created and removed", `fd = open("n", O_CREAT | O_RDWR, 0600); unlink("n"); mkdir("m", 0700); rmdir("m")`},
		{"moved", `assert(rename("a", "z") == 0); fd = open("z", O_WRONLY | O_APPEND); write(fd, "y", 1)`},
		{"moved over another", `fd = open("a", O_WRONLY); write(fd, "A", 1); assert(rename("a", "d/b") == 0 && access("a", F_OK) == -1)`},
		{"a directory moved", `assert(rename("d", "e") == 0); fd = open("e/b", O_WRONLY | O_TRUNC); mkdir("e/f", 0755)`},
		{"directories", `assert(mkdir("x", 0755) == 0 && mkdir("x/y/", 0700) == 0); fd = creat("x/y/z", 0644); write(fd, "1", 1); assert(symlink("x", "s") == 0 && link("a", "h") == 0)`},
		{"modes", `assert(chmod("a", 0444) == 0); fd = open("d/b", O_RDONLY); assert(fchmod(fd, 0600) == 0)`},
		{"times", `struct stat st; struct timespec t[2] = { { 1, 2 }, { 3, 4 } }; fd = open("a", O_RDWR); assert(write(fd, "times", 5) == 5 && futimens(fd, t) == 0 && fstat(fd, &st) == 0 && st.st_mtim.tv_sec == 3 && st.st_mtim.tv_nsec == 4);
  struct utimbuf u = { 5, 6 }; struct timeval v[2] = { { 7, 8 }, { 9, 10 } }; assert(utime("d/b", &u) == 0 && stat("d/b", &st) == 0 && st.st_mtime == 6); assert(utimes("d", v) == 0 && lutimes("link", v) == 0 && lstat("link", &st) == 0 && st.st_mtime == 9);
  assert(utimensat(AT_FDCWD, "d/b", t, 0) == 0 && utime("none", NULL) == -1 && errno == ENOENT && futimens(999, NULL) == -1 && errno == EBADF && utime("link", NULL) == 0)`},
		{"owners", `struct stat st; uid_t u = geteuid() ? (uid_t)-1 : 1234; assert(chmod("a", 04755) == 0 && chown("a", u, getegid()) == 0 && stat("a", &st) == 0 && (u != 1234 || (st.st_uid == u && !(st.st_mode & S_ISUID)))); fd = open("d/b", O_RDONLY); assert(fchown(fd, u, -1) == 0 && lchown("link", u, -1) == 0 && fchownat(AT_FDCWD, "d", u, -1, 0) == 0 && unlink("a") == 0)`},
		{"flushed", `int p[2]; fd = open("a", O_RDWR); assert(write(fd, "flush", 5) == 5 && fsync(fd) == 0 && fdatasync(fd) == 0 && syncfs(fd) == 0); sync();
  assert(fsync(999) == -1 && errno == EBADF && pipe(p) == 0 && fsync(p[0]) == -1 && fdatasync(p[1]) == -1)`},
		{"through a link", `fd = open("link", O_WRONLY | O_TRUNC); assert(fd >= 0); write(fd, "linked", 6)`},
		{"from another directory", `assert(chdir("d") == 0); fd = open("b", O_WRONLY | O_TRUNC); write(fd, "x", 1); assert(mkdir("sub", 0700) == 0 && chdir("sub") == 0 && rename("../b", "b2") == 0)`},
		{"umask", `umask(077); fd = open("u", O_CREAT | O_WRONLY, 0666); struct stat st; fstat(fd, &st); assert((st.st_mode & 0777) == 0600)`},
		{"temporary files", `char n[] = "t-XXXXXX", k[] = "dXXXXXX"; assert(mkstemp(n) >= 0 && mkdtemp(k) && tmpfile())`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			prog := compile(t, strings.NewReplacer("BODY", c.body).Replace(`
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>
#include <utime.h>
static char buf[100];
static int count(const char *path) { char b[99]; int f = open(path, O_RDONLY), n = (int)read(f, b, 99); close(f); return n; }
int main(void) {
  int fd = -1;
  assert(count("a") == 5 && count("d/b") == 4 && count("link") == 5);
  assert(access("new", F_OK) == -1 && access("d/new", F_OK) == -1);
  mode_t m = umask(022); umask(m); assert(m == 022);
  BODY;
  return 0;
}`))
			dir := t.TempDir()
			old := time.Date(2020, 1, 2, 3, 4, 5, 6000, time.UTC)
			if err := os.Mkdir(filepath.Join(dir, "d"), 0o755); err != nil {
				t.Fatal(err)
			}
			for name, content := range map[string]string{"a": "alpha", "d/b": "beta"} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
				if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
				t.Fatal(err)
			}
			before := tree(t, dir)
			tg := startIn(t, dir, prog)
			for i := range 5 {
				o := run(t, tg, schedule.Plan{Record: i == 0})
				if o.Ending.Kind != trace.Clean {
					t.Fatalf("execution %d: %v %s %s", i, o.Ending.Kind, o.Ending.Message, o.Ending.Output)
				}
				// It reads the changes back only when the execution is over.
				run(t, tg, schedule.Plan{Policy: schedule.Random, Seed: uint64(i)})
			}
			tg.Close()
			if after := tree(t, dir); after != before {
				t.Errorf("before:\n%safter:\n%s", before, after)
			}
			// Left alone, the same program changes what is there, or the test says nothing.
			cmd := exec.Command(prog)
			cmd.Dir = dir
			lib, _ := theRuntime()
			cmd.Env = append(os.Environ(), "LD_PRELOAD="+lib)
			defer syscall.Umask(syscall.Umask(0o22))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("without heddle: %v\n%s", err, out)
			}
			if after := tree(t, dir); after == before && !slices.Contains([]string{"created and removed"}, c.name) {
				t.Errorf("the program changed nothing")
			}
		})
	}
}

func startIn(t testing.TB, dir, prog string, args ...string) *Target {
	t.Helper()
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	tg, err := Start(t.Context(), Config{Path: prog, Args: append([]string{prog}, args...), Dir: dir, Runtime: lib})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tg.Close() })
	return tg
}

// A new file differs from files that were removed, whose inode numbers the file system may
// give it or not. (One that never gives them again proves nothing.)
func TestNewFilesAreNew(t *testing.T) {
	prog := compile(t, `
#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
  for (int i = 0; i < 3; i++) {
    int fd = open("file", O_CREAT | O_EXCL | O_WRONLY, 0600);
    assert(fd >= 0 && close(fd) == 0 && unlink("file") == 0);
  }
  for (int i = 0; i < 3; i++) {
    assert(mkdir("directory", 0700) == 0);
    int fd = open("directory", O_RDONLY | O_DIRECTORY);
    assert(fd >= 0 && close(fd) == 0 && rmdir("directory") == 0);
  }
  return 0;
}`)
	o := run(t, startIn(t, t.TempDir(), prog), schedule.Plan{Record: true})
	if o.Ending.Kind != trace.Clean {
		t.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
	}
	seen := map[trace.Object]bool{}
	for _, e := range o.Trace.Events {
		if e.Op == trace.OpFdOpen {
			seen[e.Object] = true
		}
	}
	if len(seen) != 6 {
		t.Errorf("6 files were made and opened, and are %d objects in the trace", len(seen))
	}
}

// The flags of descriptors that are there from the start are as they were, too.
func TestDescriptorFlagsArePutBack(t *testing.T) {
	tg := start(t, compile(t, `
#include <assert.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>
int main(void) {
  int on = 1;
  assert(!(fcntl(1, F_GETFL) & (O_NONBLOCK | O_APPEND)) && !(fcntl(0, F_GETFL) & O_NONBLOCK) && !(fcntl(2, F_GETFD) & FD_CLOEXEC));
  int copy = dup(1);
  assert(fcntl(copy, F_SETFL, O_NONBLOCK | O_APPEND) == 0 && ioctl(0, FIONBIO, &on) == 0 && fcntl(2, F_SETFD, FD_CLOEXEC) == 0);
  assert(fcntl(1, F_GETFL) & O_NONBLOCK);
  return 0;
}`))
	for range 3 {
		if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
			t.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
		}
	}
}

// A directory is read in the order of names, whatever order the file system has them in.
func TestDirectoriesAreInOrder(t *testing.T) {
	prog := compile(t, `
#define _GNU_SOURCE
#include <assert.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
int main(void) {
  char last[300] = "";
  int n = 0;
  DIR *d = opendir("many");
  assert(d && !opendir("missing"));
  long start = telldir(d), third = 0;
  for (struct dirent *e; (e = readdir(d)); n++) {
    assert(strcmp(last, e->d_name) < 0);
    strcpy(last, e->d_name);
    if (n == 2) third = telldir(d);
  }
  assert(n == 1002 && readdir(d) == NULL);
  rewinddir(d);
  assert(strcmp(readdir(d)->d_name, ".") == 0);
  seekdir(d, third);
  assert(strcmp(readdir(d)->d_name, "f1") == 0);
  seekdir(d, start);
  assert(strcmp(readdir(d)->d_name, ".") == 0);
  assert(dirfd(d) >= 3 && closedir(d) == 0);
  int fd = open("many", O_RDONLY | O_DIRECTORY);
  d = fdopendir(fd);
  assert(d && readdir(d) && readdir(d) && strcmp(readdir(d)->d_name, "f0") == 0 && closedir(d) == 0);
  return 0;
}`)
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "many"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := os.WriteFile(filepath.Join(dir, "many", fmt.Sprintf("f%d", i*7%1000)), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	tg := startIn(t, dir, prog)
	for range 3 {
		if o := run(t, tg, schedule.Plan{Record: true}); o.Ending.Kind != trace.Clean {
			t.Fatalf("%v %s", o.Ending.Kind, o.Ending.Message)
		}
	}
}

// heddle refuses what it cannot restore, with a reason.
func TestFilesThatCannotBePutBack(t *testing.T) {
	prog := compile(t, `
#define _GNU_SOURCE
#include <fcntl.h>
#include <unistd.h>
int main(void) { return open("large", O_WRONLY) < 0; }`)
	dir := t.TempDir()
	f, err := os.Create(filepath.Join(dir, "large"))
	if err != nil {
		t.Fatal(err)
	}
	f.Truncate(65 << 20)
	f.Close()
	if o := run(t, startIn(t, dir, prog), schedule.Plan{}); o.Ending.Kind != trace.Unsupported || !strings.Contains(o.Ending.Message, "64 MB") {
		t.Errorf("%v %q", o.Ending.Kind, o.Ending.Message)
	}
	f, _ = os.OpenFile(filepath.Join(dir, "large"), os.O_RDWR, 0)
	f.Truncate(1 << 20)
	f.Close()
	if o := run(t, startIn(t, dir, prog), schedule.Plan{}); o.Ending.Kind != trace.Clean {
		t.Errorf("a smaller one: %v %q", o.Ending.Kind, o.Ending.Message)
	}
}

// heddle's own descriptors do not exist for the program, whatever it does to all of them.
func TestOwnDescriptorsAreHidden(t *testing.T) {
	prog := compile(t, `
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv) {
  int p[2];
  char c;
  assert(pipe(p) == 0 && p[0] == 3);
  printf("before\n"); fflush(stdout);
  switch (atoi(argv[1])) {
  case 0: for (int fd = 3; fd < 1024; fd++) { int r = close(fd); assert(r == 0 ? fd < 5 : errno == EBADF); } break;
  case 1: closefrom(3); break;
  case 2: assert(close_range(3, ~0u, 0) == 0); break;
  case 3: for (int fd = 3; fd < 1024; fd++) syscall(SYS_close, fd); break;
  case 4: // takes every number
    for (int fd = 5; fd < 300; fd++) { assert(dup2(p[1], fd) == fd); assert(fcntl(fd, F_GETFD) == 0); }
    assert(write(299, "x", 1) == 1 && read(p[0], &c, 1) == 1);
    for (int fd = 3; fd < 300; fd++) assert(close(fd) == 0);
    break;
  case 5: // none answers
    for (int fd = 5; fd < 1024; fd++) {
      struct pollfd x = { fd, POLLIN, 0 };
      assert(read(fd, &c, 1) == -1 && errno == EBADF && fcntl(fd, F_GETFD) == -1 && dup(fd) == -1 && lseek(fd, 0, SEEK_SET) == -1 && errno == EBADF);
      assert(poll(&x, 1, 0) == 1 && x.revents == POLLNVAL && fchdir(fd) == -1 && errno == EBADF);
    }
    closefrom(3);
    break;
  case 6: closefrom(0); break; // its own output, too
  }
  assert(read(p[0], &c, 1) == -1 && errno == EBADF);
  if (atoi(argv[1]) == 6) return 0;
  assert(open("/dev/null", O_RDWR) == 3);
  assert(pipe(p) == 0 && p[0] == 4);
  printf("after\n");
  return 0;
}`)
	for i := range 7 {
		tg := start(t, prog, fmt.Sprint(i))
		for n := range 5 {
			o := run(t, tg, schedule.Plan{Record: true})
			want := "before\nafter\n"
			if i == 6 {
				want = "before\n"
			}
			if o.Ending.Kind != trace.Clean || string(o.Ending.Output) != want {
				t.Fatalf("way %d, execution %d: %v %s %q", i, n, o.Ending.Kind, o.Ending.Message, o.Ending.Output)
			}
		}
	}
}

// Where only another process can end a wait, the program waits for it while its other threads
// continue, and the execution reports it.
func TestAnotherProcess(t *testing.T) {
	prog := compile(t, `
#include <assert.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
static atomic_int other;
static void *work(void *arg) { for (int i = 0; i < 10; i++) { atomic_fetch_add(&other, 1); usleep(10); } return arg; }
int main(int argc, char **argv) {
  pthread_t t;
  char c[2];
  int fd = open("fifo", O_RDONLY);
  assert(fd >= 0);
  pthread_create(&t, NULL, work, NULL);
  if (argc > 1) { struct pollfd p = { fd, POLLIN, 0 }; assert(poll(&p, 1, -1) == 1 && p.revents & POLLIN); }
  assert(read(fd, c, 2) == 2 && c[0] == 'o');
  assert(atomic_load(&other) == 10);
  pthread_join(t, NULL);
  return 0;
}`)
	for _, args := range [][]string{nil, {"poll"}} {
		dir := t.TempDir()
		fifo := filepath.Join(dir, "fifo")
		if err := syscall.Mkfifo(fifo, 0o600); err != nil {
			t.Fatal(err)
		}
		tg := startIn(t, dir, prog, args...)
		var wrote atomic.Bool
		go func() {
			f, err := os.OpenFile(fifo, os.O_WRONLY, 0) // when the program has opened it
			if err != nil {
				return
			}
			time.Sleep(300 * time.Millisecond)
			wrote.Store(true)
			f.Write([]byte("ok"))
			time.Sleep(time.Second)
			f.Close()
		}()
		o := run(t, tg, schedule.Plan{Record: true})
		if o.Ending.Kind != trace.Clean || !o.External {
			t.Errorf("%v %s, external %t", o.Ending.Kind, o.Ending.Message, o.External)
		}
		if !wrote.Load() {
			t.Error("it did not wait")
		}
	}
}
