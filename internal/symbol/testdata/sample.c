// A program that tells the truth about itself: each line it prints is a claim that the
// symboliser must confirm.
//
//   call OFFSET f|g|h     the return address OFFSET is in f, inlined into g, in h
//   entry OFFSET f        OFFSET is the first instruction of f
//   data OFFSET SIZE NAME SIZE bytes at OFFSET (0: unknown) are called NAME
//   value HEX SIZE OFFSET TEXT   a value of the type at OFFSET prints as TEXT
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

static uintptr_t base;

static int find_base(struct dl_phdr_info *info, size_t size, void *arg) {
  (void)size;
  (void)arg;
  base = info->dlpi_addr;
  return 1; // the program comes first
}

__attribute__((noinline)) void mark(const char *chain) {
  uintptr_t pc = (uintptr_t)__builtin_return_address(0);
  printf("call %lx %s\n", pc - base, chain);
}

#define DATA(object, size, name) printf("data %lx %zu %s\n", (uintptr_t)&(object) - base, (size_t)(size), name)
#define VALUE(object, bits, text) printf("value %llx %zu %lx %s\n", (unsigned long long)(bits), sizeof(object), (uintptr_t)&(object) - base, text)

// ---- code

static inline __attribute__((always_inline)) void leaf(const char *chain) {
  mark(chain);
}

static inline __attribute__((always_inline)) void middle(int n, const char *deep, const char *shallow) {
  if (n > 1)
    leaf(deep);
  mark(shallow);
}

__attribute__((noinline)) void outer(int n) {
  middle(n, "leaf|middle|outer", "middle|outer");
  if (n > 3) {
    leaf("leaf|outer");
    __asm__ volatile(""); // or it is merged with the call below
  }
  mark("outer");
}

__attribute__((noinline)) static void *worker(void *arg) {
  static int rounds;
  DATA(rounds, sizeof rounds, "worker::rounds");
  (void)arg;
  mark("worker");
  return &rounds;
}

// ---- data

enum state { IDLE, BUSY, DONE = 7, LOST = -1 };
enum flags { READABLE = 1, WRITABLE = 2, CLOSED = 4 };

struct account {
  int id;
  long balance;
};

typedef struct {
  pthread_mutex_t mut;
  pthread_cond_t not_empty;
  int items[4];
  unsigned head : 5, tail : 5;
  unsigned char open : 1;
  struct {
    short x, y;
  };
  union {
    int as_int;
    double as_double;
    char bytes[8];
  } u;
  enum state state;
  struct account *owner;
} queue_t;

queue_t queue;
struct account account[3];
static int counter;
int grid[3][5];
pthread_mutex_t locks[2];
static char buffer[64];
volatile _Bool stop;
float ratio;
enum flags flags;
char letter;
unsigned long big;
_Atomic int hits;
pthread_mutex_t plain_lock;

int main(void) {
  dl_iterate_phdr(find_base, 0);
  printf("entry %lx worker\n", (uintptr_t)worker - base);
  printf("entry %lx outer\n", (uintptr_t)outer - base);
  outer(4);
  worker(0);
  mark("main");

  DATA(counter, 4, "counter");
  DATA(counter, 0, "counter");
  printf("data %lx 1 counter+2\n", (uintptr_t)&counter - base + 2);
  DATA(queue, 0, "queue.mut");
  DATA(queue, sizeof queue, "queue");
  DATA(queue.not_empty, 0, "queue.not_empty");
  printf("data %lx 4 queue.mut+8\n", (uintptr_t)&queue.mut - base + 8);
  DATA(queue.items[2], 4, "queue.items[2]");
  DATA(queue.items[1], 12, "queue.items[1..3]");
  DATA(queue.items, 16, "queue.items");
  printf("data %lx 2 queue.{head,tail,open}\n", (uintptr_t)&queue.items[4] - base);
  printf("data %lx 1 queue.{head,tail}\n", (uintptr_t)&queue.items[4] - base);
  DATA(queue.x, 2, "queue.x");
  DATA(queue.y, 2, "queue.y");
  DATA(queue.u, 4, "queue.u.as_int");
  DATA(queue.u, 8, "queue.u.as_double");
  DATA(queue.u.bytes[3], 1, "queue.u.bytes[3]");
  DATA(queue.state, 4, "queue.state");
  DATA(queue.owner, 8, "queue.owner");
  DATA(account[2].balance, 8, "account[2].balance");
  DATA(account[1], 0, "account[1].id");
  DATA(account[1], sizeof account[1], "account[1]");
  DATA(account, sizeof account, "account");
  DATA(grid[2][3], 4, "grid[2][3]");
  DATA(grid[1], sizeof grid[1], "grid[1]");
  DATA(locks[1], 0, "locks[1]");
  DATA(buffer[12], 1, "buffer[12]");
  DATA(buffer[0], 12, "buffer[0..11]");
  DATA(stop, 1, "stop");
  DATA(hits, 4, "hits");
  DATA(plain_lock, 0, "plain_lock");
  printf("data %lx 0 worker\n", (uintptr_t)worker - base);

  VALUE(counter, 0xffffffff, "-1");
  VALUE(queue.state, 7, "DONE");
  VALUE(queue.state, 0xffffffff, "LOST");
  VALUE(queue.state, 5, "5");
  VALUE(flags, 6, "WRITABLE|CLOSED");
  VALUE(stop, 1, "true");
  VALUE(queue.owner, 0, "NULL");
  VALUE(queue.owner, 0x7f0012345678, "0x7f0012345678");
  VALUE(ratio, 0x3fc00000, "1.5");
  VALUE(queue.u, 0x3ff8000000000000, "1.5");
  VALUE(letter, 65, "65 'A'");
  VALUE(letter, 10, "10");
  VALUE(big, 0xffffffffffffffff, "18446744073709551615");
  VALUE(account[2].balance, 0xfffffffffffffff6, "-10");
  VALUE(hits, 12, "12");
  return 0;
}
