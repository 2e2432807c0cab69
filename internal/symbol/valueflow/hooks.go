package valueflow

import (
	"regexp"
	"strconv"
	"strings"
)

// effect is what a call of a function does.
type effect uint8

const (
	unknown   effect = iota
	looks            // reads memory, takes or releases a lock, or lets others run; each call is an event
	stores           // the program stores what its first argument points to next
	changes          // changes memory itself, in an event
	compares         // the same, and stores what it has seen where its second argument points to
	enters           // a function begins
	leaves           // or ends
	never            // does not return, nor does the program go on elsewhere
	jumpsAway        // goes on elsewhere
	plain            // calls no function of the program's
)

// call is what is known of a function.
type call struct {
	effect
	arguments int  // whose values decide what it does
	result    bool // returns something, which the event tells
	size      int  // bytes that are accessed
}

// Accesses of 16 bytes are not among them: an event does not tell all of what they read.
var accesses = regexp.MustCompile(`^__tsan_(?:unaligned_)?(?:volatile_)?(read|write)([1248])$`)
var atomics = regexp.MustCompile(`^__tsan_atomic(\d+)_(load|store|exchange|fetch_[a-z]+|compare_exchange_(?:strong|weak|val))$`)

// callOf returns what is known of the function of that name, which the program imports.
func callOf(name string) call {
	if m := accesses.FindStringSubmatch(name); m != nil {
		size, _ := strconv.Atoi(m[2])
		c := call{effect: looks, arguments: 1, size: size}
		if m[1] == "write" {
			c.effect = stores
		}
		return c
	}
	if m := atomics.FindStringSubmatch(name); m != nil {
		bits, _ := strconv.Atoi(m[1])
		c := call{effect: changes, arguments: 3, result: true, size: bits / 8}
		switch {
		case bits > 64:
			return call{}
		case m[2] == "load":
			c.effect, c.arguments = looks, 2
		case m[2] == "store":
			c.result = false
		case m[2] == "compare_exchange_val":
			c.arguments = 5
		case strings.HasPrefix(m[2], "compare"):
			c.effect, c.arguments = compares, 5
		}
		return c
	}
	switch name {
	case "__tsan_vptr_read":
		return call{effect: looks, arguments: 1, size: 8}
	case "__tsan_func_entry":
		return call{effect: enters}
	case "__tsan_func_exit":
		return call{effect: leaves}
	case "pthread_mutex_lock", "pthread_mutex_trylock", "pthread_mutex_unlock", "usleep", "sleep":
		return call{effect: looks, arguments: 1, result: true}
	case "sched_yield":
		return call{effect: looks, result: true}
	case "abort", "exit", "_exit", "_Exit", "quick_exit", "__assert_fail", "__stack_chk_fail", "pthread_exit", "thrd_exit",
		"__cxa_throw", "_ZSt9terminatev", "__cxa_bad_cast":
		return call{effect: never} // an exception is allocated, and an allocation would be a step
	case "longjmp", "_longjmp", "siglongjmp", "__longjmp_chk", "__cxa_rethrow", "swapcontext", "setcontext":
		return call{effect: jumpsAway}
	case "printf", "fprintf", "puts", "putchar", "fputs", "fputc", "putc", "fwrite", "fflush", "perror", "write", "snprintf", "sprintf",
		"__printf_chk", "__fprintf_chk", "__snprintf_chk", "__sprintf_chk", "free", "malloc", "calloc", "memset", "memcpy", "strlen",
		"pthread_join", "pthread_cond_signal", "pthread_cond_broadcast", "sem_post", "sem_wait", "_ZdlPv", "_ZdlPvm", "_Znwm":
		return call{effect: plain}
	}
	if strings.HasPrefix(name, "_ZSt") && strings.Contains(name, "__throw_") {
		return call{effect: never}
	}
	return call{}
}
