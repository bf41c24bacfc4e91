package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"leasehold/shared/process/platform"
)

// ExamineCache reads all content of the cache in dir, and returns a line for each file that does not have the hash of
// its name, and for each record of a URI that was changed. It changes nothing, and a Fetcher may use the cache. A folder that does not exist has no damage. It fails
// with the cause of ctx.
func ExamineCache(ctx context.Context, dir string) (damage []string, err error) {
	paths, err := platform.Glob(filepath.Join(dir, blobFolder), "*/*")
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		name := filepath.Base(path)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if !wellFormedHash.MatchString(hashPrefix + name) {
			continue
		}
		switch sum, err := sumFile(path); {
		case errors.Is(err, fs.ErrNotExist): // evicted meanwhile
		case err != nil:
			damage = append(damage, err.Error())
		case sum != name:
			damage = append(damage, fmt.Sprintf("%s: its SHA-256 is %s", path, sum))
		}
	}
	records, err := platform.Glob(filepath.Join(dir, recordFolder), "*/*.json")
	if err != nil {
		return nil, err
	}
	for _, path := range records {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if _, err := readRecord(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			damage = append(damage, err.Error())
		}
	}
	return damage, nil
}

// sumFile returns the SHA-256 of a file in hexadecimal.
func sumFile(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return hex.EncodeToString(sum.Sum(nil)), errors.Join(err, f.Close())
}
