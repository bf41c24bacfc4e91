package set

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// fetch downloads and unpacks a Debian package below work. It returns the folder, and the name of
// the package with its version. It does not download a package already there. It unpacks under
// another name and renames it, so that a folder is complete. fault.ErrNotFound: apt-get did not
// download it.
func fetch(ctx context.Context, work, name string) (dir, version string, err error) {
	debs := filepath.Join(work, "packages")
	if err := os.MkdirAll(debs, 0o755); err != nil {
		return "", "", err
	}
	deb, err := downloaded(debs, name)
	if err != nil {
		return "", "", err
	}
	if deb == "" {
		if _, err := run(ctx, debs, "apt-get", "download", "-q", name); err != nil {
			return "", "", err
		}
		if deb, err = downloaded(debs, name); err != nil {
			return "", "", err
		}
	}
	if deb == "" {
		return "", "", fmt.Errorf("apt-get download %s: %w", name, fault.ErrNotFound)
	}
	version = strings.TrimSuffix(filepath.Base(deb), ".deb")
	dir = filepath.Join(debs, version)
	if _, err := os.Stat(dir); err == nil {
		return dir, version, nil
	}
	if _, err := run(ctx, debs, "dpkg-deb", "-x", deb, dir+".part"); err != nil {
		return "", "", err
	}
	return dir, version, os.Rename(dir+".part", dir)
}

// downloaded returns the file of the package, the last by name if there are several, or "" if there
// is none.
func downloaded(dir, name string) (string, error) {
	all, err := filepath.Glob(filepath.Join(dir, name+"_*.deb"))
	if err != nil || len(all) == 0 {
		return "", err
	}
	slices.Sort(all)
	return all[len(all)-1], nil
}

// soundFiles lists the sound files below dir, by name, so that the draws from them can be repeated.
// Links are left out.
func soundFiles(dir string) ([]string, error) {
	var all []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".wav", ".ogg", ".mp3", ".flac":
			if d.Type().IsRegular() {
				all = append(all, path)
			}
		}
		return nil
	})
	return all, err
}
