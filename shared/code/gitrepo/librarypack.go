package gitrepo

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"leasehold/shared/fault"
)

// copying is one copy of branches into a mirror.
type copying struct {
	into      repository
	dir       string // of into
	packBytes int64  // that a pack may have
	history   bool
	wants     []plumbing.Hash
	shallow   []plumbing.Hash // commits of the mirror without their parents
}

// addPack calls write with a temporary file, and adds the pack in it to the mirror, after it was
// checked, completed and indexed. The mirror gets all of it or nothing: go-git finds a pack by its
// index, which is renamed last.
func (c *copying) addPack(ctx context.Context, write func(*os.File) error) error {
	folder := filepath.Join(c.dir, "objects", "pack")
	pack, err := os.CreateTemp(folder, "tmp_pack_")
	if err != nil {
		return fmt.Errorf("mirror: %w: %w", fault.ErrFolder, err)
	}
	defer os.Remove(pack.Name()) // unless it was renamed
	defer pack.Close()
	if err := write(pack); err != nil {
		return err
	}
	in := packReader{ctx, pack}
	sum, err := packSum(in)
	if err != nil {
		return packFault(ctx, err)
	}
	bases, err := checkPack(in)
	if err == nil && len(bases) > 0 {
		sum, err = c.appendBases(in, bases)
	}
	if err != nil {
		return packFault(ctx, err)
	}
	index, err := indexPack(in)
	if err != nil {
		return packFault(ctx, err)
	}
	if err := installPack(folder, pack, sum, index); err != nil {
		return fmt.Errorf("mirror: %w: %w", fault.ErrFolder, err)
	}
	c.into.Reindex()
	return nil
}

// installPack writes the index of a pack, syncs and closes both, and gives them their names, the index last.
func installPack(folder string, pack *os.File, sum string, index *idxfile.MemoryIndex) error {
	idx, err := os.CreateTemp(folder, "tmp_idx_")
	if err != nil {
		return err
	}
	defer os.Remove(idx.Name())
	out := bufio.NewWriter(idx)
	_, err = idxfile.NewEncoder(out).Encode(index)
	name := filepath.Join(folder, "pack-"+sum)
	err = errors.Join(err, out.Flush(), idx.Sync(), idx.Close(), pack.Sync(), pack.Close()) // Windows renames no open file
	if err != nil {
		return err
	}
	if err := os.Rename(pack.Name(), name+".pack"); err != nil {
		return err
	}
	return os.Rename(idx.Name(), name+".idx") // last, because a pack without its index is not read
}

// packFault returns the error of a pack that cannot be read: the cause of ctx if that ended,
// fault.ErrTooLarge as it is, and fault.ErrCorrupt for all else.
func packFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if errors.Is(err, fault.ErrTooLarge) {
		return err
	}
	return fmt.Errorf("pack: %w: %w", fault.ErrCorrupt, err)
}

// packSum returns the checksum at the end of a pack, in hexadecimal digits. It returns an error if
// it is not the checksum of the content.
func packSum(in packReader) (string, error) {
	size, err := in.Seek(0, io.SeekEnd)
	if err != nil || size < sha1.Size {
		return "", errors.Join(fmt.Errorf("%d bytes", size), err)
	}
	sum, err := in.hashStart(size - sha1.Size)
	if err != nil {
		return "", err
	}
	want := make([]byte, sha1.Size)
	if _, err := in.file.ReadAt(want, size-sha1.Size); err != nil {
		return "", err
	}
	if !bytes.Equal(sum, want) {
		return "", errors.New("its checksum is wrong")
	}
	return hex.EncodeToString(want), nil
}

// appendBases appends bases to a pack: the objects of the mirror from which its deltas are
// computed, because a pack on disk must have them. It writes over the old checksum, corrects the
// number of objects in the header, and returns the new checksum.
func (c *copying) appendBases(in packReader, bases []plumbing.Hash) (string, error) {
	end, err := in.Seek(-sha1.Size, io.SeekEnd)
	if err != nil {
		return "", err
	}
	count := make([]byte, 4)
	if _, err := in.file.ReadAt(count, packCount); err != nil {
		return "", err
	}
	out := bufio.NewWriter(&boundedWriter{in.file, c.packBytes - end})
	deflate := newDeflater(out)
	for _, hash := range bases {
		if err := c.into.writeObject(out, deflate, hash); err != nil {
			return "", err
		}
	}
	if err := out.Flush(); err != nil {
		return "", err
	}
	binary.BigEndian.PutUint32(count, binary.BigEndian.Uint32(count)+uint32(len(bases)))
	if _, err := in.file.WriteAt(count, packCount); err != nil {
		return "", err
	}
	if end, err = in.Seek(0, io.SeekCurrent); err != nil {
		return "", err
	}
	sum, err := in.hashStart(end)
	if err == nil {
		_, err = in.file.Write(sum)
	}
	if err == nil {
		err = in.file.Truncate(end + sha1.Size)
	}
	return hex.EncodeToString(sum), err
}

// packCount is the offset of the number of objects in a pack.
const packCount = 8

// packReader reads a pack until ctx ends.
type packReader struct {
	ctx  context.Context
	file *os.File
}

// Read reads the pack. When ctx ends it returns its cause, so that go-git stops.
func (r packReader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.file.Read(p)
}

func (r packReader) Seek(offset int64, whence int) (int64, error) { return r.file.Seek(offset, whence) }

// hashStart returns the SHA-1 of the first size bytes of the pack. The next Read or Write of the
// file is behind them.
func (r packReader) hashStart(size int64) ([]byte, error) {
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	h := sha1.New()
	_, err := io.CopyN(h, r, size)
	return h.Sum(nil), err
}

// checkPack checks that no object of a pack needs more memory than maxObject, because indexPack
// reads them into memory. Of a delta it checks the size of the object that it results in too. It
// returns the objects, each once, from which deltas are computed and that may not be in the pack.
func checkPack(in packReader) (bases []plumbing.Hash, err error) {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	s := packfile.NewScanner(in)
	_, count, err := s.Header()
	if err != nil {
		return nil, err
	}
	if count > maxObjects {
		return nil, fmt.Errorf("pack of %d objects: %w: more than %d without the git command: install git", count, fault.ErrTooLarge, maxObjects)
	}
	for range count {
		h, err := s.NextObjectHeader()
		if err != nil {
			return nil, err
		}
		var start deltaStart
		switch {
		case h.Length > maxObject:
			return nil, tooLarge("an object of the pack", h.Length)
		case h.Type.String() == unknownKind:
			return nil, fmt.Errorf("object of kind %d", h.Type)
		case h.Type == plumbing.REFDeltaObject: // deltas of objects in the pack name their places
			bases = append(bases, h.Reference)
		}
		if _, _, err := s.NextObject(&start); err != nil {
			return nil, err
		}
		if size := start.resultSize(); h.Type.IsDelta() && size > maxObject {
			return nil, tooLarge("an object of the pack", int64(min(size, 1<<62)))
		}
	}
	plumbing.HashesSort(bases)
	return slices.Compact(bases), nil
}

// unknownKind is the name of a kind of object that git does not have.
const unknownKind = "unknown"

// deltaStart keeps the first bytes of a delta, which have the size of the object that it is
// computed from, and then the size of its result.
type deltaStart struct{ kept []byte }

// deltaStartBytes is the maximum length of the two sizes.
const deltaStartBytes = 2 * binary.MaxVarintLen64

func (d *deltaStart) Write(p []byte) (int, error) {
	d.kept = append(d.kept, p[:min(len(p), deltaStartBytes-len(d.kept))]...)
	return len(p), nil
}

// resultSize returns the size of the delta's result; 0 if it cannot be read, which indexPack reports.
func (d *deltaStart) resultSize() uint64 {
	_, n := binary.Uvarint(d.kept)
	size, _ := binary.Uvarint(d.kept[max(n, 0):])
	return size
}

// indexPack returns the index of a pack that checkPack has checked, so that no object needs too
// much memory.
func indexPack(in packReader) (*idxfile.MemoryIndex, error) {
	if _, err := in.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	var w idxfile.Writer
	p, err := packfile.NewParser(packfile.NewScanner(in), &w)
	if err == nil {
		_, err = p.Parse()
	}
	if err != nil {
		return nil, err
	}
	return w.Index()
}

// newDeflater compresses fast, because a mirror is read soon and kept only while it is used.
func newDeflater(out io.Writer) *zlib.Writer {
	w, _ := zlib.NewWriterLevel(out, zlib.BestSpeed) // fails for unknown levels only
	return w
}

// writeObject writes an object as packs have it: kind and size, then the compressed content.
// deflate is reused. The first byte has the kind and 4 bits of the size, each further one 7 bits of
// it; all but the last have the highest bit set.
func (r repository) writeObject(out *bufio.Writer, deflate *zlib.Writer, hash plumbing.Hash) error {
	kind, content, err := r.readObject(hash)
	if err == nil && plumbing.ComputeHash(kind, content) != hash {
		err = fmt.Errorf("object %s: %w: its content is corrupt", hash, fault.ErrCorrupt)
	}
	if err != nil {
		return err
	}
	size := uint64(len(content))
	b := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		if err := out.WriteByte(b | 0x80); err != nil {
			return err
		}
		b = byte(size & 0x7f)
	}
	if err := out.WriteByte(b); err != nil {
		return err
	}
	deflate.Reset(out)
	if _, err := deflate.Write(content); err != nil {
		return err
	}
	return deflate.Close()
}

// boundedWriter writes at most left bytes; more gives fault.ErrTooLarge.
type boundedWriter struct {
	io.Writer
	left int64
}

// Write writes p. Once more than the limit would be written, it returns fault.ErrTooLarge.
func (b *boundedWriter) Write(p []byte) (int, error) {
	b.left -= int64(len(p))
	if b.left < 0 {
		return 0, fmt.Errorf("mirror: %w: its pack exceeds the bytes of a mirror", fault.ErrTooLarge)
	}
	return b.Writer.Write(p)
}
