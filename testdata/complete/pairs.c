// pairs.c: two threads make calls that share state. Which of two values the program ends with depends on
// which call comes first; the argument names the pair.
//
// A search that calls itself complete has seen both. Without an argument the program prints the names.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <search.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

static long x, y; // what the first and the second thread have learned
static pthread_t one, two, self;
static FILE *file, *other;
static DIR *dir;
static int fd, ends[2];
static pthread_key_t key;
static pthread_mutex_t mutex;
static int done;
static char text[64], buffer[256];
static struct tm *result;

static void destructor(void *p) { (void)p, done = 1; }
static void at_exit_one(void) { done = done * 10 + 1; }
static void at_exit_two(void) { done = done * 10 + 2; }
static void leave(void) { _exit(done == 12 ? 3 : 0); }
static void handler(int sig) { (void)sig; }

static FILE *scratch(const char *content) {
  FILE *f = tmpfile();
  fputs(content, f);
  rewind(f);
  return f;
}

static void named(void) { file = fopen("pairs.tmp", "w+"); }

static void ceiling(void) {
  pthread_mutexattr_t a;
  pthread_mutexattr_init(&a);
  pthread_mutexattr_setprotocol(&a, PTHREAD_PRIO_PROTECT);
  pthread_mutexattr_setprioceiling(&a, 5);
  pthread_mutex_init(&mutex, &a);
}

static void allow(int cpu, int thread) {
  cpu_set_t s;
  CPU_ZERO(&s);
  CPU_SET(cpu, &s);
  if (thread) pthread_setaffinity_np(one, sizeof s, &s);
  else sched_setaffinity(0, sizeof s, &s);
}
static int allowed(int thread) {
  cpu_set_t s;
  if (thread) pthread_getaffinity_np(one, sizeof s, &s);
  else sched_getaffinity(0, sizeof s, &s);
  return CPU_COUNT(&s);
}
static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000 + t.tv_nsec;
}
static void *number(void *p) {
  *(long *)p = gettid();
  return NULL;
}
static void start(void *(*f)(void *), void *p) {
  pthread_t t;
  pthread_create(&t, NULL, f, p);
  pthread_join(t, NULL);
}
static long used(void) {
  struct rusage r;
  getrusage(RUSAGE_SELF, &r);
  return r.ru_utime.tv_sec * 1000000 + r.ru_utime.tv_usec;
}
static long lengthened(const char *path) {
  struct stat st = { 0 };
  stat(path, &st);
  return st.st_size;
}
static void set_limit(long n) {
  struct rlimit r;
  getrlimit(RLIMIT_NOFILE, &r);
  r.rlim_cur = (rlim_t)n;
  setrlimit(RLIMIT_NOFILE, &r);
}
static long limit(void) {
  struct rlimit r;
  getrlimit(RLIMIT_NOFILE, &r);
  return (long)r.rlim_cur;
}
static void add(const char *k, void *v) { hsearch((ENTRY){ (char *)k, v }, ENTER); }
static long found(const char *k) { return hsearch((ENTRY){ (char *)k, NULL }, FIND) != NULL; }
static struct tm *calendar(time_t t, int local) { return local ? localtime(&t) : gmtime(&t); }

// name, before the threads start, what the first does, what the second does, and whether the second of the outcomes came out
#define PAIRS(P) \
  /* stdio */ \
  P(fseek_ftell, file = scratch("abc"), fseek(file, 2, SEEK_SET), y = ftell(file), y == 2) \
  P(fseeko_ftello, file = scratch("abc"), fseeko(file, 2, SEEK_SET), y = ftello(file), y == 2) \
  P(fgetc_ftell, file = scratch("abc"), fgetc(file), y = ftell(file), y == 1) \
  P(fgetc_fgetc, file = scratch("abc"), x = fgetc(file), y = fgetc(file), x == 'b') \
  P(fgetc_rewind, (file = scratch("abc"), fgetc(file)), x = fgetc(file), rewind(file), x == 'a') \
  P(fgetpos_fsetpos, file = scratch("abc"), ({ fpos_t p; fgetpos(file, &p); fgetc(file); fsetpos(file, &p); }), (fseek(file, 2, SEEK_SET)), ftell(file) == 2) \
  P(fread_fgets, file = scratch("abcd"), x = (long)fread(text, 1, 2, file), fgets(buffer, 3, file), *text == 'c') \
  P(fscanf, file = scratch("1 2"), x = fscanf(file, "%ld", &x), y = fscanf(file, "%ld", &y), ftell(file) == 0) \
  P(fscanf_fgetc, file = scratch("12"), fscanf(file, "%1s", text), y = fgetc(file), y == '2') \
  P(ungetc_fgetc, file = scratch("abc"), ungetc('z', file), y = fgetc(file), y == 'z') \
  P(feof_fgetc, file = scratch(""), fgetc(file), y = feof(file), y != 0) \
  P(clearerr_feof, (file = scratch(""), fgetc(file)), clearerr(file), y = feof(file) != 0, y) \
  P(fputs_ftell, file = tmpfile(), fputs("abc", file), y = ftell(file), y == 3) \
  P(fputs_fputs, file = tmpfile(), fputs("a", file), fputs("b", file), (rewind(file), fgetc(file) == 'b')) \
  P(setvbuf_fputs, file = tmpfile(), setvbuf(file, buffer, _IOFBF, sizeof buffer), fputs("abc", file), *buffer == 'a') \
  P(setbuf_fputs, file = tmpfile(), setbuf(file, NULL), fputs("abc", file), ({ struct stat st; fstat(fileno(file), &st); st.st_size == 3; })) \
  P(fputs_stat, named(), (fputs("abc", file), fflush(file)), y = lengthened("pairs.tmp"), y == 3) \
  P(fputs_fstat, named(), (fputs("abc", file), fflush(file)), ({ struct stat st; fstat(fileno(file), &st); y = st.st_size; }), y == 3) \
  P(fputs_stat_syscall, named(), (fputs("abc", file), fflush(file)), ({ struct stat st; syscall(SYS_stat, "pairs.tmp", &st); y = st.st_size; }), y == 3) \
  P(fputs_other, (named(), other = fopen("pairs.tmp", "r")), (fputs("abc", file), fflush(file)), y = fgetc(other), y == 'a') \
  P(fputs_append, (file = fopen("pairs.tmp", "a"), other = fopen("pairs.tmp", "a")), (fputs("a", file), fflush(file)), (fputs("b", other), fflush(other)), ({ FILE *f = fopen("pairs.tmp", "r"); fgetc(f) == 'b'; })) \
  P(fputs_read, named(), (fputs("abc", file), fflush(file)), ({ int f = open("pairs.tmp", O_RDONLY); y = read(f, text, 3); close(f); }), y == 3) \
  P(fclose_stat, named(), (fputs("abc", file), fclose(file)), y = lengthened("pairs.tmp"), y == 3) \
  P(printf_ftell, (void)0, printf("abc"), y = ftell(stdout), y == 3) \
  P(fopen_fileno, (void)0, x = fileno(fopen("/dev/null", "r")), y = fileno(fopen("/dev/null", "r")), x < y) \
  P(freopen_fgetc, file = scratch("abc"), freopen("/dev/null", "r", file), y = fgetc(file), y == 'a') \
  P(getline, file = scratch("a\nb\n"), ({ char *l = NULL; size_t n = 0; getline(&l, &n, file); x = *l; }), ({ char *l = NULL; size_t n = 0; getline(&l, &n, file); y = *l; }), x == 'a') \
  P(popen, (void)0, x = fileno(popen("true", "r")), y = fileno(popen("true", "r")), x < y) \
  /* descriptors and files */ \
  P(open_open, (void)0, x = open("/dev/null", O_RDONLY), y = open("/dev/null", O_RDONLY), x < y) \
  P(dup_dup, (void)0, x = dup(1), y = dup(1), x < y) \
  P(close_dup, fd = dup(1), close(fd), y = dup(1), y == fd) \
  P(lseek_read, fd = fileno(scratch("abc")), lseek(fd, 2, SEEK_SET), y = read(fd, text, 1) == 1 ? *text : 0, y == 'c') \
  P(write_write, fd = fileno(tmpfile()), write(fd, "a", 1), write(fd, "b", 1), (pread(fd, text, 1, 0), *text == 'b')) \
  P(pwrite_pread, fd = fileno(tmpfile()), pwrite(fd, "a", 1, 0), y = pread(fd, text, 1, 0), y == 1) \
  P(write_fstat, fd = fileno(tmpfile()), write(fd, "a", 1), ({ struct stat st; fstat(fd, &st); y = st.st_size; }), y == 1) \
  P(ftruncate_fstat, fd = fileno(tmpfile()), ftruncate(fd, 7), ({ struct stat st; fstat(fd, &st); y = st.st_size; }), y == 7) \
  P(setfl_getfl, (pipe(ends), fd = ends[0]), fcntl(fd, F_SETFL, O_NONBLOCK), y = fcntl(fd, F_GETFL) & O_NONBLOCK, y) \
  P(setfd_getfd, fd = dup(1), fcntl(fd, F_SETFD, FD_CLOEXEC), y = fcntl(fd, F_GETFD), y) \
  P(fioclex_getfd, fd = dup(1), ioctl(fd, 0x5451), y = fcntl(fd, F_GETFD), y) \
  P(mkdir_rmdir, (void)0, mkdir("pairs.dir", 0700), y = rmdir("pairs.dir"), y == 0) \
  P(mkdir_stat, (void)0, mkdir("pairs.dir", 0700), y = access("pairs.dir", F_OK), y == 0) \
  P(creat_unlink, (void)0, close(creat("pairs.tmp", 0600)), y = unlink("pairs.tmp"), y == 0) \
  P(rename_access, named(), rename("pairs.tmp", "pairs.too"), y = access("pairs.tmp", F_OK), y) \
  P(chmod_stat, named(), chmod("pairs.tmp", 0400), ({ struct stat st; stat("pairs.tmp", &st); y = st.st_mode & 0777; }), y == 0400) \
  P(symlink_readlink, (void)0, symlink("x", "pairs.link"), y = readlink("pairs.link", text, 9), y == 1) \
  P(readdir_readdir, dir = opendir("/"), x = (long)telldir(dir) + (readdir(dir) != NULL), y = telldir(dir), y != x - 1) \
  P(seekdir_telldir, (dir = opendir("/"), readdir(dir), readdir(dir)), seekdir(dir, 0), y = telldir(dir), y == 0) \
  P(umask_umask, umask(0), umask(022), y = umask(0), y == 022) \
  P(umask_creat, umask(0), umask(077), close(creat("pairs.tmp", 0666)), ({ struct stat st; stat("pairs.tmp", &st); (st.st_mode & 0777) == 0600; })) \
  P(chdir_getcwd, (void)0, chdir("/"), y = strlen(getcwd(buffer, sizeof buffer)), y == 1) \
  P(chdir_open, (void)0, chdir("/"), y = open("etc", O_RDONLY) < 0, y) \
  P(pipe_pipe, (void)0, pipe(ends), ({ int e[2]; pipe(e); y = e[0]; }), y < ends[0]) \
  P(pipe_write, pipe(ends), write(ends[1], "a", 1), write(ends[1], "b", 1), (read(ends[0], text, 1), *text == 'b')) \
  P(socket_options, fd = socket(AF_UNIX, SOCK_STREAM, 0), setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &(int){ 1 }, sizeof(int)), ({ int v = 0; socklen_t n = sizeof v; getsockopt(fd, SOL_SOCKET, SO_PASSCRED, &v, &n); y = v; }), y) \
  P(mkstemp, (void)0, ({ char n[] = "/tmp/pairsXXXXXX"; x = mkstemp(n); unlink(n); }), ({ char n[] = "/tmp/pairsXXXXXX"; y = mkstemp(n); unlink(n); }), x < y) \
  /* threads */ \
  P(setname_getname, (void)0, pthread_setname_np(one, "x"), (pthread_getname_np(one, text, 16), y = !strcmp(text, "x")), y) \
  P(prctl_getname, (void)0, prctl(PR_SET_NAME, "x"), (pthread_getname_np(one, text, 16), y = !strcmp(text, "x")), y) \
  P(setname_setname, self = pthread_self(), pthread_setname_np(self, "x"), pthread_setname_np(self, "y"), (pthread_getname_np(self, text, 16), *text == 'x')) \
  P(affinity, (void)0, allow(0, 1), y = allowed(1), y == 1) \
  P(affinity_sched, (void)0, allow(0, 0), y = allowed(1), y == 1) \
  P(setpriority, (void)0, setpriority(PRIO_PROCESS, (id_t)getpid(), 5), y = getpriority(PRIO_PROCESS, (id_t)getpid()), y == 5) \
  P(batch, (void)0, pthread_setschedparam(one, SCHED_BATCH, &(struct sched_param){ 0 }), ({ int p; struct sched_param s; pthread_getschedparam(one, &p, &s); y = p == SCHED_BATCH; }), y) \
  P(concurrency, (void)0, pthread_setconcurrency(3), y = pthread_getconcurrency(), y == 3) \
  P(ceiling, ceiling(), ({ int old; pthread_mutex_setprioceiling(&mutex, 7, &old); }), ({ int c; pthread_mutex_getprioceiling(&mutex, &c); y = c; }), y == 7) \
  P(key_create, (void)0, ({ pthread_key_t k; pthread_key_create(&k, NULL); x = k; }), ({ pthread_key_t k; pthread_key_create(&k, NULL); y = k; }), x < y) \
  P(key_delete, pthread_key_create(&key, NULL), pthread_key_delete(key), ({ pthread_key_t k; pthread_key_create(&k, NULL); y = k; }), y == (long)key) \
  P(key_destructor, pthread_key_create(&key, destructor), pthread_setspecific(key, &key), pthread_key_delete(key), done) \
  P(detach_getattr, (void)0, pthread_detach(pthread_self()), ({ pthread_attr_t a; int s; pthread_getattr_np(one, &a); pthread_attr_getdetachstate(&a, &s); y = s; }), y == PTHREAD_CREATE_DETACHED) \
  P(thread_numbers, (void)0, start(number, &x), start(number, &y), x < y) \
  P(semaphore, (void)0, sem_open("/pairs", O_CREAT, 0600, 1), y = sem_open("/pairs", 0) != SEM_FAILED, y) \
  P(semaphore_unlink, (void)0, sem_open("/pairs", O_CREAT, 0600, 1), y = sem_unlink("/pairs"), y == 0) \
  /* signals */ \
  P(signal_signal, signal(SIGUSR1, SIG_IGN), signal(SIGUSR1, handler), y = signal(SIGUSR1, SIG_IGN) == handler, y) \
  P(sigaction, (void)0, signal(SIGUSR1, SIG_IGN), ({ struct sigaction a; sigaction(SIGUSR1, NULL, &a); y = a.sa_handler == SIG_IGN; }), y) \
  P(raise_pending, ({ sigset_t s; sigemptyset(&s); sigaddset(&s, SIGUSR1); pthread_sigmask(SIG_BLOCK, &s, NULL); }), kill(getpid(), SIGUSR1), ({ sigset_t s; sigpending(&s); y = sigismember(&s, SIGUSR1); }), y) \
  P(alarm_alarm, (void)0, alarm(100), y = alarm(0), y != 0) \
  /* the process */ \
  P(setrlimit, (void)0, set_limit(100), y = limit(), y == 100) \
  P(atexit, atexit(leave), atexit(at_exit_one), atexit(at_exit_two), 9) \
  P(on_exit, atexit(leave), on_exit((void (*)(int, void *))at_exit_one, NULL), atexit(at_exit_two), 9) \
  /* libc */ \
  P(rand, (void)0, x = rand(), y = rand(), x < y) \
  P(srand_rand, (void)0, srand(7), y = rand(), ({ srand(7); y == rand(); })) \
  P(random, (void)0, x = random(), y = random(), x < y) \
  P(drand48, (void)0, x = lrand48(), y = lrand48(), x < y) \
  P(srand48_mrand48, srand48(1), srand48(7), y = mrand48(), ({ srand48(7); y == mrand48(); })) \
  P(lcong48_nrand48, x = nrand48((unsigned short[]){ 1, 2, 3 }), lcong48((unsigned short[]){ 1, 2, 3, 4, 5, 6, 7 }), y = nrand48((unsigned short[]){ 1, 2, 3 }), x != y) \
  P(strtok, strtok(strcpy(text, "a b"), " "), x = strtok(NULL, " ") != NULL, y = strtok(NULL, " ") != NULL, x) \
  P(setenv_getenv, (void)0, setenv("PAIR", "1", 1), y = getenv("PAIR") != NULL, y) \
  P(unsetenv_getenv, setenv("PAIR", "1", 1), unsetenv("PAIR"), y = getenv("PAIR") != NULL, y) \
  P(putenv_getenv, (void)0, putenv("PAIR=1"), y = secure_getenv("PAIR") != NULL, y) \
  P(setlocale, (void)0, setlocale(LC_ALL, "C.UTF-8"), y = *setlocale(LC_ALL, NULL) == 'C' && !setlocale(LC_ALL, NULL)[1], y) \
  P(setlocale_mblen, (void)0, setlocale(LC_ALL, "C.UTF-8"), y = MB_CUR_MAX, y == 1) \
  P(localtime, result = calendar(5, 1), calendar(0, 1), calendar(1000000000, 1), result->tm_year == 70) \
  P(localtime_gmtime, result = calendar(5, 1), calendar(0, 1), calendar(1000000000, 0), result->tm_year == 70) \
  P(getopt, opterr = 0, x = getopt(3, (char *[]){ "", "-a", "-b", NULL }, "ab"), y = getopt(3, (char *[]){ "", "-a", "-b", NULL }, "ab"), x == 'a') \
  P(hsearch, hcreate(10), add("a", text), y = found("a"), y) \
  P(clock_gettime, (void)0, x = now(), y = now(), x < y) \
  P(clock, (void)0, x = clock(), (now(), y = clock()), x < y) \
  P(getrusage, (void)0, x = used(), (now(), y = used()), x < y)

// The same with functions and variables of which heddle does not know who uses them.
#define UNKNOWN_PAIRS(P) \
  P(getc_unlocked, file = scratch("abc"), x = getc_unlocked(file), y = getc_unlocked(file), x == 'b') \
  P(fgetwc, file = scratch("abc"), x = fgetwc(file), y = fgetwc(file), x == 'b') \
  P(fwrite_unlocked, file = tmpfile(), fwrite_unlocked("a", 1, 1, file), fwrite_unlocked("b", 1, 1, file), (rewind(file), fgetc(file) == 'b')) \
  P(memory_stream, file = fmemopen((char[]){ "abc" }, 3, "r"), x = fgetc(file), y = fgetc(file), x == 'b') \
  P(fallocate_fstat, fd = fileno(tmpfile()), posix_fallocate(fd, 0, 7), ({ struct stat st; fstat(fd, &st); y = st.st_size; }), y == 7) \
  P(tzset_mktime, tzset(), (setenv("TZ", "XYZ5", 1), tzset()), y = timezone, y == 18000) \
  P(lgamma, (void)0, x = (long)lgamma(-0.5), y = (long)lgamma(0.5), signgam < 0)

#ifdef UNKNOWN
#define ALL UNKNOWN_PAIRS
#else
#define ALL PAIRS
#endif
#define NAME(name, before, a, b, result) #name,
static const char *const names[] = { ALL(NAME) };
#define FUNCTIONS(name, before, a, b, result) \
  static void before_##name(void) { (void)(before); } \
  static void *first_##name(void *p) { (void)(a); return p; } \
  static void *second_##name(void *p) { (void)(b); return p; } \
  static int result_##name(void) { return (int)(result); }
ALL(FUNCTIONS)
#define ROW(name, before, a, b, result) { before_##name, first_##name, second_##name, result_##name },
static const struct { void (*before)(void); void *(*first)(void *), *(*second)(void *); int (*result)(void); } pairs[] = { ALL(ROW) };

int main(int argc, char **argv) {
  for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++) {
    if (argc < 2) puts(names[i]);
    if (argc < 2 || strcmp(argv[1], names[i])) continue;
    pairs[i].before();
    pthread_create(&one, NULL, pairs[i].first, NULL);
    pthread_create(&two, NULL, pairs[i].second, NULL);
    pthread_join(two, NULL);
    if (strcmp(names[i], "detach_getattr")) pthread_join(one, NULL);
    return pairs[i].result() ? 3 : 0;
  }
  return argc < 2 ? 0 : 2;
}
