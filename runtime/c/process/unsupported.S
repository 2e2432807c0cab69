// unsupported.S: functions that the runtime does not model. In a program under control, a call
// ends the execution as unsupported and names the function; otherwise it goes to libc. The list
// must be complete for functions that can block the carrier, start another thread of control or
// leave state that restoring memory does not undo.
#include "arch/asm.h"
	.text
// Functions whose effects restoring memory does not undo, but the end of the process does.
	.macro	isolated name
	hooked	\name, 1 // HD_ISOLATION_FORK
	.endm

	hooks_by hd_unsupported_call

// processes
	hooked	clone
	hooked	fexecve
	hooked	daemon
	hooked	forkpty
	hooked	execveat
	hooked	ptrace
	hooked	unshare
	hooked	setns
	hooked	arch_prctl
	hooked	modify_ldt
// threads
	hooked	getcontext
	hooked	setcontext
	hooked	makecontext
	hooked	swapcontext
	hooked	__tsan_create_fiber
	hooked	__tsan_switch_to_fiber
	hooked	__tsan_get_current_fiber
	hooked	__tsan_destroy_fiber
// signals and timers
	hooked	sigstack
	hooked	sigvec
// waits for other processes
	hooked	mkfifo
	hooked	flock
	hooked	lockf
	hooked	lockf64
	hooked	msgrcv
	hooked	msgget
	hooked	msgctl
	hooked	semctl
	hooked	mq_open
	hooked	mq_unlink
	hooked	__mq_open_2
	hooked	mq_timedsend
	hooked	mq_timedreceive
	hooked	mq_send
	hooked	mq_receive
	hooked	mq_notify
	hooked	semget
	hooked	semop
	hooked	semtimedop
	hooked	msgsnd
	hooked	inotify_init
	hooked	inotify_init1
	hooked	inotify_add_watch
	hooked	inotify_rm_watch
	hooked	fanotify_init
	hooked	fanotify_mark
	hooked	sendmmsg
	hooked	recvmmsg
	hooked	__sendmmsg
	hooked	splice
	hooked	tee
	hooked	vmsplice
	hooked	pidfd_getfd
	hooked	process_madvise
	hooked	process_mrelease
// changes to the file system that the runtime cannot undo
	hooked	mknod
	hooked	mknodat
	hooked	mkfifoat
	hooked	setxattr
	hooked	fsetxattr
	hooked	lsetxattr
	hooked	removexattr
	hooked	lremovexattr
	hooked	fremovexattr
	hooked	open_by_handle_at
	hooked	chroot
	hooked	pivot_root
	hooked	mount
	hooked	umount
	hooked	umount2
	hooked	open_tree
	hooked	move_mount
	hooked	fsopen
	hooked	fsconfig
	hooked	fsmount
	hooked	fspick
	hooked	mount_setattr
	hooked	readdir_r
	hooked	readdir64_r
	hooked	tmpnam
	hooked	tempnam
	hooked	tmpnam_r
// the machine and its clock
	hooked	acct
	hooked	swapon
	hooked	swapoff
	hooked	reboot
	hooked	sethostname
	hooked	setdomainname
	hooked	iopl
	hooked	ioperm
	hooked	init_module
	hooked	delete_module
	hooked	quotactl
	hooked	vhangup
	hooked	klogctl
	hooked	clock_settime
	hooked	settimeofday
	hooked	adjtime
	hooked	adjtimex
	hooked	clock_adjtime
	hooked	ntp_adjtime
	hooked	ntp_gettime
	hooked	ntp_gettimex
// asynchronous input and output
	hooked	io_setup
	hooked	aio_read
	hooked	aio_write
	hooked	lio_listio
	hooked	lio_listio64
	hooked	aio_read64
	hooked	aio_write64
	hooked	aio_fsync
	hooked	aio_fsync64
	hooked	getaddrinfo_a
// memory from sources other than mmap and malloc
	isolated	memfd_create
	isolated	brk
	isolated	sbrk
	isolated	mprotect
	isolated	personality
	hooked	remap_file_pages
	hooked	userfaultfd
