package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-git/go-billy/v5/osfs"
	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/storage/filesystem"

	"leasehold/shared/fault"
)

// library is a mirror that the library go-git copies and reads, on a machine without git.
// It starts no program but ssh. Because go-git reads whole objects into memory, an object
// has at most maxObject bytes, and a pack at most maxObjects of them.
type library struct{ *Mirror }

const (
	maxObject  = 64 << 20
	maxObjects = 1_000_000
	cacheBytes = 16 << 20 // of an open repository
)

// madeBy is a file in the mirrors that only the library has copied to, so that they have no
// larger objects. Others are made again.
const madeBy = "leasehold-library"

// begin has nothing to prepare: the library needs no files beside the mirror. The error is always
// nil.
func (m library) begin(context.Context) (end func(), err error) { return func() {}, nil }

func (m library) branches(ctx context.Context, _ bool) (remote, error) {
	refs, target, err := m.listRefs(ctx)
	return newRemote(refs, target), err
}

func (m library) refs(ctx context.Context) (map[string]string, error) {
	refs, _, err := m.listRefs(ctx)
	return refs, err
}

// listRefs returns the refs of the source by name, and the name of the ref that HEAD names; "" if
// HEAD names a commit.
func (m library) listRefs(ctx context.Context) (refs map[string]string, target string, err error) {
	err = recoverPanics(func() error {
		if m.src.url != nil {
			refs, target, err = m.listServerRefs(ctx)
		} else {
			refs, target, err = m.listFolderRefs()
		}
		return err
	})
	return refs, target, err
}

// copy copies branches with go-git; see engine.
func (m library) copy(ctx context.Context, refs remote, names []string, history bool) (found []Branch, err error) {
	err = recoverPanics(func() error {
		found, err = m.copyBranches(ctx, refs, names, history)
		return err
	})
	return found, err
}

// copyBranches is copy without protection from panics of go-git. It copies the commits that the
// mirror lacks, sets the mirror's refs, and then reads each commit, so that a Branch is returned
// only if it can be read. errUnusable: the mirror must be made again, for example because it was
// made without the history.
func (m library) copyBranches(ctx context.Context, refs remote, names []string, history bool) ([]Branch, error) {
	r, err := m.prepareMirror(history)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	c := copying{into: r, dir: m.dir, packBytes: m.store.MirrorBytes, history: history}
	for _, name := range names {
		if hash := plumbing.NewHash(refs.hash[name]); r.HasEncodedObject(hash) != nil && !slices.Contains(c.wants, hash) {
			c.wants = append(c.wants, hash)
		}
	}
	if c.shallow, err = r.Shallow(); err != nil {
		return nil, errors.Join(errUnusable, err)
	}
	if history && len(c.shallow) > 0 {
		return nil, errUnusable
	}
	if len(c.wants) > 0 {
		if m.src.url != nil {
			err = m.copyServer(ctx, &c)
		} else {
			err = m.copyFolder(ctx, &c)
		}
		if err != nil {
			return nil, err
		}
	}
	if refs, names, err = r.peelTags(refs, names); err != nil {
		return nil, err
	}
	if err := r.setBranches(refs, names); err != nil {
		return nil, err
	}
	return m.readBranches(r, refs, names)
}

// readBranches returns the branches with these names.
func (m library) readBranches(r repository, refs remote, names []string) (found []Branch, err error) {
	for _, name := range names {
		hash := plumbing.NewHash(refs.hash[name])
		commit, err := r.readCommit(hash)
		if err != nil {
			return nil, fmt.Errorf("branch %q of %s: %w", name, m.src.uri, err)
		}
		found = append(found, Branch{Name: name, Commit: hash.String(), Time: time.Unix(commit.at, 0).UTC()})
	}
	return found, nil
}

// repository is a repository on this machine's disk, open for one call, because go-git's
// are not safe for concurrent use.
type repository struct{ *filesystem.Storage }

// openRepository opens a repository whose links may not lead out of its folder.
func openRepository(dir string) repository {
	return repository{filesystem.NewStorageWithOptions(osfs.New(dir, osfs.WithBoundOS()), cache.NewObjectLRU(cacheBytes), filesystem.Options{KeepDescriptors: true})}
}

// prepareMirror opens the mirror. If it does not exist, or the git command has copied to it, it
// makes an empty one. The error is errUnusable if it is damaged or has too many packs, or
// fault.ErrFolder if it cannot be made. The file madeBy marks a mirror that was made here.
func (m library) prepareMirror(history bool) (repository, error) {
	marker := filepath.Join(m.dir, madeBy)
	if _, err := os.Stat(marker); err == nil {
		_, err := os.Stat(filepath.Join(m.dir, "objects", "pack"))
		if err = errors.Join(err, m.checkPacks(history)); err != nil {
			return repository{}, errors.Join(errUnusable, err)
		}
		return openRepository(m.dir), m.removeLocks()
	}
	err := os.RemoveAll(m.dir)
	for _, dir := range []string{"objects/info", "objects/pack", "refs/heads", "refs/tags"} {
		err = errors.Join(err, os.MkdirAll(filepath.Join(m.dir, dir), 0o700))
	}
	for name, text := range map[string]string{"HEAD": "ref: refs/heads/main\n", "config": "[core]\n\trepositoryformatversion = 0\n\tbare = true\n", madeBy: ""} {
		err = errors.Join(err, os.WriteFile(filepath.Join(m.dir, name), []byte(text), 0o600))
	}
	if err != nil {
		return repository{}, fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	return openRepository(m.dir), nil
}

// setBranches sets the refs of the branches names to their commits, and removes all other refs
// first, because a branch named a and one named a/b cannot exist side by side. The error is
// errUnusable.
func (r repository) setBranches(refs remote, names []string) error {
	old, err := r.IterReferences()
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	err = old.ForEach(func(ref *plumbing.Reference) error {
		kept := slices.ContainsFunc(names, func(name string) bool { return mirrorRef(name) == string(ref.Name()) })
		if kept || ref.Name() == plumbing.HEAD {
			return nil
		}
		return r.RemoveReference(ref.Name())
	})
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	for _, name := range names {
		ref := plumbing.NewHashReference(plumbing.ReferenceName(mirrorRef(name)), plumbing.NewHash(refs.hash[name]))
		if err := r.SetReference(ref); err != nil {
			return errors.Join(errUnusable, err)
		}
	}
	return nil
}

// recoverPanics calls f, and returns a panic of go-git over damaged data as fault.ErrCorrupt,
// otherwise the error of f.
func recoverPanics(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("go-git: %w: %v", fault.ErrCorrupt, p)
		}
	}()
	return f()
}
