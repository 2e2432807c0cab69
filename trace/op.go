package trace

import (
	"strconv"

	"github.com/heddle-dev/heddle/internal/abi"
)

// Op is an operation of the runtime's operation table (runtime/include/heddle_abi.h, where
// the meaning of each event's fields is written); those from 256 on are of Go programs only.
// The numbers are part of the trace format.
type Op uint16

// Class describes what an operation means to an analysis.
type Class uint8

const (
	ClassNone   Class = abi.ClassNone
	ClassAcq    Class = abi.ClassAcq
	ClassRel    Class = abi.ClassRel
	ClassRead   Class = abi.ClassRead
	ClassWrite  Class = abi.ClassWrite
	ClassALoad  Class = abi.ClassAload
	ClassAStore Class = abi.ClassAstore
	ClassARMW   Class = abi.ClassArmw
	ClassFork   Class = abi.ClassFork
	ClassJoin   Class = abi.ClassJoin
	ClassWait   Class = abi.ClassWait
	ClassPost   Class = abi.ClassPost
	ClassSync   Class = abi.ClassSync
	ClassEnd    Class = abi.ClassEnd
)

func (o Op) String() string {
	if int(o) < len(abi.OpNames) && abi.OpNames[o] != "" {
		return abi.OpNames[o]
	}
	return "op" + strconv.Itoa(int(o))
}

// Class is the operation's class.
func (o Op) Class() Class {
	if int(o) < len(abi.OpClasses) {
		return Class(abi.OpClasses[o])
	}
	return ClassNone
}

// IsAccess reports whether the operation is a plain memory access.
func (o Op) IsAccess() bool { c := o.Class(); return c == ClassRead || c == ClassWrite }

// IsCall reports whether o is the entry or the exit of a function.
func (o Op) IsCall() bool { return o == OpFunctionEntry || o == OpFunctionExit }

// ParseOp is the inverse of String.
func ParseOp(s string) (Op, bool) {
	for i, n := range abi.OpNames {
		if n == s && n != "" {
			return Op(i), true
		}
	}
	return 0, false
}
