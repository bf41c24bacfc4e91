package gitrepo

import (
	"bufio"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"
	gitconfig "github.com/go-git/go-git/v5/plumbing/format/config"

	"leasehold/shared/fault"
)

// openFolder opens the repository of the source, a folder of this machine.
func (m library) openFolder() (repository, error) {
	dir, err := gitFolder(m.src.uri)
	if err != nil {
		return repository{}, err
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return repository{}, fmt.Errorf("%s is not a git repository: %w", m.src.uri, fault.ErrNotFound)
		}
	}
	if info, err := os.Stat(filepath.Join(dir, "packed-refs")); err == nil && info.Size() > maxRefBytes {
		return repository{}, fmt.Errorf("refs of %s: %w: more than %d bytes", m.src.uri, fault.ErrTooLarge, maxRefBytes)
	}
	if info, err := os.Stat(filepath.Join(dir, "objects", "info", "alternates")); err == nil && info.Size() > 0 {
		return repository{}, needsGit("%s, which has objects in another repository,", m.src.uri)
	}
	config, err := os.Open(filepath.Join(dir, "config"))
	if errors.Is(err, os.ErrNotExist) {
		return openRepository(dir), nil
	}
	if err != nil {
		return repository{}, fmt.Errorf("repository %s: %w: %w", m.src.uri, fault.ErrForbidden, err)
	}
	defer config.Close()
	if err := checkExtensions(config); err != nil {
		return repository{}, fmt.Errorf("repository %s: %w", m.src.uri, err)
	}
	return openRepository(dir), nil
}

// gitFolder returns the folder with the objects and refs of a repository at path: path itself if it
// is bare, otherwise .git in it. The error is errNeedsGit for a bundle, which is a file, and for a
// work tree, whose .git is a file.
func gitFolder(path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", fmt.Errorf("repository %s: %w: %w", path, fault.ErrNotFound, err)
	}
	if !info.IsDir() {
		return "", needsGit("the bundle %s", path)
	}
	inner := filepath.Join(path, ".git")
	switch info, err := os.Lstat(inner); {
	case errors.Is(err, os.ErrNotExist):
		return path, nil // it is bare
	case err != nil:
		return "", fmt.Errorf("repository %s: %w: %w", path, fault.ErrForbidden, err)
	case !info.IsDir():
		return "", needsGit("%s, a work tree of a repository elsewhere,", path)
	}
	return inner, nil
}

// checkExtensions returns errNeedsGit if the config of a repository names a format that go-git
// does not read, or cannot be read itself.
func checkExtensions(config io.Reader) error {
	c := gitconfig.New()
	if err := gitconfig.NewDecoder(io.LimitReader(config, maxOutput)).Decode(c); err != nil {
		return needsGit("its config (%v)", err)
	}
	for _, o := range c.Section("extensions").Options {
		switch key, value := strings.ToLower(o.Key), strings.ToLower(o.Value); {
		case key == "noop" || key == "preciousobjects" || key == "worktreeconfig":
		case key == "objectformat" && value == "sha1" || key == "refstorage" && value == "files":
		default:
			return needsGit("the format %.40s %.40q", key, value)
		}
	}
	return nil
}

// listFolderRefs is listRefs for a folder. It adds the hash of HEAD if HEAD names a branch that
// exists.
func (m library) listFolderRefs() (refs map[string]string, target string, err error) {
	r, err := m.openFolder()
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	all, err := r.IterReferences()
	if err != nil {
		return nil, "", fmt.Errorf("refs of %s: %w: %w", m.src.uri, fault.ErrInvalid, err)
	}
	refs = map[string]string{}
	err = all.ForEach(func(ref *plumbing.Reference) error {
		if ref.Type() == plumbing.HashReference {
			refs[string(ref.Name())] = ref.Hash().String()
		} else if ref.Name() == plumbing.HEAD {
			target = string(ref.Target())
		}
		return nil
	})
	if hash := refs[target]; hash != "" {
		refs[headRef] = hash
	}
	return refs, target, err
}

// copyFolder copies the wanted commits from a folder: all their objects that the mirror lacks. It
// visits commits from a list instead of recursively, because a history may be long. It notes the
// commits without parents after the pack is there.
func (m library) copyFolder(ctx context.Context, c *copying) error {
	r, err := m.openFolder()
	if err != nil {
		return err
	}
	defer r.Close()
	w := walk{repository: r, copying: c, seen: map[plumbing.Hash]bool{}}
	if w.sourceShallow, err = r.Shallow(); err != nil {
		return fmt.Errorf("repository %s: %w: %w", m.src.uri, fault.ErrInvalid, err)
	}
	w.commits = slices.Clone(c.wants)
	for len(w.commits) > 0 {
		next := w.commits[len(w.commits)-1]
		w.commits = w.commits[:len(w.commits)-1]
		if err := w.addCommit(ctx, next); err != nil {
			return err
		}
	}
	if err := c.addPack(ctx, func(out *os.File) error { return w.writePack(ctx, out) }); err != nil {
		return err
	}
	return c.markShallow(nil)
}

// markShallow writes c.shallow, without the commits of remove, whose parents were copied now, to
// the mirror.
func (c *copying) markShallow(remove []plumbing.Hash) error {
	c.shallow = slices.DeleteFunc(c.shallow, func(h plumbing.Hash) bool { return slices.Contains(remove, h) })
	plumbing.HashesSort(c.shallow)
	if err := c.into.SetShallow(slices.Compact(c.shallow)); err != nil {
		return fmt.Errorf("mirror: %w: %w", fault.ErrFolder, err)
	}
	return nil
}

// walk finds the objects to copy from a repository: those that the mirror lacks, each once.
type walk struct {
	repository
	*copying
	sourceShallow []plumbing.Hash // commits of the repository without their parents
	commits       []plumbing.Hash // to visit
	seen          map[plumbing.Hash]bool
	objects       []plumbing.Hash // to copy, in the order of seen
}

// addObject adds an object to copy. It returns false if the object was added before or the mirror
// has it.
func (w *walk) addObject(hash plumbing.Hash) (bool, error) {
	if w.seen[hash] || w.into.HasEncodedObject(hash) == nil {
		return false, nil
	}
	w.seen[hash] = true
	w.objects = append(w.objects, hash)
	if len(w.objects) > maxObjects {
		return false, fmt.Errorf("%w: more than %d objects without the git command: install git", fault.ErrTooLarge, maxObjects)
	}
	return true, nil
}

// addCommit adds a commit and its files, unless the mirror or the walk has it. Of a tag it adds what
// that names. With w.history, and
// if the source has its parents, these are visited later; otherwise the commit is noted as one
// without parents.
func (w *walk) addCommit(ctx context.Context, hash plumbing.Hash) error {
	if w.seen[hash] || w.into.HasEncodedObject(hash) == nil {
		return nil
	}
	kind, content, err := w.readObject(hash)
	switch {
	case err != nil:
		return err
	case kind == plumbing.TreeObject: // that a tag names; whole, because commits may have it too
		return w.addTree(ctx, hash, 0)
	case kind == plumbing.TagObject:
		w.commits = append(w.commits, tagTarget(content))
	}
	if _, err := w.addObject(hash); err != nil || kind != plumbing.CommitObject {
		return err
	}
	c, err := w.readCommit(hash)
	if err != nil {
		return err
	}
	switch {
	case slices.Contains(w.sourceShallow, hash) || !w.history && len(c.parents) > 0:
		w.shallow = append(w.shallow, hash)
	case w.history:
		w.commits = append(w.commits, c.parents...)
	}
	return w.addTree(ctx, c.tree, 0)
}

// addTree adds a tree and all that it has, unless the mirror or the walk has the tree, because then
// it has all below it. Submodules are commits of another repository, so they are left out.
func (w *walk) addTree(ctx context.Context, hash plumbing.Hash, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	isNew, err := w.addObject(hash)
	if err != nil || !isNew {
		return err
	}
	if depth > maxTreeDepth {
		return fmt.Errorf("%w: more than %d nested folders in a commit", fault.ErrTooLarge, maxTreeDepth)
	}
	entries, err := w.readTree(hash)
	if err != nil {
		return err
	}
	for _, e := range entries {
		switch e.mode {
		case modeSubmodule:
		case modeTree:
			err = w.addTree(ctx, e.hash, depth+1)
		default:
			_, err = w.addObject(e.hash)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writePack writes a pack of the objects: a header with their number, the objects, and the SHA-1 of
// all that.
func (w *walk) writePack(ctx context.Context, file *os.File) error {
	sum := sha1.New()
	out := bufio.NewWriterSize(io.MultiWriter(&boundedWriter{file, w.packBytes}, sum), 64<<10)
	header := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), uint32(len(w.objects)))
	if _, err := out.Write(header); err != nil {
		return err
	}
	deflate := newDeflater(out)
	for _, hash := range w.objects {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := w.writeObject(out, deflate, hash); err != nil {
			return err
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err := file.Write(sum.Sum(nil))
	return err
}
