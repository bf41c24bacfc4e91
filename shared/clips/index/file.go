package index

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Write stores the index at path atomically: it writes a temporary file in the same folder, syncs
// it and renames it. After an error it removes the temporary file.
func (x *Index) Write(path string) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), ".clips-*")
	if err != nil {
		return fmt.Errorf("index.Write: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("index.Write %s: %w", path, err), f.Close(), os.Remove(f.Name()))
		}
	}()
	if err := x.copyTo(f); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return f.Close()
}

// copyTo writes the image to f. A mapped image is read from its file instead of the mapping, so
// that its pages do not become resident.
func (x *Index) copyTo(f *os.File) error {
	if x.file == nil {
		_, err := f.Write(x.image)
		return err
	}
	_, err := io.Copy(f, io.NewSectionReader(x.file, 0, int64(len(x.image))))
	return err
}

// Open maps the index at path. The file must not change while the Index is open. The caller
// closes the Index. Open fails with fault.ErrInvalid if the file is not an index or has
// another version (a *VersionError), and with fault.ErrCorrupt if it was cut or changed.
func Open(path string) (*Index, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("index.Open: %w", err)
	}
	x, err := openFile(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("index.Open %s: %w", path, err), f.Close())
	}
	return x, nil
}

// openFile checks a file before it maps it (check), because reading a mapping of a cut file would
// kill the process. After an error the caller closes f.
func openFile(f *os.File) (*Index, error) {
	size, err := check(f)
	if err != nil {
		return nil, err
	}
	return mapped(f, int(size))
}

// mapped makes an Index of a file. The Index then owns the file. If the Index is not closed, the
// garbage collector unmaps it once it is unreachable, as it closes an os.File, and ignores the
// error. After an error of mapped the caller keeps the file.
func mapped(f *os.File, size int) (*Index, error) {
	image, err := platform.MapFile(f, size)
	if err != nil {
		return nil, err
	}
	x, err := open(image)
	if err != nil {
		return nil, errors.Join(err, platform.UnmapFile(image))
	}
	x.file = f
	x.forgotten = runtime.AddCleanup(x, func(image []byte) { _ = platform.UnmapFile(image) }, image)
	return x, nil
}

// Close unmaps and closes the file, if the Index has one. The Index and its Postings must not be
// used afterwards. A second Close does nothing.
func (x *Index) Close() error {
	if x.file == nil {
		return nil
	}
	x.forgotten.Stop()
	err := errors.Join(platform.UnmapFile(x.image), x.file.Close())
	x.file = nil
	return err
}

// check verifies the header and the check sum of a file, and returns its size. It reads the file
// before the file is mapped, so that no page of the mapping becomes resident.
func check(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	header, n := make([]byte, headerBytes), 0
	if n, err = io.ReadFull(f, header); err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return 0, err
	}
	_, want, err := readHeader(header[:n], info.Size())
	if err != nil {
		return 0, err
	}
	sum := crc32.New(castagnoli)
	if _, err := io.Copy(sum, bufio.NewReaderSize(f, 1<<16)); err != nil {
		return 0, err
	}
	if sum.Sum32() != want {
		return 0, fmt.Errorf("the clip index is damaged, its check sum is wrong: %w", fault.ErrCorrupt)
	}
	return info.Size(), nil
}
