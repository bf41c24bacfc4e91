package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"leasehold/shared/fault"
)

// version is the version of a backup's format; its parts have their own.
const version = 1

// maxManifest bounds the bytes of a manifest, so that a foreign file does not fill memory. An
// entry takes about 200 bytes.
const maxManifest = 256 << 20

type manifest struct {
	Version int `json:"version"`
	Source
	Files map[string]file `json:"files"` // by path, with slashes
}

type file struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// measureFiles measures every file below dir but the manifest, by path with slashes. It refuses anything but
// regular files and folders, because a copy would not have their content.
func measureFiles(ctx context.Context, dir string) (map[string]file, error) {
	all := map[string]file{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path) // path is in dir
		if err = errors.Join(err, ctx.Err()); err != nil || d.IsDir() || name == Manifest {
			return err
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: %w: it is not a regular file", name, fault.ErrCorrupt)
		}
		all[filepath.ToSlash(name)], err = measureFile(path)
		return err
	})
	return all, err
}

// measureFile reads a whole file and returns its size and its SHA-256, or the error of the
// system.
func measureFile(path string) (file, error) {
	f, err := os.Open(path)
	if err != nil {
		return file{}, err
	}
	h := sha256.New()
	n, err := io.Copy(h, f)
	return file{Bytes: n, SHA256: hex.EncodeToString(h.Sum(nil))}, errors.Join(err, f.Close())
}

// checkBackup returns nil if a folder holds what its manifest lists, and nothing else. A folder
// without a manifest, or with one of another version, is fault.ErrInvalid. A manifest that is
// malformed or too large, and content that differs, are fault.ErrCorrupt. Other errors are those of
// withKind and of ctx.
func checkBackup(ctx context.Context, dir string) error {
	f, err := os.Open(filepath.Join(dir, Manifest))
	if err != nil {
		return fmt.Errorf("it is not a backup: %w: %w", fault.ErrInvalid, err)
	}
	data, err := io.ReadAll(io.LimitReader(f, maxManifest+1))
	if err = errors.Join(err, f.Close()); err != nil {
		return withKind(err)
	}
	if len(data) > maxManifest {
		return fmt.Errorf("%s: %w: it has more than %d bytes", Manifest, fault.ErrCorrupt, maxManifest)
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return fmt.Errorf("%s: %w: %w", Manifest, fault.ErrCorrupt, err)
	}
	if m.Version != version {
		return fmt.Errorf("it has version %d, this program reads version %d: use the leasehold that wrote it: %w", m.Version, version, fault.ErrInvalid)
	}
	found, err := measureFiles(ctx, dir)
	if err != nil {
		return withKind(err)
	}
	return compare(m.Files, found)
}

// compare returns nil if both lists are equal, and else fault.ErrCorrupt for the first file, by name, that is
// missing, differs or is not listed.
func compare(want, found map[string]file) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		f, ok := found[name]
		switch {
		case !ok:
			return fmt.Errorf("%s: %w: it is missing", name, fault.ErrCorrupt)
		case f != want[name]:
			return fmt.Errorf("%s: %w: it is not what was written", name, fault.ErrCorrupt)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if _, ok := want[name]; !ok {
			return fmt.Errorf("%s: %w: it was not in the backup", name, fault.ErrCorrupt)
		}
	}
	return nil
}
