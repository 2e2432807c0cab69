// unsupported.S: what the runtime does not model. Called by a program under control, each
// names itself and the execution ends as unsupported; outside of control it goes to libc.
// Nothing that could block the carrier, start another thread of control or leave state
// that memory cannot restore may be missing from this list.
	.text
	.macro	refused name, isolation=0
	.globl	\name
	.type	\name, @function
\name:	.cfi_startproc
	leaq	.Lrecord_\name(%rip), %rax
	jmp	refuse
	.cfi_endproc
	.size	\name, . - \name
	.pushsection .data.rel.local, "aw"
	.balign	8
.Lrecord_\name:
	.quad	.Lname_\name
	.quad	0
	.quad	\isolation
	.popsection
	.pushsection .rodata.str1.1, "aMS", @progbits, 1
.Lname_\name:
	.asciz	"\name"
	.popsection
	.endm

// What memory that is put back does not undo, and a process of the execution's own does.
	.macro	isolated name
	refused	\name, 1 // HD_ISOLATION_FORK
	.endm

// The arguments must reach libc's function as they came.
	.type	refuse, @function
refuse:	.cfi_startproc
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdx
	.cfi_adjust_cfa_offset 8
	pushq	%rcx
	.cfi_adjust_cfa_offset 8
	pushq	%r8
	.cfi_adjust_cfa_offset 8
	pushq	%r9
	.cfi_adjust_cfa_offset 8
	pushq	%rax
	.cfi_adjust_cfa_offset 8
	movq	%rax, %rdi
	movq	56(%rsp), %rsi
	call	hd_unsupported_call
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%r9
	.cfi_adjust_cfa_offset -8
	popq	%r8
	.cfi_adjust_cfa_offset -8
	popq	%rcx
	.cfi_adjust_cfa_offset -8
	popq	%rdx
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	movq	%rax, %r11
	xorl	%eax, %eax              // variadic callees: no vector arguments
	jmp	*%r11
	.cfi_endproc

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

	.section .note.GNU-stack,"",@progbits
