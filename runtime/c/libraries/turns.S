// turns.S: functions of OpenMP's libraries in which threads take turns: the first to arrive gets a
// loop's next iterations, the next section, the single construct, or a task. Each is a scheduling
// point, and then continues in the library.
#include "arch/asm.h"
	.text
	hooks_by hd_library_turn

	.macro	loop kind, schedule
	hooked	GOMP_\kind\()_\schedule\()_start
	hooked	GOMP_\kind\()_\schedule\()_next
	.endm

	.macro	loops kind
	loop	\kind, dynamic
	loop	\kind, guided
	loop	\kind, runtime
	loop	\kind, ordered_dynamic
	loop	\kind, ordered_guided
	loop	\kind, ordered_runtime
	loop	\kind, nonmonotonic_dynamic
	loop	\kind, nonmonotonic_guided
	loop	\kind, nonmonotonic_runtime
	loop	\kind, maybe_nonmonotonic_runtime
	hooked	GOMP_\kind\()_start
	hooked	GOMP_\kind\()_ordered_start
	.endm

	loops	loop
	loops	loop_ull

	hooked	GOMP_sections_start
	hooked	GOMP_sections2_start
	hooked	GOMP_sections_next
	hooked	GOMP_single_start

// of libomp
	hooked	__kmpc_dispatch_next_4
	hooked	__kmpc_dispatch_next_4u
	hooked	__kmpc_dispatch_next_8
	hooked	__kmpc_dispatch_next_8u
	hooked	__kmpc_single
	hooked	__kmpc_omp_task
	hooked	__kmpc_omp_task_with_deps
