package segment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strings"

	"leasehold/shared/code"
	"leasehold/shared/code/mapped"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Extension ends the names of segment files; before it is the SHA-256 of the file.
const Extension = ".segment"

// Write writes a segment of blobs into the folder dir, and returns the path of the file, which is
// durable then. Each object id must occur once. WriteFile tells what an
// error leaves.
func Write(ctx context.Context, dir string, blobs []code.Blob, o Options) (string, error) {
	return WriteFile(dir, func(w io.Writer) error {
		b := NewBuilder(w, o)
		for _, blob := range blobs {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := b.Add(blob); err != nil {
				return err
			}
		}
		return b.Finish()
	})
}

// WriteFile calls write with a new file of dir, syncs it, names it by its SHA-256, and returns
// its path. If it returns an error, no file is left, except if only the last sync of the folder
// failed: then the whole file may be there.
func WriteFile(dir string, write func(io.Writer) error) (path string, err error) {
	f, err := os.CreateTemp(dir, "writing-*")
	if err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			err = cmp.Or(err, f.Close())
			_ = os.Remove(f.Name())
		}
	}()
	sum := sha256.New()
	if err = write(io.MultiWriter(f, sum)); err != nil {
		return "", err
	}
	if err = f.Sync(); err != nil {
		return "", err
	}
	if err = f.Close(); err != nil {
		return "", err
	}
	path = filepath.Join(dir, fileName(sum))
	if err = os.Rename(f.Name(), path); err != nil {
		return "", err
	}
	return path, platform.SyncDir(dir)
}

func fileName(sum hash.Hash) string { return hex.EncodeToString(sum.Sum(nil)) + Extension }

// Open maps a segment file into memory and checks it as Decode does. Its caller closes it, after
// the last use of anything that its methods returned. It fails with fault.ErrCorrupt for a damaged
// file.
func Open(path string) (*Segment, error) {
	data, unmap, err := mapped.Open(path)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", path, err)
	}
	s, err := Decode(path, data)
	if err != nil {
		return nil, cmp.Or(err, unmap())
	}
	s.unmap = unmap
	return s, nil
}

// Close unmaps the file.
func (s *Segment) Close() error { return s.unmap() }

// Hash returns the SHA-256 that the name of a segment file states.
func Hash(path string) string { return strings.TrimSuffix(filepath.Base(path), Extension) }

// Verify reads the whole file. It returns fault.ErrCorrupt if the file's SHA-256 is not the
// one of its name, if a part is damaged, or if a text does not have the object id of its
// blob. A segment from another process is verified before it is used.
func (s *Segment) Verify() error {
	if sum := sha256.Sum256(s.data); hex.EncodeToString(sum[:]) != Hash(s.name) {
		return fmt.Errorf("segment %s: its SHA-256 is %x: %w", s.name, sum, fault.ErrCorrupt)
	}
	var buffer []byte
	for i := range s.Blobs() {
		text, err := s.Text(i, &buffer)
		if err != nil {
			return err
		}
		if s.Skipped(i) != "" {
			continue
		}
		if id := s.OID(i); !code.IsTextOf(id, text) {
			return fmt.Errorf("segment %s: the text of blob %s has another hash: %w", s.name, id, fault.ErrCorrupt)
		}
	}
	return nil
}
