// annotations.c: the remaining functions that a program linked for ThreadSanitizer may call.
// Annotations tell a detector about synchronisation that it cannot see. They do nothing here,
// because heddle sees the operations that implement the synchronisation.
#include <stdlib.h>
#include "core/base.h"

#define NOTHING(name) HD_EXPORT void name(void) {}
NOTHING(AnnotateBenignRace) NOTHING(AnnotateBenignRaceSized) NOTHING(AnnotateCondVarSignal)
NOTHING(AnnotateCondVarSignalAll) NOTHING(AnnotateCondVarWait) NOTHING(AnnotateEnableRaceDetection)
NOTHING(AnnotateExpectRace) NOTHING(AnnotateFlushExpectedRaces) NOTHING(AnnotateFlushState)
NOTHING(AnnotateHappensAfter) NOTHING(AnnotateHappensBefore) NOTHING(AnnotateIgnoreReadsBegin)
NOTHING(AnnotateIgnoreReadsEnd) NOTHING(AnnotateIgnoreSyncBegin) NOTHING(AnnotateIgnoreSyncEnd)
NOTHING(AnnotateIgnoreWritesBegin) NOTHING(AnnotateIgnoreWritesEnd)
NOTHING(AnnotateMemoryIsInitialized) NOTHING(AnnotateMemoryIsUninitialized)
NOTHING(AnnotateMutexIsNotPHB) NOTHING(AnnotateMutexIsUsedAsCondVar) NOTHING(AnnotateNewMemory)
NOTHING(AnnotateNoOp) NOTHING(AnnotatePCQCreate) NOTHING(AnnotatePCQDestroy) NOTHING(AnnotatePCQGet)
NOTHING(AnnotatePCQPut) NOTHING(AnnotatePublishMemoryRange) NOTHING(AnnotateRWLockAcquired)
NOTHING(AnnotateRWLockCreate) NOTHING(AnnotateRWLockCreateStatic) NOTHING(AnnotateRWLockDestroy)
NOTHING(AnnotateRWLockReleased) NOTHING(AnnotateThreadName) NOTHING(AnnotateTraceMemory)
NOTHING(AnnotateUnpublishMemoryRange) NOTHING(WTFAnnotateBenignRaceSized)
NOTHING(WTFAnnotateHappensAfter) NOTHING(WTFAnnotateHappensBefore) NOTHING(__tsan_acquire)
NOTHING(__tsan_release) NOTHING(__tsan_flush_memory) NOTHING(__tsan_mutex_create)
NOTHING(__tsan_mutex_destroy) NOTHING(__tsan_mutex_pre_lock) NOTHING(__tsan_mutex_post_lock)
NOTHING(__tsan_mutex_post_unlock) NOTHING(__tsan_mutex_pre_signal) NOTHING(__tsan_mutex_post_signal)
NOTHING(__tsan_mutex_pre_divert) NOTHING(__tsan_mutex_post_divert)
NOTHING(__tsan_external_register_header) NOTHING(__tsan_external_assign_tag)
NOTHING(__tsan_external_read) NOTHING(__tsan_external_write)

HD_EXPORT int __tsan_mutex_pre_unlock(void *m, unsigned flags) { (void)m; (void)flags; return 0; }
HD_EXPORT void *__tsan_external_register_tag(const char *name) { (void)name; return NULL; }
HD_EXPORT int RunningOnValgrind(void) { return 0; }
HD_EXPORT double ValgrindSlowdown(void) { return 1; }
HD_EXPORT const char *ThreadSanitizerQuery(const char *what) { (void)what; return ""; }

// The linker resolves this, and sigsetjmp, to the sanitizer's library instead of the static part of
// libc.
extern int __cxa_atexit(void (*)(void *), void *, void *);
HD_EXPORT int atexit(void (*fn)(void)) { return __cxa_atexit((void (*)(void *))(void *)fn, NULL, NULL); }
