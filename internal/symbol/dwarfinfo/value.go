package dwarfinfo

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Format prints the low size bytes of v as a value of type t. A nil or unknown type, or a
// size that is not the type's, is printed as a number: small negative ones with their
// sign, large ones in hexadecimal.
func (t *Type) Format(v uint64, size uint32) string {
	v = truncate(v, size)
	if t == nil || t.Size != int64(size) {
		return plainNumber(v, size)
	}
	switch t.Kind {
	case Pointer:
		if v == 0 {
			return "NULL"
		}
		return fmt.Sprintf("%#x", v)
	case Enum:
		return t.enumerator(v, size)
	case Scalar:
		return t.scalar(v, size)
	}
	return plainNumber(v, size)
}

func (t *Type) scalar(v uint64, size uint32) string {
	switch t.Encoding {
	case Bool:
		if v <= 1 {
			return strconv.FormatBool(v == 1)
		}
		return strconv.FormatUint(v, 10)
	case Char, UnsignedChar:
		if v >= 0x20 && v < 0x7f {
			return fmt.Sprintf("%d %q", v, rune(v))
		}
		if t.Encoding == UnsignedChar {
			return strconv.FormatUint(v, 10)
		}
		return strconv.FormatInt(signed(v, size), 10)
	case Float:
		switch size {
		case 4:
			return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
		case 8:
			return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64)
		}
		return fmt.Sprintf("%#x", v)
	case Signed:
		return strconv.FormatInt(signed(v, size), 10)
	}
	return strconv.FormatUint(v, 10)
}

// enumerator is the constant's name, or the names that make up a set of flags.
func (t *Type) enumerator(v uint64, size uint32) string {
	n := int64(v)
	if t.Encoding == Signed {
		n = signed(v, size)
	}
	if name, ok := t.names[n]; ok {
		return name
	}
	var parts []string
	left := v
	for bit := uint64(1); bit != 0 && bit <= v; bit <<= 1 {
		if name, ok := t.names[int64(bit)]; ok && v&bit != 0 {
			parts = append(parts, name)
			left &^= bit
		}
	}
	if left == 0 && len(parts) > 1 {
		return strings.Join(parts, "|")
	}
	return strconv.FormatInt(n, 10)
}

func truncate(v uint64, size uint32) uint64 {
	if size == 0 || size >= 8 {
		return v
	}
	return v & (1<<(8*size) - 1)
}

func signed(v uint64, size uint32) int64 {
	if size == 0 || size >= 8 {
		return int64(v)
	}
	shift := 64 - 8*size
	return int64(v<<shift) >> shift
}

// plainNumber guesses how a number of unknown type is best read.
func plainNumber(v uint64, size uint32) string {
	if s := signed(v, size); s < 0 && s >= -1<<12 {
		return strconv.FormatInt(s, 10)
	}
	if v < 1<<32 {
		return strconv.FormatUint(v, 10)
	}
	return fmt.Sprintf("%#x", v)
}
