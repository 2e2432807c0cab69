// annotations.c: the remaining functions that a program linked for ThreadSanitizer may call.
// Annotations tell a detector about synchronisation that it cannot see, for instance in a library
// without access hooks. Those that order threads do so here, too. None is a scheduling point, because
// heddle sees the system calls that implement the waiting.
#include "core/run.h"
#include "core/sched.h"

#define NOTHING(name) HD_EXPORT void name(void) {}
NOTHING(AnnotateBenignRace) NOTHING(AnnotateBenignRaceSized) NOTHING(AnnotateCondVarSignal)
NOTHING(AnnotateCondVarSignalAll) NOTHING(AnnotateCondVarWait) NOTHING(AnnotateEnableRaceDetection)
NOTHING(AnnotateExpectRace) NOTHING(AnnotateFlushExpectedRaces) NOTHING(AnnotateFlushState)
NOTHING(AnnotateIgnoreReadsBegin)
NOTHING(AnnotateIgnoreReadsEnd) NOTHING(AnnotateIgnoreSyncBegin) NOTHING(AnnotateIgnoreSyncEnd)
NOTHING(AnnotateIgnoreWritesBegin) NOTHING(AnnotateIgnoreWritesEnd)
NOTHING(AnnotateMemoryIsInitialized) NOTHING(AnnotateMemoryIsUninitialized)
NOTHING(AnnotateMutexIsNotPHB) NOTHING(AnnotateMutexIsUsedAsCondVar) NOTHING(AnnotateNewMemory)
NOTHING(AnnotateNoOp) NOTHING(AnnotatePCQCreate) NOTHING(AnnotatePCQDestroy) NOTHING(AnnotatePCQGet)
NOTHING(AnnotatePCQPut) NOTHING(AnnotatePublishMemoryRange)
NOTHING(AnnotateRWLockCreate) NOTHING(AnnotateRWLockCreateStatic) NOTHING(AnnotateRWLockDestroy)
NOTHING(AnnotateThreadName) NOTHING(AnnotateTraceMemory)
NOTHING(AnnotateUnpublishMemoryRange) NOTHING(WTFAnnotateBenignRaceSized)
NOTHING(__tsan_flush_memory) NOTHING(__tsan_mutex_create)
NOTHING(__tsan_mutex_destroy) NOTHING(__tsan_mutex_pre_lock)
NOTHING(__tsan_mutex_post_unlock) NOTHING(__tsan_mutex_pre_signal) NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert) NOTHING(__tsan_mutex_post_divert)
NOTHING(__tsan_external_register_header) NOTHING(__tsan_external_assign_tag)
NOTHING(__tsan_external_read) NOTHING(__tsan_external_write)

static void order(uint16_t op, const void *object) {
  if (hd_active() && !hd.open) hd_note(hd.cur, op, (uint64_t)object, 0, 0);
}
HD_EXPORT void __tsan_acquire(void *object) { order(HD_OP_ACQUIRE, object); }
HD_EXPORT void __tsan_release(void *object) { order(HD_OP_RELEASE_MERGE, object); }

typedef void annotation(const char *file, int line, const volatile void *object);
HD_EXPORT annotation AnnotateHappensBefore, AnnotateHappensAfter, WTFAnnotateHappensBefore, WTFAnnotateHappensAfter;
void AnnotateHappensBefore(const char *file, int line, const volatile void *object) { (void)file, (void)line; order(HD_OP_RELEASE_MERGE, (const void *)object); }
void AnnotateHappensAfter(const char *file, int line, const volatile void *object) { (void)file, (void)line; order(HD_OP_ACQUIRE, (const void *)object); }
void WTFAnnotateHappensBefore(const char *file, int line, const volatile void *object) { AnnotateHappensBefore(file, line, object); }
void WTFAnnotateHappensAfter(const char *file, int line, const volatile void *object) { AnnotateHappensAfter(file, line, object); }

// A reader comes after the writers before it, a writer after the readers, too. The address of the
// mutex's second byte is the object that readers release.
static void locked(const char *mutex, bool reads) {
  order(HD_OP_ACQUIRE, mutex);
  if (!reads) order(HD_OP_ACQUIRE, mutex + 1);
}
static void unlocks(const char *mutex, bool reads) { order(HD_OP_RELEASE_MERGE, mutex + reads); }

enum { READ_LOCK = 1 << 3, TRY_LOCK_FAILED = 1 << 5 }; // of sanitizer/tsan_interface.h
HD_EXPORT void __tsan_mutex_post_lock(void *mutex, unsigned flags, int recursion) {
  (void)recursion;
  if (!(flags & TRY_LOCK_FAILED)) locked(mutex, flags & READ_LOCK);
}
HD_EXPORT int __tsan_mutex_pre_unlock(void *mutex, unsigned flags) {
  unlocks(mutex, flags & READ_LOCK);
  return 0; // how many levels of a recursive lock were released: not known
}
HD_EXPORT void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long writes) {
  (void)file, (void)line;
  locked((const char *)lock, !writes);
}
HD_EXPORT void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long writes) {
  (void)file, (void)line;
  unlocks((const char *)lock, !writes);
}
HD_EXPORT void *__tsan_external_register_tag(const char *name) { (void)name; return NULL; }
HD_EXPORT int RunningOnValgrind(void) { return 0; }
HD_EXPORT double ValgrindSlowdown(void) { return 1; }
HD_EXPORT const char *ThreadSanitizerQuery(const char *what) { (void)what; return ""; }
