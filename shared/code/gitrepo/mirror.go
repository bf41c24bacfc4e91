package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"leasehold/shared/fault"
	"leasehold/shared/process/platform"
)

// Mirror is a bare copy of a repository. Its methods must not be called concurrently,
// except Files and Blobs after Fetch has returned.
type Mirror struct {
	store *Store
	id    string
	src   source
	dir   string

	engine engine
}

// Close ends the use of the mirror, which stays on disk until its space is needed.
func (m *Mirror) Close() { m.store.release(m.id) }

// Wanted selects what Fetch copies.
type Wanted struct {
	// Branches are patterns of path.Match, such as "main" or "release-*"; HEAD is the
	// branch that the repository names so. Empty: HEAD.
	Branches []string
	// Tags are such patterns of tags. Of those that match the newest are returned.
	Tags    []string
	History bool // all commits, instead of the last one of each branch
}

// Branch is a branch of a mirror, or a tag that names a commit.
type Branch struct {
	Name   string // without refs/heads/; "HEAD" if HEAD names a commit and no branch; of a tag, with TagPrefix
	Commit string
	Time   time.Time // of the commit, as its author gave it
}

// fetchTries is how often Fetch lists the refs again, because a branch was removed or
// moved while it was fetched.
const fetchTries = 3

// Fetch copies the wanted branches and tags, and returns them in the state in which they were
// copied: the branches, ordered by name, and then the tags, the newest first by the dates of their
// commits, at most 64 together. It returns none if the repository is empty. A damaged mirror is made again. It fails
// with fault.ErrTooLarge if the mirror exceeds MirrorBytes, and removes it then; with
// fault.ErrNotFound if the repository has branches but none of them matches; and with
// fault.ErrFolder if the mirror's folder fails.
func (m *Mirror) Fetch(ctx context.Context, w Wanted) ([]Branch, error) {
	end, err := m.engine.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	m.store.makeSpace(m.id) // before the fetch, so that the disk has space for it
	for try := 1; ; try++ {
		found, err := m.fetch(ctx, w)
		switch {
		case err == nil:
			return found, m.markUsed()
		case ctx.Err() != nil || try == fetchTries:
			return nil, err
		case errors.Is(err, fault.ErrCorrupt) || errors.Is(err, errUnusable):
			if err := os.RemoveAll(m.dir); err != nil {
				return nil, fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
			}
		case !errors.Is(err, fault.ErrConflict):
			return nil, err
		}
	}
}

// errUnusable is the error of a mirror that must be made again.
var errUnusable = errors.New("the mirror cannot be used")

// Refs returns the hashes of all refs of the repository, by name, without copying it.
func (m *Mirror) Refs(ctx context.Context) (map[string]string, error) {
	end, err := m.engine.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer end()
	return m.engine.refs(ctx)
}

// fetch copies the wanted branches once, and returns none if the repository is empty. Fetch
// decides by the error: after ErrCorrupt or errUnusable it makes the mirror again, and after
// ErrConflict (a branch was removed or moved since its ref was read) it tries again.
func (m *Mirror) fetch(ctx context.Context, w Wanted) (found []Branch, err error) {
	refs, err := m.engine.branches(ctx, len(w.Tags) > 0)
	if err != nil {
		return nil, err
	}
	names, err := chooseBranches(refs, w.Branches)
	if err != nil {
		return nil, err
	}
	tags, err := chooseTags(refs, w.Tags)
	if names = append(names, tags...); err != nil || len(names) == 0 {
		return nil, err
	}
	err = m.withinSize(ctx, func(ctx context.Context) error {
		found, err = m.engine.copy(ctx, refs, names, w.History)
		return err
	})
	if err != nil {
		return nil, err
	}
	return newestRefs(found)
}

// withinSize calls copy, and cancels its context with fault.ErrTooLarge when the mirror exceeds
// MirrorBytes; copy returns that cause. After such an error the mirror is removed, because it takes
// too much space.
func (m *Mirror) withinSize(ctx context.Context, copy func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		m.watchSize(ctx, cancel)
	}()
	defer func() { cancel(nil); <-watching }()
	err := copy(ctx)
	if err == nil {
		err = m.checkSize() // it may have grown since the last tick
	}
	if errors.Is(err, fault.ErrTooLarge) {
		err = errors.Join(err, os.RemoveAll(m.dir))
	}
	return err
}

// sizeEvery is how often the size of a mirror is measured while it is fetched.
const sizeEvery = 250 * time.Millisecond

// watchSize measures the mirror each sizeEvery until ctx ends. If it is too large, it calls cancel
// with the error and returns.
func (m *Mirror) watchSize(ctx context.Context, cancel context.CancelCauseFunc) {
	tick := time.NewTicker(sizeEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if err := m.checkSize(); err != nil {
				cancel(err)
				return
			}
		}
	}
}

// checkSize returns fault.ErrTooLarge if the mirror takes more than Config.MirrorBytes.
func (m *Mirror) checkSize() error {
	if n := diskUsage(m.dir); n > m.store.MirrorBytes {
		return fmt.Errorf("mirror of %s: %w: more than %d bytes", m.src.uri, fault.ErrTooLarge, m.store.MirrorBytes)
	}
	return nil
}

// markUsed marks the mirror as used now, by the time of its folder, which makeSpace reads. A mirror
// without a folder, of a repository without branches, is left alone.
func (m *Mirror) markUsed() error {
	now := time.Now()
	if err := os.Chtimes(m.dir, now, now); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	return nil
}

// maxPacks is how many packs a mirror may have before it is fetched again, because each
// fetch adds one and nothing of them is removed.
const maxPacks = 50

// checkPacks returns errUnusable if a mirror without history has more than maxPacks packs. One with
// history has no such limit. A folder that cannot be listed is errUnusable too.
func (m *Mirror) checkPacks(history bool) error {
	packs, err := platform.Glob(m.dir, "objects/pack/*.pack")
	if err != nil || !history && len(packs) > maxPacks {
		return errors.Join(errUnusable, err)
	}
	return nil
}

// removeLocks removes the locks and partial packs that a killed git has left. No other process
// uses the folder, because its owner locks the data folder. fault.ErrFolder: one cannot be
// removed.
func (m *Mirror) removeLocks() error {
	for _, pattern := range []string{"*.lock", "refs/*/*.lock", "objects/pack/tmp_*", "objects/pack/.tmp-*"} {
		files, err := platform.Glob(m.dir, pattern)
		if err != nil {
			return err
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
			}
		}
	}
	return nil
}
