// threads.h: the life of threads.
#ifndef HD_THREADS_THREADS_H
#define HD_THREADS_THREADS_H
#include "core/registration.h"
#include "core/virtual_time.h"
#include "memory/shared_state.h"

// ---- life.c
void hd_thread_main(void);                    // first code of every fiber
// Creates a thread for t that starts in entry(arg), enabled. Ends the execution if the limit is reached.
struct hd_thread *hd_spawn(struct hd_thread *t, void *(*entry)(void *), void *arg, bool detached);
bool hd_threads_controlled(void);
void *hd_thread_wishes(const void *attr, size_t *size, bool *detached); // reads attributes, which may be NULL; returns the stack they name, or NULL
int hd_thread_create(uintptr_t *id, const void *attr, void *(*entry)(void *), void *arg, uint64_t pc);
int hd_thread_join(uintptr_t id, void **ret, uint64_t pc, const struct hd_deadline *until, bool try);
int hd_thread_detach(uintptr_t id, uint64_t pc);
_Noreturn void hd_thread_exit(void *ret, uint64_t pc);
extern const struct hd_registration hd_thread_life;

// ---- keys.c: pthread_key_create
extern const struct hd_registration hd_keys;

// ---- before_main.c: threads before main
bool hd_before_main(void);
int hd_early_create(uintptr_t *id, const void *attr, void *(*entry)(void *), void *arg, uint64_t pc);
int hd_early_detach(uintptr_t id);
_Noreturn void hd_early_join(void);
extern const struct hd_registration hd_threads_before_main;

// ---- identifiers.c: what an identifier from getpid, gettid or fork names
struct hd_named {
  struct hd_thread *thread; // NULL: a child process
  long process;             // the kernel's identifier of the child process
};
// 0 names the calling thread. Returns false if id names nothing. Ends the execution if it names a process that heddle
// does not know; what is the call.
bool hd_named(int id, const char *what, uint64_t pc, struct hd_named *to);
long hd_kernel_child(int pid); // see struct hd_registration

// ---- attributes.c
void hd_thread_inherits(struct hd_thread *u, const struct hd_thread *parent);
void hd_thread_attributes(struct hd_thread *u, const void *attr); // attr: of pthread_create; may be NULL
struct hd_thread *hd_thread_valid(uintptr_t pthread, uint64_t pc); // reports misuse if it names no thread
enum hd_attribute { HD_ATTRIBUTE_NAME = 1, HD_ATTRIBUTE_PROCESSORS, HD_ATTRIBUTE_PRIORITY, HD_ATTRIBUTE_NICE, HD_ATTRIBUTE_DETACHED };
void hd_attribute_used(const struct hd_thread *u, enum hd_attribute what, enum hd_share how, uint64_t pc);
int hd_name_set(struct hd_thread *u, const char *name, uint64_t pc); // returns 0 or an errno
int hd_name_get(const struct hd_thread *u, char *buf, size_t size, uint64_t pc);
void hd_name_apply(const struct hd_thread *t); // in a child of fork: gives it t's name
extern const struct hd_registration hd_names;

// ---- priority.c
void hd_priority_inherits(struct hd_thread *u, const struct hd_thread *parent);
// Gives the kernel thread the priority of t, before t starts a process: that inherits it. Ends the execution if it cannot.
void hd_priority_apply(const struct hd_thread *t);
long hd_priority_get(int which, int who, uint64_t pc); // as the system call: 20 - nice, or -errno
long hd_priority_set(int which, int who, int nice, uint64_t pc);
long hd_sched_getattr(int pid, void *to, uint32_t size, uint32_t flags, uint64_t pc); // as the system calls: -errno
long hd_sched_setattr(int pid, void *from, uint32_t flags, uint64_t pc);
extern const struct hd_registration hd_priorities;

// ---- process_exit.c
_Noreturn void hd_exit(int status, uint64_t pc); // exit(), called at pc
_Noreturn void hd_exit_chosen(struct hd_thread *t, int status);
extern const struct hd_registration hd_process_exit;
#endif
