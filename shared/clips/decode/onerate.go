package decode

import (
	"errors"
	"io"
	"math"

	"leasehold/shared/clips/resample"
)

// oneRateBlock is how many samples are read at a time, so that the output of a block is small even
// if the rate changes from the lowest to the highest.
const oneRateBlock = 2048

// oneRate resamples the sound of a source from where its rate changes, so that the stream keeps the
// rate that it began with. Sample n of the output is at n/rate seconds of playing time, before and
// after each change.
type oneRate struct {
	source
	rate int // of the output
	from int // of the source's last samples

	resampler *resample.Resampler // nil while from is rate
	buf, rest []float32           // resampled; the part of it that read has not returned
	err       error               // ended the source; returned when rest is used up

	past  float64 // seconds of sound before the last change
	got   int64   // samples of the source since then
	given int64   // samples of output
	drop  int     // samples of output to leave out, because a change fell between two
}

func newOneRate(src source) *oneRate {
	return &oneRate{source: src, rate: src.rateHz(), from: src.rateHz()}
}

func (o *oneRate) rateHz() int { return o.rate }

func (o *oneRate) read(dst []float32) (int, error) {
	for len(o.rest) == 0 {
		if o.err != nil {
			return 0, o.err
		}
		block := dst[:min(len(dst), oneRateBlock)]
		n, err := o.source.read(block)
		from := o.source.rateHz()
		if from == o.from && o.resampler == nil && o.drop == 0 {
			o.got, o.given = o.got+int64(n), o.given+int64(n)
			return n, err
		}
		o.err, o.buf = err, o.buf[:0]
		if n > 0 && from != o.from {
			if err := o.change(from); err != nil {
				return 0, err
			}
		}
		o.push(block[:n])
		if errors.Is(err, io.EOF) {
			o.flush()
		}
		o.rest = o.buf
	}
	n := copy(dst, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// push appends the output for some input to buf.
func (o *oneRate) push(input []float32) {
	begin := len(o.buf)
	o.got += int64(len(input))
	if o.resampler == nil {
		o.buf = append(o.buf, input...)
	} else {
		o.buf = o.resampler.Push(o.buf, input)
	}
	o.keep(begin)
}

// flush appends the output that the resampler still owes.
func (o *oneRate) flush() {
	if o.resampler == nil {
		return
	}
	begin := len(o.buf)
	o.buf = o.resampler.Flush(o.buf)
	o.keep(begin)
}

// keep counts the output in buf from begin, without the samples to drop.
func (o *oneRate) keep(begin int) {
	n := min(o.drop, len(o.buf)-begin)
	o.drop -= n
	o.buf = append(o.buf[:begin], o.buf[begin+n:]...)
	o.given += int64(len(o.buf) - begin)
}

// change ends the sound at one rate and begins the sound at another. It fills or drops the part of
// a sample by which the output is early or late, so that many changes do not add up.
func (o *oneRate) change(from int) error {
	o.flush()
	o.past += float64(o.got) / float64(o.from)
	o.got, o.from, o.resampler = 0, from, nil
	late := o.given - int64(o.drop) - int64(math.Round(o.past*float64(o.rate)))
	o.drop = max(0, int(late))
	for ; late < 0; late++ {
		o.buf = append(o.buf, 0)
		o.given++
	}
	if from == o.rate {
		return nil
	}
	r, err := resample.New(from, o.rate)
	o.resampler = r
	return err
}
