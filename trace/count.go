package trace

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/heddle-dev/heddle/internal/regular"
)

// worthCounting is the size of files, in bytes, from which on the events are counted before they are read.
const worthCounting = 64 << 10

// countEvents returns how many events a trace file has, 0 for a small one, so that a reader of all of them allocates their memory
// once: a list that grows would need it twice. Damage ends the count; reading reports it.
func countEvents(ctx context.Context, name string) int {
	f, err := regular.Open(name)
	if err != nil {
		return 0
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || info.Size() < worthCounting {
		return 0
	}
	if _, err := f.Seek(int64(preambleSize), io.SeekStart); err != nil {
		return 0
	}
	z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecodeBuffersBelow(0))
	if err != nil {
		return 0
	}
	defer z.Close()
	src := bufio.NewReader(z)
	var record []byte
	for total := 0; ; {
		if ctx.Err() != nil {
			return total
		}
		size, err := binary.ReadUvarint(src)
		if err != nil || size > maxRecord {
			return total
		}
		if uint64(cap(record)) < size {
			record = make([]byte, size, 2*size)
		}
		record = record[:size]
		if _, err := io.ReadFull(src, record); err != nil {
			return total
		}
		n, err := eventsIn(record)
		if err != nil {
			return total
		}
		total += n
	}
}

var errCount = errors.New("a block's number of events is not that of its intervals")

// eventsIn returns how many events a record has. It believes a number only if the lengths of the intervals add up to it, which
// takes more than a forged field.
func eventsIn(record []byte) (int, error) {
	block, err := field(record, 7) // Record.events
	if block == nil || err != nil {
		return 0, err
	}
	said, sum := uint64(0), uint64(0)
	for len(block) > 0 {
		number, kind, n := protowire.ConsumeTag(block)
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		block = block[n:]
		switch {
		case number == 2 && kind == protowire.VarintType: // EventBlock.count
			said, n = protowire.ConsumeVarint(block)
		case number == 4 && kind == protowire.BytesType: // EventBlock.interval_length
			var lengths []byte
			if lengths, n = protowire.ConsumeBytes(block); n >= 0 {
				for len(lengths) > 0 {
					v, k := protowire.ConsumeVarint(lengths)
					if k < 0 || v > maxBlockEvents {
						return 0, errCount
					}
					sum, lengths = sum+v, lengths[k:]
				}
			}
		default:
			n = protowire.ConsumeFieldValue(number, kind, block)
		}
		if n < 0 {
			return 0, protowire.ParseError(n)
		}
		block = block[n:]
	}
	if said != sum || said > maxBlockEvents {
		return 0, errCount
	}
	return int(said), nil
}

// field returns the bytes of a message's field, nil if it has none.
func field(message []byte, number protowire.Number) ([]byte, error) {
	for len(message) > 0 {
		num, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
		if num == number && kind == protowire.BytesType {
			b, n := protowire.ConsumeBytes(message)
			return b, protowire.ParseError(min(n, 0))
		}
		if n = protowire.ConsumeFieldValue(num, kind, message); n < 0 {
			return nil, protowire.ParseError(n)
		}
		message = message[n:]
	}
	return nil, nil
}
