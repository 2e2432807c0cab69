// unsupported.S: what the runtime does not model. Called by a program under control, each
// names itself and the execution ends as unsupported; outside of control it goes to libc.
// Nothing that could block the carrier, start another thread of control or leave state
// that memory cannot restore may be missing from this list.
#include "arch/asm.h"
	.text
// What memory that is put back does not undo, and a process of the execution's own does.
	.macro	isolated name
	refused	\name, 1 // HD_ISOLATION_FORK
	.endm

	refuse_by hd_unsupported_call

// processes
	refused	clone
	refused	fexecve
	refused	daemon
	refused	forkpty
// threads
	refused	flockfile
	refused	ftrylockfile
	refused	funlockfile
	refused	getcontext
	refused	setcontext
	refused	makecontext
	refused	swapcontext
	refused	__tsan_create_fiber
	refused	__tsan_switch_to_fiber
	refused	__tsan_get_current_fiber
	refused	__tsan_destroy_fiber
// signals and timers
	refused	sigstack
	refused	sigvec
	refused	signalfd
// waiting for the outside world
	refused	mkfifo
	refused	flock
	refused	lockf
	refused	lockf64
	refused	msgrcv
	refused	msgget
	refused	mq_open
	refused	__mq_open_2
	refused	semget
	refused	semop
	refused	semtimedop
	refused	msgsnd
	refused	inotify_init
	refused	inotify_init1
	refused	fanotify_init
	refused	sendmmsg
	refused	recvmmsg
	refused	__sendmmsg
	refused	splice
	refused	tee
	refused	vmsplice
	refused	copy_file_range
	refused	pidfd_open
	refused	pidfd_getfd
// what would be left in the file system, and cannot be put back
	refused	mknod
	refused	mknodat
	refused	mkfifoat
	refused	setxattr
	refused	fsetxattr
	refused	lsetxattr
	refused	removexattr
	refused	chroot
	refused	mount
	refused	umount2
	refused	readdir_r
	refused	readdir64_r
	refused	tmpnam
	refused	tempnam
	refused	tmpnam_r
	isolated	prlimit64
	isolated	setrlimit64
	isolated	setrlimit
	isolated	prlimit
	refused	clock_settime
	refused	settimeofday
	refused	io_setup
	refused	aio_read
	refused	aio_write
	refused	lio_listio
	refused	lio_listio64
	refused	aio_read64
	refused	aio_write64
	refused	aio_fsync
	refused	aio_fsync64
	refused	getaddrinfo_a
// memory that comes from elsewhere
	isolated	memfd_create
	isolated	brk
	isolated	sbrk
	isolated	mremap
	isolated	mprotect
	refused	userfaultfd
