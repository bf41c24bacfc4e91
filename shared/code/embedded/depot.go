package embedded

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"leasehold/shared/code/segment"
	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// A Depot keeps copies of the files of an index where the next process that has the index finds them. The folder of the
// index is a cache then: Align compares it with the depot, and Adopt takes in the files that it lacked.
type Depot interface {
	// Keep keeps the file at path, in place of an earlier one of that name, durably.
	Keep(ctx context.Context, f File, path string) error
	// Drop removes files. Names that it does not have do not matter.
	Drop(ctx context.Context, names ...string) error
}

// File is a file of an index: a segment, or the generation of a repository.
type File struct {
	Name         string // without its folder
	RepoID, Repo string // of a generation
}

// IsGeneration reports whether f is the generation of a repository.
func (f File) IsGeneration() bool { return strings.HasSuffix(f.Name, generationExtension) }

// Kept is a file as a depot has it.
type Kept struct {
	File
	Hash  [sha256.Size]byte // SHA-256 of its content
	Bytes int64
}

// Path returns where f is in the index in dir.
func (f File) Path(dir string) string {
	if f.IsGeneration() {
		return filepath.Join(dir, "repositories", f.Name)
	}
	return filepath.Join(dir, "segments", f.Name)
}

// Align removes from the index in dir, which is not open, the files that a depot does not have, and has the inventory
// name those that it has. It returns the files that dir lacks, generations first. Until Adopt takes them in, searches
// report that they miss them.
func Align(dir string, all []Kept) (missing []Kept, err error) {
	wanted := map[string]Kept{}
	for _, k := range all {
		if name := filepath.Base(k.Name); name != k.Name || !k.IsGeneration() && !strings.HasSuffix(name, segment.Extension) {
			return nil, fmt.Errorf("the depot of the code index has a file %.100q: %w", k.Name, fault.ErrCorrupt)
		}
		wanted[k.Path(dir)] = k
	}
	for _, folder := range []string{"segments", "repositories"} {
		if err := platform.MakeFolder(filepath.Join(dir, folder), 0o755); err != nil {
			return nil, err
		}
		found, err := platform.Glob(filepath.Join(dir, folder), "*")
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			if k, ok := wanted[path]; ok && k.isAt(path) {
				delete(wanted, path)
				continue
			}
			if err := os.Remove(path); err != nil {
				return nil, fmt.Errorf("%w: %w", fault.ErrFolder, err)
			}
		}
	}
	names := &inventory{path: filepath.Join(dir, inventoryName), names: map[string]inventoryEntry{}}
	for _, k := range all {
		names.names[k.Name] = inventoryEntry{Name: k.Name, RepoID: k.RepoID, Repo: k.Repo}
	}
	for _, k := range wanted {
		missing = append(missing, k)
	}
	slices.SortFunc(missing, func(a, b Kept) int {
		if a.IsGeneration() != b.IsGeneration() {
			return strings.Compare(filepath.Ext(a.Name), filepath.Ext(b.Name)) // .generation before .segment
		}
		return strings.Compare(a.Name, b.Name)
	})
	return missing, names.rewrite()
}

// isAt reports whether the file at path is k. The name of a segment has its hash, and a whole segment of that name was
// checked when it was written there.
func (k Kept) isAt(path string) bool {
	info, err := os.Stat(path)
	if err != nil || info.Size() != k.Bytes {
		return false
	}
	if !k.IsGeneration() {
		return true
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	sum := sha256.New()
	_, err = io.Copy(sum, f)
	return err == nil && [sha256.Size]byte(sum.Sum(nil)) == k.Hash
}

// Adopt takes in a file of the depot, which is at path on the file system of the index, and makes searches use it. A file
// that the index has, or does not need any more, is removed. It fails with fault.ErrCorrupt for a damaged file.
func (x *Index) Adopt(ctx context.Context, f File, path string) error {
	if f.IsGeneration() {
		return x.adoptGeneration(f, path)
	}
	s, err := segment.Open(path)
	if err != nil {
		return err
	}
	var replaced []string // which a crash has left in the depot
	for _, hash := range s.Replaces() {
		replaced = append(replaced, hash+segment.Extension)
	}
	if err := errors.Join(s.Verify(), s.Close()); err != nil {
		return err
	}
	if err := x.drop(ctx, replaced...); err != nil {
		return err
	}
	if x.isReplaced(f.Name) {
		return cmp.Or(x.drop(ctx, f.Name), os.Remove(path))
	}
	target := filepath.Join(x.segments, f.Name)
	if err := cmp.Or(platform.SyncFile(path), os.Rename(path, target), platform.SyncDir(x.segments)); err != nil {
		return err
	}
	return x.openAdded(target)
}

// isReplaced reports whether a segment of the index has what the segment of that name has.
func (x *Index) isReplaced(name string) bool {
	v, err := x.acquire()
	if err != nil {
		return false
	}
	defer x.release(v)
	return slices.ContainsFunc(v.parts, func(p *part) bool { return slices.Contains(p.Replaces(), segment.Hash(name)) })
}

// adoptGeneration is Adopt for a generation. One that was published meanwhile is newer, and stays.
func (x *Index) adoptGeneration(f File, path string) error {
	x.writing.Lock()
	defer x.writing.Unlock()
	v, err := x.viewToWrite()
	if err != nil {
		return err
	}
	if _, missing := v.missingRepos[f.RepoID]; !missing {
		return os.Remove(path)
	}
	target := filepath.Join(x.repos, f.Name)
	if err := cmp.Or(platform.SyncFile(path), os.Rename(path, target), platform.SyncDir(x.repos)); err != nil {
		return err
	}
	g, err := openGeneration(target)
	if err != nil {
		return err
	}
	if generationEntry(g.repoID, g.repo).Name != f.Name {
		return errors.Join(corrupt(path), g.close())
	}
	x.install(v.withGeneration(g))
	return nil
}

// keep has the depot keep the file at path, if the index has a depot.
func (x *Index) keep(ctx context.Context, e inventoryEntry, path string) error {
	if x.options.Depot == nil {
		return nil
	}
	return x.options.Depot.Keep(ctx, File{Name: e.Name, RepoID: e.RepoID, Repo: e.Repo}, path)
}

// drop has the depot remove files, if the index has a depot.
func (x *Index) drop(ctx context.Context, names ...string) error {
	if x.options.Depot == nil || len(names) == 0 {
		return nil
	}
	return x.options.Depot.Drop(ctx, names...)
}

// Inventory returns the files that the index in dir has, which is not open, by their paths. It leaves out those that are
// missing.
func Inventory(dir string) (map[string]File, error) {
	names, err := readInventory(dir)
	all := map[string]File{}
	for _, e := range names {
		f := File{Name: e.Name, RepoID: e.RepoID, Repo: e.Repo}
		if _, err := os.Stat(f.Path(dir)); err == nil {
			all[f.Path(dir)] = f
		}
	}
	return all, err
}
