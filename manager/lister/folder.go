package lister

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"leasehold/models"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
)

const (
	maxDepthDirs = 2       // folders below the lister's own that are searched
	maxEntries   = 100_000 // that are read
)

// listFolder lists the repositories in dir and up to maxDepthDirs below it, in the order of their paths. It does
// not look into repositories, nor into folders whose names begin with a dot. It fails if a folder cannot be read,
// because an incomplete listing must not count as full, and if there are more than maxEntries entries. It stops
// behind maxNames, so that its caller sees that there are more.
func (f *Flow) listFolder(ctx context.Context, dir string) (named []models.ListedOrigin, err error) {
	root, err := f.Fetch.Folder(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch entries++; {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil:
			return fmt.Errorf("%s: %w: %w", name, err, fault.ErrInvalid)
		case entries > maxEntries:
			return fmt.Errorf("it holds more than %d entries: %w", maxEntries, fault.ErrTooLarge)
		case !e.IsDir() || name == ".":
			return nil
		case strings.HasPrefix(path.Base(name), "."):
			return fs.SkipDir
		}
		if n, ok := readRepository(root, name); ok {
			n.URI = filepath.Join(dir, filepath.FromSlash(name))
			if len(named) <= maxNames {
				named = append(named, n)
			}
			return fs.SkipDir
		}
		if strings.Count(name, "/")+1 >= maxDepthDirs {
			return fs.SkipDir
		}
		return nil
	})
	return named, err
}

// readRepository returns when the repository in a folder was made and last updated; ok is false if
// the folder has none. The update is the latest time of the files that a push or commit writes.
func readRepository(root *os.Root, name string) (n models.ListedOrigin, ok bool) {
	for _, inner := range []string{name + "/.git", name} {
		dir, err := root.OpenRoot(inner)
		if err != nil {
			continue
		}
		defer dir.Close()
		if !gitrepo.IsRepository(dir) {
			continue
		}
		n = models.ListedOrigin{Kind: models.Git, Created: gitrepo.Made(dir)}
		for _, file := range []string{"refs/heads", "packed-refs", "logs/HEAD"} {
			if info, err := dir.Stat(file); err == nil && info.ModTime().After(n.Updated) {
				n.Updated = info.ModTime().UTC()
			}
		}
		return n, true
	}
	return n, false
}
