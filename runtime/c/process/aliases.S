// aliases.S: other names under which libc exports functions that the runtime interposes. A call
// by such a name must reach the runtime, too.
#include "arch/asm.h"
	.text
	same	__poll, poll
	same	__select, select
	same	__read, read
	same	__write, write
	same	__send, send
	same	__connect, connect
	same	__open, open
	same	__open64, open64
	same	__close, close
	same	__fcntl, fcntl
	same	__pipe, pipe
	same	__dup2, dup2
	same	__lseek, lseek
	same	__pread64, pread64
	same	__pwrite64, pwrite64
	same	__fork, fork
	same	__vfork, vfork
	same	__wait, wait
	same	__waitpid, waitpid
	same	__nanosleep, nanosleep
	same	__sched_yield, sched_yield
	same	__sigaction, sigaction
	same	__sigsuspend, sigsuspend
	same	ssignal, signal
	same	gsignal, raise
	same	__pthread_mutex_init, pthread_mutex_init
	same	__pthread_mutex_destroy, pthread_mutex_destroy
	same	__pthread_mutex_lock, pthread_mutex_lock
	same	__pthread_mutex_trylock, pthread_mutex_trylock
	same	__pthread_mutex_unlock, pthread_mutex_unlock
	same	pthread_mutex_consistent_np, pthread_mutex_consistent
	same	__pthread_once, pthread_once
	same	__pthread_key_create, pthread_key_create
	same	__pthread_rwlock_init, pthread_rwlock_init
	same	__pthread_rwlock_destroy, pthread_rwlock_destroy
	same	__pthread_rwlock_rdlock, pthread_rwlock_rdlock
	same	__pthread_rwlock_wrlock, pthread_rwlock_wrlock
	same	__pthread_rwlock_tryrdlock, pthread_rwlock_tryrdlock
	same	__pthread_rwlock_trywrlock, pthread_rwlock_trywrlock
	same	__pthread_rwlock_unlock, pthread_rwlock_unlock
