//go:build heddle

// What an execution writes to standard output and standard error: one file, which the controller
// gives the process and which grows over all executions. With HD_PLAN_OUTPUT, the runtime sends each
// clean execution's part of it: the controller, some executions behind, could not tell the parts apart.
package runtime

import "unsafe"

const (
	hdDupCloexec = 1030 // F_DUPFD_CLOEXEC
	hdSeekEnd    = 2
	// hdOutputFd is the lowest number of the runtime's own descriptor of the file: above those that
	// programs get, which are the lowest free ones.
	hdOutputFd = 900
)

var hdOutput struct {
	fd   int32     // the file; the program may close 1 and 2, or replace them
	from uintptr   // size of the file when the execution began
	head [2]uint32 // of a record: descriptor, number of bytes
	buf  [32 << 10]byte
}

//go:noescape
func hdSystem(number, a, b, c, d uintptr) uintptr

// hdOutputInit is called before the program can touch its descriptors.
func hdOutputInit() {
	fd, err := fcntl(1, hdDupCloexec, hdOutputFd)
	if err != 0 {
		fd = 1 // the limit on open files is lower
	}
	hdOutput.fd = fd
}

func hdOutputBegin() {
	if hd.plan.Flags&hdPlanOutput != 0 {
		hdOutput.from = hdOutputSize()
	}
}

// hdOutputSize returns the size of the file in bytes, 0 if it is not a file.
func hdOutputSize() uintptr {
	n := hdSystem(hdLseek, uintptr(hdOutput.fd), 0, hdSeekEnd, 0)
	if int(n) < 0 {
		return 0
	}
	return n
}

// hdOutputSend sends what the execution has written. Of more than 2*hdOutputKept bytes it sends the
// beginning and the end.
func hdOutputSend() {
	if hd.plan.Flags&hdPlanOutput == 0 {
		return
	}
	from, to := hdOutput.from, hdOutputSize()
	if from+2*hdOutputKept < to {
		hdOutputPart(from, from+hdOutputKept)
		hdOutputText("\n[heddle: ")
		hdOutputNumber(to - from - 2*hdOutputKept)
		hdOutputText(" bytes of output left out]\n")
		from = to - hdOutputKept
	}
	hdOutputPart(from, to)
}

// hdOutputPart sends a part of the file.
func hdOutputPart(from, to uintptr) {
	o := &hdOutput
	for from < to {
		n := hdSystem(hdPread, uintptr(o.fd), uintptr(unsafe.Pointer(&o.buf)), min(to-from, unsafe.Sizeof(o.buf)), from)
		if int(n) <= 0 {
			return
		}
		hdOutputRecord(n)
		from += n
	}
}

func hdOutputText(s string) { hdOutputRecord(uintptr(copy(hdOutput.buf[:], s))) }

// hdOutputNumber sends a number's digits. It must not allocate.
func hdOutputNumber(n uintptr) {
	digits := uintptr(1)
	for rest := n; rest >= 10; rest /= 10 {
		digits++
	}
	for i := digits; i > 0; i-- {
		hdOutput.buf[i-1] = byte('0' + n%10)
		n /= 10
	}
	hdOutputRecord(digits)
}

// hdOutputRecord sends n bytes of the buffer.
func hdOutputRecord(n uintptr) {
	o := &hdOutput
	o.head = [2]uint32{1, uint32(n)}
	hdOut2(hdRecOutput, unsafe.Pointer(&o.head), unsafe.Sizeof(o.head), unsafe.Pointer(&o.buf), n)
}
