package trace

import (
	"encoding/binary"
	"hash/crc32"
)

// The trace file format; docs/trace-format.md describes it, tracepb/trace.proto is its
// schema. A file is a preamble in clear (magic, then the format version, 32 bits, least
// significant byte first), then one zstd frame of length-delimited tracepb.Records.

// FormatVersion is the version of the file format that this package writes and reads.
const FormatVersion = 1

// Ext is the usual extension of a trace file. IncompleteExt is appended to the name until the file
// is complete.
const (
	Ext           = ".hdl"
	IncompleteExt = ".incomplete"
)

// magic begins every trace file. The bytes outside ASCII and the two kinds of line end reveal a
// transfer in text mode.
const magic = "\x89HDL\r\n\x1a\n"

// textMagic begins the text form.
const textMagic = "heddle trace text "

const preambleSize = len(magic) + 4

// MaxThreads is the number of threads, including those that have ended, that a trace file, the text
// form and a schedule string can hold. (abi.MaxThreads is how many a runtime can have at one time.)
const MaxThreads = 1 << 20

const (
	// maxRecord bounds one record, and so what a reader allocates for an unchecked length.
	maxRecord = 4 << 20

	// blockEvents is how many events the writer puts into a block: enough to compress well, few
	// enough that a killed writer loses little.
	blockEvents = 16 << 10

	// maxBlockEvents is how many events a reader accepts in a block.
	maxBlockEvents = 64 << 10

	// maxBlockSetWords bounds the memory of a block's enabled sets above thread 63, in ThreadWords:
	// a few bytes of changes can describe a large set.
	maxBlockSetWords = 1 << 20

	// blockChanges is how many changes of enabled sets the writer puts into a block before it
	// begins the next one.
	blockChanges = 256 << 10

	// pieceBytes is the size of the pieces in which standard input and output are written.
	pieceBytes = 256 << 10

	// piecePoints is how many points are written in one record.
	piecePoints = 64 << 10

	// maxModules is how many modules a Site can distinguish.
	maxModules = 1<<16 - 1

	// window is the zstd window: how far back the compressor looks, and what a reader must buffer.
	window = 1 << 20

	// maxWindow is the largest window that a reader accepts; the zstd specification recommends 8
	// MiB.
	maxWindow = 8 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func preamble() []byte {
	return binary.LittleEndian.AppendUint32([]byte(magic), FormatVersion)
}
