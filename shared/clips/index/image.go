package index

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"
	"os"
	"slices"
)

var (
	le         = binary.LittleEndian
	castagnoli = crc32.MakeTable(crc32.Castagnoli)
)

// Build makes an Index of the clips added so far. The Index is in memory, or, if the Builder
// has spilled, mapped from a further file in Dir. More clips may be added to the Builder
// afterwards. Build fails only if a file operation fails.
func (b *Builder) Build() (*Index, error) {
	if b.spilled == nil {
		l := b.layout()
		image := make([]byte, l.size())
		sum, err := b.write(bytes.NewBuffer(image[headerBytes:headerBytes]), l)
		if err != nil {
			return nil, err
		}
		l.putHeader(image, sum)
		return open(image)
	}
	if err := b.spill(); err != nil {
		return nil, err
	}
	f, err := unnamed(b.Dir)
	if err != nil {
		return nil, err
	}
	x, err := b.buildIn(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return x, nil
}

// buildIn writes the image to f and maps it. The Index then owns f. The header is written last,
// because it has the check sum. After an error the caller keeps f.
func (b *Builder) buildIn(f *os.File) (*Index, error) {
	l := b.layout()
	if _, err := f.Seek(headerBytes, io.SeekStart); err != nil {
		return nil, err
	}
	sum, err := b.write(f, l)
	if err != nil {
		return nil, err
	}
	header := make([]byte, headerBytes)
	l.putHeader(header, sum)
	if _, err := f.WriteAt(header, 0); err != nil {
		return nil, err
	}
	return mapped(f, l.size())
}

// layout returns the counts of the clips that were added so far, which decide where each table of
// the image begins.
func (b *Builder) layout() layout {
	l := layout{clips: len(b.clips), variants: len(b.variants), positions: b.positions, samples: b.samples}
	for _, c := range b.clips {
		l.names += len(c.id)
	}
	for _, v := range b.variants {
		l.postings += v.Postings
	}
	return l
}

// write writes the image without its header, and returns the check sum.
func (b *Builder) write(to io.Writer, l layout) (uint32, error) {
	sum := crc32.New(castagnoli)
	w := bufio.NewWriterSize(io.MultiWriter(to, sum), 1<<16) // keeps the first error for Flush
	b.writeTables(w, l)
	b.writeBuckets(w)
	if err := b.writePostings(w); err != nil {
		return 0, err
	}
	if err := b.writeWaves(w); err != nil {
		return 0, err
	}
	if err := w.Flush(); err != nil {
		return 0, err
	}
	return sum.Sum32(), nil
}

// writeTables writes the tables of clips, ids and variants. w keeps an error for Flush, here and
// in writeBuckets and writeWaves.
func (b *Builder) writeTables(w *bufio.Writer, l layout) {
	image := make([]byte, l.buckets())
	names := image[l.names0():]
	for i, c := range b.clips {
		r := image[headerBytes+i*clipBytes:]
		le.PutUint64(r, uint64(c.offset))
		le.PutUint32(r[8:], uint32(c.samples))
		if c.plain {
			r[12] = 1
		}
		le.PutUint32(r[16:], uint32(len(c.id)))
		names = names[copy(names, c.id):]
	}
	for i, v := range b.variants {
		r := image[l.variant0()+i*variantBytes:]
		le.PutUint32(r, uint32(v.Clip))
		le.PutUint32(r[4:], uint32(int32(v.Speed)))
		le.PutUint32(r[8:], uint32(v.Base))
		le.PutUint32(r[12:], uint32(v.Frames))
		le.PutUint32(r[16:], uint32(v.Postings))
	}
	_, _ = w.Write(image[headerBytes:])
}

// writeBuckets writes the number of the first posting of each hash, and the number of all
// postings. The 0 of the first hash is in the buffer from the start.
func (b *Builder) writeBuckets(w *bufio.Writer) {
	some := make([]byte, 4, 1<<14)
	next := uint32(0)
	for h := range hashes {
		if b.counts != nil {
			next += b.counts[h]
		}
		some = le.AppendUint32(some, next)
		if len(some) == cap(some) {
			_, _ = w.Write(some)
			some = some[:0]
		}
	}
	_, _ = w.Write(some)
}

// writePostings writes the positions ordered by hash, and within a hash by variant.
func (b *Builder) writePostings(w *bufio.Writer) error {
	if b.spilled != nil {
		return b.spilled.merge(b.counts, func(position uint32) { put32(w, position) })
	}
	slices.Sort(b.postings)
	for _, p := range b.postings {
		put32(w, uint32(p))
	}
	return nil
}

// writeWaves writes the samples of all clips, in 16 bits.
func (b *Builder) writeWaves(w *bufio.Writer) error {
	if b.spilled != nil {
		_, err := io.Copy(w, b.spilled.allWaves())
		return err
	}
	for _, v := range b.waves {
		put16(w, v)
	}
	return nil
}

func put32(w *bufio.Writer, v uint32) {
	_, _ = w.Write(le.AppendUint32(w.AvailableBuffer(), v))
}

func put16(w *bufio.Writer, v int16) {
	_, _ = w.Write(le.AppendUint16(w.AvailableBuffer(), uint16(v)))
}
