package cprog

import (
	"errors"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/heddle-dev/heddle/schedule"
	"github.com/heddle-dev/heddle/trace"
)

const processes = `
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
extern char **environ;
static void *nothing(void *arg) { return arg; }
__attribute__((unused)) static void *prints(void *arg) { fputs("fed\n", arg); return arg; }
static volatile int ended, code, status_seen;
__attribute__((unused)) static void counts_child(int sig, siginfo_t *i, void *x) { (void)sig; (void)i; (void)x; ended++; }
__attribute__((unused)) static void on_child(int sig, siginfo_t *i, void *x) {
  (void)x;
  pid_t pid = waitpid(-1, NULL, WNOHANG);
  if (sig != SIGCHLD || pid != i->si_pid) abort();
  code = i->si_code;
  status_seen = i->si_status;
  ended = pid;
}
`

// What a program does with processes has the outcome that it has without heddle, again and
// again, and its replay is the same execution.
func TestChildProcesses(t *testing.T) {
	for _, c := range []struct{ name, body, output string }{
		{"the child goes on alone", `
			char *p = malloc(100);
			strcpy(p, "from before");
			fflush(stdout);
			pid_t pid = fork();
			if (pid == 0) { printf("child: %s\n", p); free(p); p = malloc(50); strcpy(p, "x"); free(p); exit(3); }
			int status;
			assert(waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 3);
			printf("parent: %s\n", p);
			free(p);`, "child: from before\nparent: from before\n"},
		{"waits", `
			assert(wait(NULL) == -1 && errno == ECHILD);
			pid_t a = fork();
			if (a == 0) _exit(1);
			pid_t b = vfork();
			if (b == 0) _exit(2);
			assert(a != b && waitpid(b, NULL, 0) == b && waitpid(b, NULL, 0) == -1 && errno == ECHILD);
			int status;
			assert(waitpid(-1, &status, WNOHANG) == a && WEXITSTATUS(status) == 1);
			assert(wait3(NULL, 0, NULL) == -1 && errno == ECHILD);`, ""},
		{"a child that is killed", `
			pid_t pid = fork();
			if (pid == 0) for (;;) pause();
			assert(waitpid(pid, NULL, WNOHANG) == 0);
			assert(kill(pid, SIGTERM) == 0);
			int status;
			assert(wait(&status) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);`, ""},
		{"commands", `
			setvbuf(stdout, NULL, _IONBF, 0);
			assert(WEXITSTATUS(system("echo one; exit 4")) == 4 && system(NULL));
			FILE *f = popen("echo two", "r");
			char line[20];
			assert(fgets(line, sizeof line, f) && pclose(f) == 0);
			fputs(line, stdout);
			char *argv[] = {"sh", "-c", "echo $0-$LD_PRELOAD-$HEDDLE_SHM; test ! -e /proc/self/fd/3", NULL};
			pid_t pid;
			int status;
			assert(posix_spawnp(&pid, "sh", NULL, NULL, argv, environ) == 0);
			assert(waitpid(pid, &status, 0) == pid && status == 0);
			assert(posix_spawn(&pid, "/no/such/program", NULL, NULL, argv, environ) == ENOENT);`, "one\ntwo\nsh--\n"},
		{"another program in place of this one", `
			assert(execl("/no/such/program", "x", (char *)NULL) == -1 && errno == ENOENT);
			pthread_t th;
			pthread_create(&th, NULL, nothing, NULL);
			setvbuf(stdout, NULL, _IONBF, 0);
			printf("before\n");
			execlp("sh", "sh", "-c", "echo after", (char *)NULL);`, "before\nafter\n"},
		{"a pipe from the child", `
			int fd[2], status;
			assert(pipe(fd) == 0 && write(fd[1], "in ", 3) == 3);
			pid_t pid = fork();
			if (pid == 0) { close(fd[0]); usleep(50000); _exit(write(fd[1], "out", 4) == 4 ? 0 : 1); }
			close(fd[1]);
			char text[20];
			int n = 0;
			for (int k; (k = read(fd[0], text + n, sizeof text - n)) > 0;) n += k;
			assert(n == 7 && strcmp(text, "in out") == 0);
			assert(waitpid(pid, &status, 0) == pid && status == 0);`, ""},
		{"a pipe to the child, and one back, with another thread", `
			int to[2], back[2];
			assert(pipe(to) == 0 && pipe(back) == 0);
			pid_t pid = fork();
			if (pid == 0) {
				close(to[1]); close(back[0]);
				char c;
				while (read(to[0], &c, 1) == 1) { c++; if (write(back[1], &c, 1) != 1) _exit(1); }
				_exit(0);
			}
			close(to[0]); close(back[1]);
			pthread_t th;
			pthread_create(&th, NULL, nothing, NULL);
			for (char c = 'a'; c < 'f'; c++) {
				char got = 0;
				assert(write(to[1], &c, 1) == 1 && read(back[0], &got, 1) == 1 && got == c + 1);
			}
			pthread_join(th, NULL);
			close(to[1]);
			int status;
			assert(waitpid(pid, &status, 0) == pid && status == 0);`, ""},
		{"how a child ended", `
			pid_t a = fork();
			if (a == 0) _exit(7);
			pid_t b = fork();
			if (b == 0) for (;;) pause();
			siginfo_t i;
			assert(waitid(P_PID, a, &i, WEXITED | WNOWAIT) == 0 && i.si_pid == a && i.si_code == CLD_EXITED && i.si_status == 7 && i.si_signo == SIGCHLD);
			assert(waitid(P_PID, b, &i, WEXITED | WNOHANG) == 0 && i.si_pid == 0);
			kill(b, SIGKILL);
			assert(waitid(P_ALL, 0, &i, WEXITED) == 0 && i.si_pid == a);
			assert(waitid(P_ALL, 0, &i, WEXITED) == 0 && i.si_pid == b && i.si_code == CLD_KILLED && i.si_status == SIGKILL);
			assert(waitid(P_ALL, 0, &i, WEXITED) == -1 && errno == ECHILD);
			assert(waitid(P_ALL, 0, &i, 0) == -1 && errno == EINVAL);`, ""},
		{"what a child used", `
			pid_t a = fork();
			if (a == 0) { volatile char *p = malloc(1 << 24); for (int i = 0; i < 1 << 24; i += 4096) p[i] = 1; _exit(0); }
			struct rusage u;
			memset(&u, 0, sizeof u);
			int status = 1;
			assert(wait4(a, &status, 0, &u) == a && status == 0 && u.ru_maxrss > 16 << 10);`, ""},
		{"a handler that waits", `
			struct sigaction sa = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
			sigaction(SIGCHLD, &sa, NULL);
			pid_t a = fork();
			if (a == 0) { usleep(3000); _exit(5); }
			while (!ended) { struct timespec ts = {0, 500000}; nanosleep(&ts, NULL); }
			assert(ended == a && code == CLD_EXITED && status_seen == 5 && waitpid(a, NULL, 0) == -1 && errno == ECHILD);`, ""},
		{"a signal that comes with the end", `
			struct sigaction sa = {.sa_sigaction = on_child, .sa_flags = SA_SIGINFO};
			sigaction(SIGCHLD, &sa, NULL);
			sigset_t set, none;
			sigemptyset(&none);
			sigemptyset(&set);
			sigaddset(&set, SIGCHLD);
			sigprocmask(SIG_BLOCK, &set, NULL);
			pthread_t th;
			pthread_create(&th, NULL, nothing, NULL);
			pid_t a = fork();
			if (a == 0) { usleep(3000); _exit(6); }
			while (!ended) sigsuspend(&none);
			assert(ended == a && status_seen == 6);
			pthread_join(th, NULL);`, ""},
		{"a signal that is waited for", `
			sigset_t set;
			sigemptyset(&set);
			sigaddset(&set, SIGCHLD);
			sigprocmask(SIG_BLOCK, &set, NULL);
			pid_t a = fork();
			if (a == 0) _exit(9);
			siginfo_t i;
			assert(sigwaitinfo(&set, &i) == SIGCHLD && i.si_pid == a && i.si_code == CLD_EXITED && i.si_status == 9);
			assert(waitpid(a, NULL, 0) == a);`, ""},
		{"the signal comes before the wait is over", `
			struct sigaction sa = {.sa_sigaction = counts_child, .sa_flags = SA_SIGINFO | SA_RESTART};
			sigaction(SIGCHLD, &sa, NULL);
			pid_t a = fork();
			if (a == 0) _exit(0);
			assert(waitpid(a, NULL, 0) == a && ended == 1);
			assert(system("exit 3") == 3 << 8 && ended == 2);`, ""},
		{"children that nobody asks for", `
			signal(SIGCHLD, SIG_IGN);
			pid_t a = fork();
			if (a == 0) _exit(1);
			if (fork() == 0) _exit(2);
			assert(waitpid(a, NULL, 0) == -1 && errno == ECHILD);
			assert(wait(NULL) == -1 && errno == ECHILD);`, ""},
		{"commands with streams", `
			FILE *in = popen("tr a-z A-Z", "w"), *out = popen("echo one; echo two; exit 3", "r");
			char line[20];
			assert(in && out && fgets(line, sizeof line, out) && !strcmp(line, "one\n") && fgets(line, sizeof line, out) && !fgets(line, sizeof line, out));
			assert(pclose(out) == 3 << 8);
			fprintf(in, "loud\n");
			assert(pclose(in) == 0);
			assert(popen("x", "q") == NULL && errno == EINVAL);`, "LOUD\n"},
		{"a command that a thread feeds", `
			FILE *in = popen("cat >&2; echo end >&2", "w");
			pthread_t th;
			pthread_create(&th, NULL, prints, in);
			pthread_join(th, NULL);
			assert(pclose(in) == 0);`, "fed\nend\n"},
		{"a command in a pipeline", `
			int fd[2];
			assert(pipe(fd) == 0);
			pid_t pid = fork();
			if (pid == 0) { dup2(fd[1], 1); close(fd[0]); close(fd[1]); execlp("echo", "echo", "hello", (char *)NULL); _exit(127); }
			close(fd[1]);
			char text[20];
			assert(read(fd[0], text, sizeof text) == 6 && memcmp(text, "hello\n", 6) == 0);
			waitpid(pid, NULL, 0);`, ""},
		{"a crash of the child is the child's", `
			pid_t pid = fork();
			if (pid == 0) *(volatile int *)0 = 1;
			int status;
			assert(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			tg := start(t, compile(t, processes+"int main(void) {"+c.body+"return 0; }"))
			for range 5 {
				o := run(t, tg, schedule.Plan{Record: true})
				if o.Ending.Kind != trace.Clean || o.Ending.Status != 0 || string(o.Ending.Output) != c.output {
					t.Fatalf("%v %d %q, output %q, want %q", o.Ending.Kind, o.Ending.Status, o.Ending.Message, o.Ending.Output, c.output)
				}
				again := run(t, tg, schedule.Plan{Record: true, Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads})
				sameOutcome(t, "replay", o, again)
			}
			if tg.Isolation() != Fork {
				t.Errorf("isolation %v", tg.Isolation())
			}
		})
	}
}

// Shared memory of each kind is as it was at first in every execution.
func TestSharedMemory(t *testing.T) {
	for _, c := range []struct {
		name, before, body string
		isolation          Isolation
	}{
		{"a mapping", "", `
			int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
			if (fork() == 0) { assert(*p == 0); *p = 1; _exit(0); }
			wait(NULL);
			assert(*p == 1);`, Fork},
		{"by name", "", `
			assert(shm_open("/heddle-test", O_RDWR, 0) == -1 && errno == ENOENT);
			int fd = shm_open("/heddle-test", O_CREAT | O_EXCL | O_RDWR, 0600);
			assert(fd >= 0 && ftruncate(fd, 4096) == 0);
			int *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
			assert(p != MAP_FAILED && (*p)++ == 0);`, Fork},
		{"of System V", "", `
			assert(shmget(0x4845444c, 4096, 0) == -1 && errno == ENOENT);
			int id = shmget(0x4845444c, 4096, IPC_CREAT | 0600);
			int *p = shmat(id, NULL, 0), *q = shmat(shmget(0x4845444c, 4096, 0), NULL, 0);
			assert(p != (void *)-1 && p != q && (*p)++ == 0 && *q == 1);
			assert(shmdt(p) == 0 && shmctl(77, IPC_RMID, NULL) == -1);`, Fork},
		{"from before main", `
			static int *p;
			__attribute__((constructor)) static void early(void) { p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); }`, `
			assert((*p)++ == 0);`, Process},
		{"protection", "", `
			long *p = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
			*p = 1;
			assert(mprotect(p, 4096, PROT_READ) == 0 && *p == 1 && mremap(p, 4096, 16384, MREMAP_MAYMOVE) != MAP_FAILED);`, Fork},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := start(t, compile(t, processes+c.before+"int main(void) {"+c.body+"return 0; }", "-lrt"))
			for range 4 {
				o := run(t, tg, schedule.Plan{Record: true})
				if o.Ending.Kind != trace.Clean {
					t.Fatalf("%v %q", o.Ending.Kind, o.Ending.Message)
				}
				again := run(t, tg, schedule.Plan{Record: true, Mode: schedule.Strict, Script: schedule.ScriptOf(o.Trace), Threads: o.Trace.Threads})
				sameOutcome(t, "replay", o, again)
			}
			if tg.Isolation() != c.isolation {
				t.Errorf("isolation %v, want %v", tg.Isolation(), c.isolation)
			}
		})
	}
}

// A sentence reports what cannot be carried.
func TestChildProcessesRefused(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a child with threads", `
			pid_t pid = fork();
			if (pid == 0) { pthread_t th; pthread_create(&th, NULL, nothing, NULL); pthread_join(th, NULL); _exit(0); }
			waitpid(pid, NULL, 0);`, "a child process of the program, forked and without exec, starts a thread"},
		{"an eventfd", `
			int fd = eventfd(0, 0);
			if (fork() == 0) _exit(fd);`, "a child process that inherits a socket, eventfd"},
		{"a signal to the program", `
			pid_t self = getpid();
			if (fork() == 0) { kill(self, SIGKILL); _exit(0); }
			wait(NULL);`, "sends the program SIGKILL"},
		{"a handler", `
			if (fork() == 0) _exit(0);
			struct sigaction sa = {.sa_handler = (void (*)(int))nothing};
			sigaction(SIGCHLD, &sa, NULL);`, "a handler for SIGCHLD that is installed after"},
		{"a signal wait", `
			sigset_t set;
			sigemptyset(&set);
			sigaddset(&set, SIGCHLD);
			if (fork() == 0) _exit(0);
			sigprocmask(SIG_BLOCK, &set, NULL);
			int sig;
			sigwait(&set, &sig);`, "a wait for the signal of a child's end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tg := start(t, compile(t, processes+"int main(void) {"+c.body+"return 0; }"))
			o, err := tg.Run(t.Context(), schedule.Plan{Record: true})
			var refused *RefusedError
			if errors.As(err, &refused) {
				o.Ending.Kind, o.Ending.Message = trace.Unsupported, refused.Reason
			} else if err != nil {
				t.Fatal(err)
			}
			if o.Ending.Kind != trace.Unsupported || !strings.Contains(o.Ending.Message, c.want) {
				t.Errorf("%v %q, want %q", o.Ending.Kind, o.Ending.Message, c.want)
			}
		})
	}
}

// Asked for a snapshot, heddle says what would carry the program; unasked it takes that,
// and says so once.
func TestIsolationIsChosen(t *testing.T) {
	prog := compile(t, processes+`int main(void) { if (fork() == 0) _exit(0); wait(NULL); return 0; }`)
	o := run(t, startAt(t, prog, Snapshot, false), schedule.Plan{Record: true})
	if o.Ending.Kind != trace.Unsupported || o.Ending.Message != "fork (--isolation=fork can carry it)" {
		t.Errorf("%v %q", o.Ending.Kind, o.Ending.Message)
	}
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	sign := func(h *trace.Header) { h.Signature = "of isolation " + h.Isolation }
	tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Dir: filepath.Dir(prog), Runtime: lib, Sign: sign, Tell: func(s string) { told = append(told, s) }})
	if err != nil {
		t.Fatal(err)
	}
	defer tg.Close()
	if tg.Header().Isolation != "" {
		t.Errorf("the header says %q before anything was run", tg.Header().Isolation)
	}
	out := stream(t, tg, []schedule.Plan{{Repeat: 1, Record: true}, {Repeat: 1}, {Repeat: 1, Record: true}})
	for i, o := range out {
		if o.Ending.Kind != trace.Clean || i != 1 && o.Trace.Header.Isolation != "fork" {
			t.Errorf("%d: %v %q", i, o.Ending.Kind, o.Ending.Message)
		}
		if i != 1 && o.Trace.Header.Signature != "of isolation fork" {
			t.Errorf("%d: the signature is %q", i, o.Trace.Header.Signature)
		}
	}
	if len(told) != 1 || !strings.Contains(told[0], "the program uses fork at ") || !strings.Contains(told[0], "prog.c:32") {
		t.Errorf("told %q", told)
	}
}

// More threads than were made ready.
func TestManyThreadsUnderEachIsolation(t *testing.T) {
	prog := compile(t, processes+`int main(void) {
		pthread_t th[40];
		for (int i = 0; i < 40; i++) pthread_create(&th[i], NULL, nothing, NULL);
		for (int i = 0; i < 40; i++) pthread_join(th[i], NULL);
		return 0;
	}`)
	for _, isolation := range []Isolation{Snapshot, Fork, Process} {
		for _, o := range stream(t, startAt(t, prog, isolation, false), []schedule.Plan{{}, {Policy: schedule.Random}, {Policy: schedule.POS}}) {
			if o.Ending.Kind != trace.Clean || o.Threads != 41 {
				t.Errorf("%v: %v %q, %d threads", isolation, o.Ending.Kind, o.Ending.Message, o.Threads)
			}
		}
	}
}

// A program that computes forever is unfinished under fork isolation, too, at its place; a child
// that takes its time is none.
func TestWatchdogAndChildren(t *testing.T) {
	lib, err := theRuntime()
	if err != nil {
		t.Fatal(err)
	}
	begin := func(source string, isolation Isolation) *Target {
		prog := compile(t, source)
		tg, err := Start(t.Context(), Config{Path: prog, Args: []string{prog}, Dir: filepath.Dir(prog), Runtime: lib, Isolation: isolation, Watchdog: 500 * time.Millisecond})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { tg.Close() })
		return tg
	}
	tg := begin("int main(int n, char **v) { for (;;) n++; }", Fork)
	for range 2 {
		o := run(t, tg, schedule.Plan{Record: true})
		if o.Ending.Kind != trace.Unfinished || o.Ending.Site == 0 {
			t.Errorf("%v %q at %v, want unfinished at its place", o.Ending.Kind, o.Ending.Message, o.Ending.Site)
		}
	}
	tg = begin(processes+`int main(void) { if (fork() == 0) { usleep(1500000); _exit(0); } wait(NULL); return 0; }`, Automatic)
	if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Clean {
		t.Errorf("%v %q", o.Ending.Kind, o.Ending.Message)
	}
}

// Failures under fork isolation are the program's, and the next execution knows nothing of them.
func TestFailuresUnderFork(t *testing.T) {
	tg := startAt(t, compile(t, `
#include <stdlib.h>
static int runs;
int main(void) { if (runs++) return 5; volatile int *p = 0; *p = 1; return 0; }`), Fork, false)
	for range 3 {
		if o := run(t, tg, schedule.Plan{}); o.Ending.Kind != trace.Signal || o.Ending.Status != int32(syscall.SIGSEGV) {
			t.Fatalf("%v %d %q", o.Ending.Kind, o.Ending.Status, o.Ending.Message)
		}
	}
}

// A process that the program leaves behind ends with the execution.
func TestChildrenLeftBehind(t *testing.T) {
	tg := start(t, compile(t, processes+`int main(void) {
		int fd[2];
		setvbuf(stdout, NULL, _IONBF, 0);
		if (fork() == 0) { printf("%d", (int)getpid()); for (;;) pause(); }
		struct timespec ts;
		for (int i = 0; i < 3; i++) if (waitpid(-1, NULL, WNOHANG)) abort(); // time for the child to write
		(void)fd; (void)ts;
		return 0;
	}`))
	o := run(t, tg, schedule.Plan{Record: true})
	pid, err := strconv.Atoi(string(o.Ending.Output))
	if o.Ending.Kind != trace.Clean || err != nil {
		t.Fatalf("%v %q, output %q", o.Ending.Kind, o.Ending.Message, o.Ending.Output)
	}
	if err := syscall.Kill(pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("process %d is still there (%v)", pid, err)
	}
}
