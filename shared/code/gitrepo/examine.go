package gitrepo

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"

	"leasehold/shared/process/platform"
)

// ExamineMirrors reads the packs of the mirrors in dir and their indexes, and returns a line for each that does not end
// in the hash of its content, as git writes it. All objects of a mirror are in packs. It changes nothing, and a Store
// may use the folder. A folder that does not exist has no damage. It fails with the cause of ctx.
func ExamineMirrors(ctx context.Context, dir string) (damage []string, err error) {
	for _, kind := range []string{"pack", "idx"} {
		paths, err := platform.Glob(dir, "*"+mirrorSuffix+"/objects/pack/*."+kind)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if err := checkTrailer(path); err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
				damage = append(damage, fmt.Sprintf("%s: %v", path, err))
			}
		}
	}
	return damage, nil
}

// checkTrailer checks that a file ends in the SHA-1 or the SHA-256 of the bytes before it. It accepts either, because the
// configuration that names the hash of a repository may be damaged too.
func checkTrailer(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	for _, sum := range []hash.Hash{sha1.New(), sha256.New()} {
		content := size - int64(sum.Size())
		if content < 0 {
			break
		}
		trailer := make([]byte, sum.Size())
		if _, err := io.Copy(sum, io.NewSectionReader(f, 0, content)); err != nil {
			return err
		}
		if _, err := f.ReadAt(trailer, content); err != nil {
			return err
		}
		if bytes.Equal(sum.Sum(nil), trailer) {
			return nil
		}
	}
	return errors.New("it was cut or changed")
}
