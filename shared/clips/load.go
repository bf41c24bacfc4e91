package clips

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"leasehold/shared/clips/decode"
	"leasehold/shared/fault"
)

// RateHz is the rate at which recordings are compared. The frequencies below 4 kHz
// are enough to distinguish speech and jingles.
const RateHz = 8000

// Load decodes the file at path to RateHz. If the file lasts longer than limit, Load
// stops decoding there and returns fault.ErrTooLarge.
func Load(ctx context.Context, path string, limit time.Duration) ([]float32, error) {
	return LoadAt(ctx, path, RateHz, limit)
}

// LoadAt is Load for another rate. It fails with fault.ErrTooLarge beyond the limit. With an error
// it also returns the samples up to there.
func LoadAt(ctx context.Context, path string, rateHz int, limit time.Duration) ([]float32, error) {
	most := int(limit.Seconds() * float64(rateHz))
	var all []float32
	err := convert(ctx, path, rateHz, nil, func(block []float32) error {
		if len(all)+len(block) > most {
			return &decode.Error{Kind: fault.ErrTooLarge, Reason: fmt.Sprintf("longer than %v", limit)}
		}
		all = append(all, block...)
		return nil
	})
	return all, err
}

// Each decodes the file at path to RateHz and calls emit with each block. It reuses the
// block after emit returns. If emit returns an error, Each stops and returns it, except
// that it returns nil for io.EOF.
func Each(ctx context.Context, path string, emit func([]float32) error) error {
	return convert(ctx, path, RateHz, nil, emit)
}

// EachNoted is Each that sets note to the Note of the stream.
func EachNoted(ctx context.Context, path string, note *string, emit func([]float32) error) error {
	return convert(ctx, path, RateHz, note, emit)
}

// convert decodes and resamples, and calls emit with each block. It reuses the block after emit
// returns. io.EOF, of emit too, ends it without an error. note, unless nil, gets the Note of the stream.
func convert(ctx context.Context, path string, rateHz int, note *string, emit func([]float32) error) (err error) {
	s, err := openAt(ctx, path, rateHz)
	if err != nil {
		return err
	}
	if note != nil {
		*note = s.Note()
	}
	defer func() {
		if closeErr := s.Close(); err == nil {
			err = closeErr
		}
	}()
	for {
		block, err := s.next()
		if err == nil {
			err = emit(block)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
