//go:build heddle

package syscall

import _ "unsafe" // for go:linkname

//go:linkname hdPort runtime.hdPort
func hdPort(n int) int

//go:linkname hdPortTaken runtime.hdPortTaken
func hdPortTaken(n int)

//go:linkname hdEarlyHeap runtime.hdEarlyHeap
func hdEarlyHeap()

// The copy of the environment is made now, not when the program first reads a variable: its
// allocations depend on the environment's size.
func init() {
	Getenv("HEDDLE_GO")
	hdEarlyHeap()
}

// heddleBind binds a socket to a port that is the same in every process, where the system would
// choose one. It reports whether it did.
func heddleBind(fd int, sa Sockaddr) bool {
	for n := 0; ; n++ {
		port := hdPort(n)
		if port == 0 {
			return false
		}
		var to Sockaddr
		switch a := sa.(type) {
		case *SockaddrInet4:
			if a.Port != 0 {
				return false
			}
			to = &SockaddrInet4{Port: port, Addr: a.Addr}
		case *SockaddrInet6:
			if a.Port != 0 {
				return false
			}
			to = &SockaddrInet6{Port: port, ZoneId: a.ZoneId, Addr: a.Addr}
		default:
			return false
		}
		ptr, size, err := to.sockaddr()
		if err != nil {
			return false
		}
		switch bind(fd, ptr, size) {
		case nil:
			hdPortTaken(n)
			return true
		case EADDRINUSE:
		default:
			return false
		}
	}
}
