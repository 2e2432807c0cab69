// threads.h: the life of threads.
#ifndef HD_THREADS_THREADS_H
#define HD_THREADS_THREADS_H
#include "core/registration.h"
#include "core/virtual_time.h"

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

// ---- attributes.c
void hd_thread_attributes(struct hd_thread *u, const struct hd_thread *parent, const void *attr);

// ---- process_exit.c
_Noreturn void hd_exit(int status, uint64_t pc); // exit(), called at pc
_Noreturn void hd_exit_chosen(struct hd_thread *t, int status);
extern const struct hd_registration hd_process_exit;
#endif
