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
	"syscall"

	"leasehold/shared/fault"
)

// Write puts the index at path, whole or not at all: through a file beside it.
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

// copyTo writes the image; one that is mapped is read, so that no more of it is resident.
func (x *Index) copyTo(f *os.File) error {
	if x.file == nil {
		_, err := f.Write(x.image)
		return err
	}
	_, err := io.Copy(f, io.NewSectionReader(x.file, 0, int64(len(x.image))))
	return err
}

// Open maps the index at path, which nobody may change meanwhile. The caller closes it.
// A file that is none, or another version's (a *VersionError), is fault.ErrInvalid; one
// that was cut or changed is fault.ErrCorrupt.
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

func openFile(f *os.File) (*Index, error) {
	size, err := check(f)
	if err != nil {
		return nil, err
	}
	return mapped(f, int(size))
}

// mapped makes an Index of a file, which is then its own. One that is not closed gives the
// file back when nothing refers to it any more, like an os.File.
func mapped(f *os.File, size int) (*Index, error) {
	image, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mmap: %w", err)
	}
	x, err := open(image)
	if err != nil {
		return nil, errors.Join(err, syscall.Munmap(image))
	}
	x.file = f
	x.forgotten = runtime.AddCleanup(x, func(image []byte) { _ = syscall.Munmap(image) }, image) // nobody is there to be told
	return x, nil
}

// Close gives the file back; an Index in memory holds none. Nothing of the Index may be used
// afterwards.
func (x *Index) Close() error {
	if x.file == nil {
		return nil
	}
	x.forgotten.Stop()
	err := errors.Join(syscall.Munmap(x.image), x.file.Close())
	x.file = nil
	return err
}

// check reads a file through, which makes nothing resident, and returns its size.
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
