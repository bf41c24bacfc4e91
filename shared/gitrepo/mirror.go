package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"leasehold/shared/fault"
)

// Mirror is a bare copy of a repository. Its methods must not be called concurrently,
// except Files and Blobs after Fetch has returned.
type Mirror struct {
	store *Store
	id    string
	src   source
	dir   string
}

// Close ends the use of the mirror, which stays on disk until its space is needed.
func (m *Mirror) Close() { m.store.release(m.id) }

// Wanted selects what Fetch copies.
type Wanted struct {
	// Branches are patterns of path.Match, such as "main" or "release-*"; HEAD is the
	// branch that the repository names so. Empty: HEAD.
	Branches []string
	History  bool // all commits, instead of the last one of each branch
}

// Branch is a branch of a mirror.
type Branch struct {
	Name   string // without refs/heads/; "HEAD" if HEAD names a commit and no branch
	Commit string
	Time   time.Time // of the commit, as its author gave it
}

// fetchTries is how often Fetch lists the refs again, because a branch was removed or
// moved while it was fetched.
const fetchTries = 3

// Fetch copies the wanted branches, and returns them by their names in the state in which
// they were copied. It returns none for a repository without a branch or without HEAD.
// A mirror that is damaged is made again.
func (m *Mirror) Fetch(ctx context.Context, w Wanted) ([]Branch, error) {
	config, err := m.writeConfig(ctx)
	if err != nil {
		return nil, err
	}
	remove, err := m.writeCredentials()
	if err != nil {
		return nil, err
	}
	defer remove()
	m.store.makeSpace(m.id)
	for try := 1; ; try++ {
		found, err := m.fetch(ctx, config, w)
		switch {
		case err == nil:
			return found, m.touch()
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
	config, err := m.writeConfig(ctx)
	if err != nil {
		return nil, err
	}
	remove, err := m.writeCredentials()
	if err != nil {
		return nil, err
	}
	defer remove()
	out, err := m.store.run(ctx, m.src, config, nil, maxRefBytes, "ls-remote", "--quiet", "--", m.src.uri)
	if err != nil {
		return nil, err
	}
	refs := map[string]string{}
	for line := range strings.Lines(string(out)) {
		hash, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok || !objectID.MatchString(hash) {
			return nil, fmt.Errorf("not a ref: %.80q: %w", line, fault.ErrInvalid)
		}
		refs[name] = hash
	}
	return refs, nil
}

// fetch copies the wanted branches once, and returns none if the repository has none. config
// is the path of git's configuration file. Fetch decides by the error: after ErrCorrupt or
// errUnusable it makes the mirror again, and after ErrConflict (a branch was removed or
// moved since its ref was read) it tries again.
func (m *Mirror) fetch(ctx context.Context, config string, w Wanted) ([]Branch, error) {
	refs, err := m.remoteRefs(ctx, config)
	if err != nil {
		return nil, err
	}
	names, err := choose(refs, w.Branches)
	if err != nil || len(names) == 0 {
		return nil, err
	}
	return m.copy(ctx, config, refs, names, w.History)
}

// copy copies branches of refs by their names.
func (m *Mirror) copy(ctx context.Context, config string, refs remote, names []string, history bool) ([]Branch, error) {
	format := "sha1"
	if len(refs.hash[names[0]]) == 64 {
		format = "sha256"
	}
	if err := m.prepare(ctx, config, format, history); err != nil {
		return nil, err
	}
	if err := m.dropOthers(ctx, config, names); err != nil {
		return nil, err
	}
	args := []string{"--git-dir=" + m.dir, "fetch", "--quiet", "--no-tags", "--force", "--no-write-fetch-head", "--update-head-ok",
		"--no-recurse-submodules", "--no-auto-maintenance", "--stdin"}
	if history {
		if _, err := os.Stat(filepath.Join(m.dir, "shallow")); err == nil {
			args = append(args, "--unshallow")
		}
	} else {
		args = append(args, "--depth=1")
	}
	var specs strings.Builder
	for _, name := range names {
		fmt.Fprintf(&specs, "+%s:%s\n", refs.full(name), local(name))
	}
	if err := m.fetchWithin(ctx, config, specs.String(), append(args, "--", m.src.uri)); err != nil {
		return nil, err
	}
	return m.branches(ctx, config, names)
}

// fetchWithin runs a fetch, and kills it when the mirror exceeds its size.
func (m *Mirror) fetchWithin(ctx context.Context, config, input string, args []string) error {
	ctx, cancel := context.WithCancelCause(ctx)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		m.watchSize(ctx, cancel)
	}()
	defer func() { cancel(nil); <-watching }()
	_, err := m.store.run(ctx, m.src, config, strings.NewReader(input), maxOutput, args...)
	if err == nil {
		err = m.checkSize()
	}
	if errors.Is(err, fault.ErrTooLarge) {
		err = errors.Join(err, os.RemoveAll(m.dir))
	}
	return err
}

// sizeEvery is how often the size of a mirror is measured while it is fetched.
const sizeEvery = 250 * time.Millisecond

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

func (m *Mirror) checkSize() error {
	if n := diskUsage(m.dir); n > m.store.MirrorBytes {
		return fmt.Errorf("mirror of %s: %w: more than %d bytes", m.src.uri, fault.ErrTooLarge, m.store.MirrorBytes)
	}
	return nil
}

// maxPacks is how many packs a mirror may have before it is fetched again, because each
// fetch adds one and nothing of them is removed.
const maxPacks = 50

// prepare makes the bare repository, unless it exists with this object format.
func (m *Mirror) prepare(ctx context.Context, config, format string, history bool) error {
	if _, err := os.Stat(filepath.Join(m.dir, "HEAD")); err == nil {
		out, err := m.store.run(ctx, m.src, config, nil, maxOutput, "--git-dir="+m.dir, "rev-parse", "--show-object-format")
		if err != nil || strings.TrimSpace(string(out)) != format {
			return errors.Join(errUnusable, err)
		}
		packs, err := filepath.Glob(filepath.Join(m.dir, "objects", "pack", "*.pack"))
		if err != nil || !history && len(packs) > maxPacks {
			return errors.Join(errUnusable, err)
		}
		return m.removeLocks()
	}
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	_, err := m.store.run(ctx, m.src, config, nil, maxOutput, "init", "--quiet", "--bare", "--template=", "--object-format="+format, "--", m.dir)
	return err
}

// removeLocks removes the locks and partial packs that a killed git has left. No other
// process uses the folder, because its owner locks the data folder.
func (m *Mirror) removeLocks() error {
	for _, pattern := range []string{"*.lock", "refs/*/*.lock", "objects/pack/tmp_*", "objects/pack/.tmp-*"} {
		files, err := filepath.Glob(filepath.Join(m.dir, pattern))
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

// dropOthers removes the branches that are not wanted any more, because a branch named a
// and one named a/b cannot exist side by side.
func (m *Mirror) dropOthers(ctx context.Context, config string, names []string) error {
	out, err := m.store.run(ctx, m.src, config, nil, maxRefBytes, "--git-dir="+m.dir, "for-each-ref", "--format=%(refname)")
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	var commands strings.Builder
	for ref := range strings.Lines(string(out)) {
		ref = strings.TrimSuffix(ref, "\n")
		if !slices.ContainsFunc(names, func(name string) bool { return local(name) == ref }) {
			fmt.Fprintf(&commands, "delete %s\n", ref)
		}
	}
	if commands.Len() == 0 {
		return nil
	}
	_, err = m.store.run(ctx, m.src, config, strings.NewReader(commands.String()), maxOutput, "--git-dir="+m.dir, "update-ref", "--stdin")
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	return nil
}

// branches returns the commits of the branches that were fetched.
func (m *Mirror) branches(ctx context.Context, config string, names []string) ([]Branch, error) {
	out, err := m.store.run(ctx, m.src, config, nil, maxRefBytes, "--git-dir="+m.dir, "for-each-ref", "--format=%(objecttype) %(objectname) %(committerdate:unix) %(refname)")
	if err != nil {
		return nil, err
	}
	at := map[string]Branch{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 4 && f[0] == "commit" {
			seconds, _ := strconv.ParseInt(f[2], 10, 64) // a time that cannot be read is 1970
			at[f[3]] = Branch{Commit: f[1], Time: time.Unix(seconds, 0).UTC()}
		}
	}
	var found []Branch
	for _, name := range names {
		branch, ok := at[local(name)]
		if !ok {
			return nil, fmt.Errorf("branch %q of %s is not a commit: %w", name, m.src.uri, fault.ErrCorrupt)
		}
		branch.Name = name
		found = append(found, branch)
	}
	return found, nil
}

// touch marks the mirror as used now.
func (m *Mirror) touch() error {
	now := time.Now()
	if err := os.Chtimes(m.dir, now, now); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	return nil
}
