package codec

import (
	"encoding/binary"
	"time"

	"leasehold/shared/space/journal"
)

// Step is what one batch of records does to where a journal stands.
type Step struct {
	From journal.Position // before it
	journal.Standing
}

// AppendStep appends the value of the StandingKey: the position before, the number of records,
// the clock and the highest ref. DecodeStep reads it.
func AppendStep(buf []byte, s Step) []byte {
	buf = binary.AppendUvarint(buf, uint64(s.From))
	buf = binary.AppendUvarint(buf, uint64(s.Position-s.From))
	buf = binary.AppendVarint(buf, int64(s.Clock))
	return binary.AppendVarint(buf, s.Ref)
}

// DecodeStep reads the value that AppendStep made. Any other value fails with fault.ErrCorrupt, also one whose
// position overflows.
func DecodeStep(value []byte) (Step, error) {
	r := reader{data: value}
	s := Step{From: journal.Position(r.uvarint())}
	s.Position = s.From + journal.Position(r.uvarint())
	s.Clock = time.Duration(r.varint())
	s.Ref = r.varint()
	if s.Position < s.From {
		r.fail("a position beyond the end")
	}
	if err := r.end(); err != nil {
		return Step{}, err
	}
	return s, nil
}
