package inverted

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"iter"
	"os"

	"leasehold/shared/clips/landmark"
	"leasehold/shared/fault"
)

// pass is how many landmarks Build holds at a time: 4 bytes each.
const pass = 1 << 22

// Source yields the landmarks of an episode that have one of the hashes, in the order of time. It ends
// after an error.
type Source func(of landmark.Hashes) iter.Seq2[landmark.Landmark, error]

// Build writes a segment of these episodes into an empty file, and sets where each begins in the
// segment. Each source is read several times. It fails with fault.ErrTooLarge for no episodes, or
// too many frames.
func Build(f *os.File, episodes []Episode, sources []Source) error {
	b := &builder{episodes: episodes, sources: sources, out: bufio.NewWriterSize(f, 1<<16), counts: make([]uint32, hashes)}
	frames := 0
	for i := range episodes {
		episodes[i].base = frames
		frames += episodes[i].frames()
	}
	if len(episodes) == 0 || frames > maxFrames {
		return fmt.Errorf("inverted.Build: %d episodes of %d frames: want at least one, and at most 2^32 frames: %w", len(episodes), frames, fault.ErrTooLarge)
	}
	if err := b.build(f); err != nil {
		return fmt.Errorf("inverted.Build: %w", err)
	}
	return nil
}

type builder struct {
	episodes []Episode
	sources  []Source
	out      *bufio.Writer
	counts   []uint32 // landmarks of each hash; later, where its list begins
	written  int      // bytes of lists
}

// build counts the landmarks of each hash, writes the lists of as many hashes at a time as fit into
// pass, and then what stands before them. A hash alone may exceed pass. So it reads the landmarks
// once to count and once for each group of hashes, and needs little memory.
func (b *builder) build(f *os.File) error {
	all := landmark.NewHashes()
	for h := range uint32(hashes) {
		all.Add(h)
	}
	if err := b.read(all, func(hash, _ uint32) { b.counts[hash]++ }); err != nil {
		return err
	}
	before := headBytes + episodeBytes*len(b.episodes) + 4*(hashes+1)
	if _, err := f.Seek(int64(before), io.SeekStart); err != nil {
		return err
	}
	for from := uint32(0); from < hashes; {
		to, n := from, 0
		for to < hashes && (n == 0 || n+int(b.counts[to]) <= pass) {
			n += int(b.counts[to])
			to++
		}
		if err := b.writeLists(from, to, n); err != nil {
			return err
		}
		from = to
	}
	if err := b.out.Flush(); err != nil {
		return err
	}
	return b.writeHead(f)
}

// read calls use with each landmark that has one of the hashes, with its frame in the segment, in
// the order of the episodes and of time.
func (b *builder) read(some landmark.Hashes, use func(hash, frame uint32)) error {
	for i, source := range b.sources {
		for l, err := range source(some) {
			if err != nil {
				return err
			}
			use(l.Hash, uint32(b.episodes[i].base+l.Frame))
		}
	}
	return nil
}

// writeLists writes the lists of the hashes from from to before to, which have n landmarks
// together, and replaces their counts by where their lists begin. A list has the differences
// between frames.
func (b *builder) writeLists(from, to uint32, n int) error {
	some := landmark.NewHashes()
	next := make([]int, to-from)
	for sum, h := 0, from; h < to; h++ {
		some.Add(h)
		next[h-from], sum = sum, sum+int(b.counts[h])
	}
	frames := make([]uint32, n)
	err := b.read(some, func(hash, frame uint32) {
		frames[next[hash-from]] = frame
		next[hash-from]++
	})
	if err != nil {
		return err
	}
	var code [binary.MaxVarintLen64]byte
	for h := from; h < to; h++ {
		own := frames[next[h-from]-int(b.counts[h]) : next[h-from]]
		b.counts[h] = uint32(b.written)
		last := uint32(0)
		for _, frame := range own {
			n := binary.PutUvarint(code[:], uint64(frame-last))
			if _, err := b.out.Write(code[:n]); err != nil {
				return err
			}
			b.written += n
			last = frame
		}
	}
	return nil
}

// writeHead writes what stands before the lists, with the check sum of all, and syncs the file.
// Lists of 2^32 bytes or more give fault.ErrTooLarge.
func (b *builder) writeHead(f *os.File) error {
	if int64(b.written) >= 1<<32 {
		return fmt.Errorf("%d bytes of lists: want less than 2^32: %w", b.written, fault.ErrTooLarge)
	}
	before := make([]byte, headBytes, headBytes+episodeBytes*len(b.episodes)+4*(hashes+1))
	copy(before, magic)
	le.PutUint32(before[8:], Version)
	le.PutUint64(before[sumFrom:], uint64(len(b.episodes)))
	for _, e := range b.episodes {
		flags := uint64(0)
		if e.Broken {
			flags = 1
		}
		before = append(before, e.Name[:]...)
		before = le.AppendUint64(before, uint64(e.Samples))
		before = le.AppendUint64(before, flags)
	}
	for _, at := range b.counts {
		before = le.AppendUint32(before, at)
	}
	before = le.AppendUint32(before, uint32(b.written))
	sum := crc32.New(castagnoli)
	_, _ = sum.Write(before[sumFrom:])
	if _, err := io.Copy(sum, bufio.NewReaderSize(io.NewSectionReader(f, int64(len(before)), int64(b.written)), 1<<16)); err != nil {
		return err
	}
	le.PutUint32(before[12:], sum.Sum32())
	_, err := f.WriteAt(before, 0)
	return errors.Join(err, f.Sync())
}
