// live.h: the library of the backend live. A program that heddle cc linked runs on it instead of the
// controlled runtime: its threads run in parallel under the kernel's scheduler, and the hooks only
// observe, or suspend a thread for a while.
//
// Go writes a control file before the program starts (internal/target/live), whose name is in
// HEDDLE_LIVE. The library maps it shared, reads all of it but the counters, and adds to the counters.
// Its layout, below, has a version; docs/live.md describes it.
//
//   control.c    maps the control file, finds the modules, numbers the threads
//   patch.c      replaces calls of hooks by no-ops, except where something is to be done
//   hooks.c      what the compilers call: accesses, atomics
//   sync.c       the functions of libc that are interposed
//   versions.c   functions of which libc has several versions
//   calls.c      the stack of calls of each thread, if the control file asks for it
//   force.c      CTrigger's phase two: suspends threads around the target instructions
//   profile.c    records events, for CTrigger's phase one or, with values, for heddle record
//   sharing.c    which accesses are recorded, without values: those by instructions that access memory of several threads
//   values.c     what the memory of a recorded access holds
//   mappings.c   what the program maps, for recordings with values
//   openmp.c     the ends of OpenMP's constructs, for recordings with values
//
// Unlike in the controlled runtime, a hook may call libc, but nothing that is interposed.
#ifndef HEDDLE_LIVE_H
#define HEDDLE_LIVE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HL_VERSION = 5 };
#define HL_MAGIC 0x6576696c6c646568u // "hedlive" and a byte
enum { HL_NAME = 256, HL_MODULES = 64 };

// What the library does.
enum hl_mode {
  HL_PLAIN,   // calls the hooks, which do nothing
  HL_PROFILE, // records events
  HL_FORCE,   // suspends threads for the targets
  HL_DELAY,   // delays threads at synchronisation operations
};

// A target is an interleaving; for a race, p is 0. Addresses are return addresses of hooks: module
// number in the high 16 bits, offset in the module below. 0: none.
struct hl_target {
  uint64_t p, c, r;
  uint64_t outer_c, outer_r; // acquisitions before which to wait instead
  uint32_t thread_c, thread_r; // number + 1 of the only thread that is meant, 0 for any
  uint64_t stay;               // 1: the thread before c waits for its limit, so that r happens as often as it can
  uint64_t stack_c, stack_r;   // the only stack of calls that is meant, as hl_calls names it, 0 for any
  // Counters, written by the library.
  uint64_t came_c, came_r;           // arrivals at c right after p, and at r
  uint64_t suspended_c, suspended_r; // of these
  uint64_t met;                      // a thread stood before c, and another came to r on the same bytes
  uint64_t expired;                  // suspensions that the time limit ended
};

// A call of a hook to be replaced.
struct hl_patch {
  uint64_t after; // as in hl_target
  uint64_t jump;  // 1: a jump, so the function returns instead
};

struct hl_control {
  uint64_t magic, version, size;
  uint64_t mode;
  uint64_t seed;
  uint64_t limit_ns;  // of a suspension, or the longest delay
  uint64_t pass_ns;   // how long c waits for r to be done after its hook
  uint64_t budget;    // suspensions for each target
  uint64_t most;      // events that a thread records; with values, those that synchronise are recorded in any case
  uint64_t ntargets, npatches, nmodules;
  // Counters, written by the library.
  uint64_t ready;     // 1: the library has begun, in the first process with the file; 2: the calls are patched
  uint64_t threads;   // created, main included
  uint64_t refused;   // calls that were not what heddle expected
  uint64_t lost;      // events beyond most
  uint64_t main_stack;
  uint64_t stacks;    // 1: a target names a stack, or calls are to be recorded
  uint64_t values;    // 1, with HL_PROFILE: events have values, and more kinds of them are recorded
  // Written by the library: the vector of the arguments, and where their strings begin and end.
  uint64_t vectors, strings, strings_end;
  // With HL_PROFILE, without values: 1: of the plain accesses only those of the instructions shared are recorded, and found are
  // those that accessed memory which several threads accessed while there were several, one of them to write.
  uint64_t sharing;
  uint64_t nshared, most_found;
  uint64_t nfound;    // written by the library; beyond most_found they are only counted
  char directory[HL_NAME]; // where profiles are written
  struct { char path[HL_NAME]; uint64_t base; } modules[HL_MODULES]; // paths by Go, load addresses by the library
  // hl_target[ntargets], hl_patch[npatches], uint64_t shared[nshared], in ascending order, and uint64_t found[most_found] follow.
};

// One thread of the program.
struct hl_thread {
  uint32_t number; // main is 0
  uint32_t nth;
  uint64_t random;
  struct hl_record *at, *end; // of the recording
  uint32_t file;              // its number
  uint64_t room;              // records in it
  uint64_t recorded;
  uint64_t *last; // for each target the address that the thread accessed last at p
  bool inside;    // in the library: nothing is recorded or suspended
  // With hl_control.values: the last write, whose value is in memory only later, and its address.
  struct hl_record *open;
  uint64_t open_at;
  bool copying;   // the record after open reads what is copied there, and the copy comes after both
  struct hl_calls *calls; // NULL unless hl_control.stacks
};

extern struct hl_control *hl;
extern struct hl_target *hl_targets;
extern uint64_t *hl_shared, *hl_found; // instructions, as in hl_target
extern _Thread_local struct hl_thread *hl_me;

#define HL_EXPORT __attribute__((visibility("default")))
#define HL_RA ((uint64_t)__builtin_return_address(0))
#define HL_LIKELY(x) __builtin_expect(!!(x), 1)
#define HL_UNLIKELY(x) __builtin_expect(!!(x), 0)

// control.c
struct hl_thread *hl_thread(void);               // of the caller
struct hl_thread *hl_new_thread(void);           // for a thread about to be created
uint64_t hl_place(uint64_t address);             // module and offset, 0 if in no module
uint64_t hl_address(uint64_t place);             // the inverse
uint64_t hl_random(struct hl_thread *t);
static inline uint64_t hl_clock(void) { return __builtin_ia32_rdtsc(); }

// The program's calls of mmap are recorded, the library's own are not.
void *hl_mmap(void *address, size_t size, int protection, int flags, int fd, long offset);
int hl_munmap(void *address, size_t size);

// calls.c
void hl_calls_begin(struct hl_thread *t);
uint64_t hl_calls_now(struct hl_thread *t); // names the caller's stack, never 0

// patch.c
void hl_patch_calls(void);

// force.c
void hl_force_begin(void);
void hl_force_access(uint64_t pc, uint64_t address, uint64_t size);
void hl_force_acquire(uint64_t pc);
void hl_delay(void);

// profile.c
enum hl_kind {
  HL_READ = 1, HL_WRITE, HL_READ_RANGE, HL_WRITE_RANGE, HL_ATOMIC_LOAD, HL_ATOMIC_STORE, HL_ATOMIC_RMW, HL_ATOMIC_CAS, HL_ATOMIC_CAS_FAILED,
  HL_START, HL_END, HL_CREATE, HL_JOIN,
  HL_LOCK, HL_UNLOCK, HL_RDLOCK, HL_WRLOCK, HL_RWUNLOCK, HL_SPIN_LOCK, HL_SPIN_UNLOCK, HL_COND_WAIT, HL_COND_WAKE,
  HL_BARRIER_INIT, HL_BARRIER_WAIT, HL_BARRIER_LEAVE, HL_ONCE_BEGIN, HL_ONCE_END,
  HL_MALLOC, HL_FREE,
  HL_ENTER, HL_LEAVE, // a function: the place of the call, object is the stack pointer
  // Only with hl_control.values.
  HL_STACK,                               // of the thread: object is its top, value its lowest address; of main at its first event and again when main begins
  HL_EXIT,                                // value is the status
  HL_TRYLOCK, HL_TRYRDLOCK, HL_TRYWRLOCK, HL_SPIN_TRYLOCK, HL_TIMEDLOCK, HL_TIMEDRDLOCK, HL_TIMEDWRLOCK, // value is what the call returns
  HL_SIGNAL, HL_BROADCAST,
  HL_SEM_INIT, HL_SEM_WAIT, HL_SEM_TRYWAIT, HL_SEM_TIMEDWAIT, HL_SEM_POST,
  HL_MAP, HL_UNMAP,                       // object is the address, value the length
  HL_CREATED,                             // by the creator once the thread's stack exists: HL_CREATE comes before that; value is the thread's number
};
struct hl_record {
  uint64_t time, place, object;
  // Of an access with hl_control.values: what was read or written, a hash of a range of more than 8 bytes; the second
  // 8 of 16 bytes, and of an exchange the former value.
  uint64_t value, more;
  uint32_t size, kind; // kind 0: the end
};
struct hl_record *hl_record(uint32_t kind, uint64_t pc, uint64_t object, uint32_t size, uint64_t value); // NULL: not recorded
void hl_record_begin(struct hl_thread *t);
static inline bool hl_records(void) { return hl && hl->mode == HL_PROFILE; }
static inline bool hl_valued(void) { return hl_records() && hl->values; }

// sharing.c
void hl_sharing_begin(void);
bool hl_sharing_access(const struct hl_thread *t, uint64_t pc, uint64_t address, uint64_t size, bool write); // true: it is to be recorded
void hl_sharing_free(uint64_t address, uint64_t size);
void hl_sharing_forget(uint64_t address, uint64_t size); // the memory begins a new life
void hl_sharing_thread(struct hl_thread *t); // the caller

// values.c
uint64_t hl_content(uint32_t kind, uint64_t address, uint32_t size, uint64_t *more);
void hl_settle(void); // completes the caller's last write
void hl_settle_thread(struct hl_thread *t);
void hl_values_begin(void);
#endif
