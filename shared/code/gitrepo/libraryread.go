package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"leasehold/shared/fault"
)

// maxTreeDepth is how deep folders of a repository may be nested.
const maxTreeDepth = 1000

// readObject returns the kind and the content of an object.
func (r repository) readObject(hash plumbing.Hash) (plumbing.ObjectType, []byte, error) {
	size, err := r.EncodedObjectSize(hash)
	switch {
	case errors.Is(err, plumbing.ErrObjectNotFound):
		return 0, nil, fmt.Errorf("object %s: %w: it is missing in the repository", hash, fault.ErrCorrupt)
	case err == nil && size > maxObject:
		return 0, nil, tooLarge("object "+hash.String(), size)
	}
	var o plumbing.EncodedObject
	var in io.ReadCloser
	if err == nil {
		o, err = r.EncodedObject(plumbing.AnyObject, hash)
	}
	if err == nil {
		in, err = o.Reader()
	}
	if err != nil {
		return 0, nil, fmt.Errorf("object %s: %w: %w", hash, fault.ErrCorrupt, err)
	}
	defer in.Close()
	content := make([]byte, o.Size())
	if _, err := io.ReadFull(in, content); err != nil {
		return 0, nil, fmt.Errorf("object %s: %w: %w", hash, fault.ErrCorrupt, err)
	}
	return o.Type(), content, nil
}

// readKind returns the content of an object.
func (r repository) readKind(kind plumbing.ObjectType, hash plumbing.Hash) ([]byte, error) {
	got, content, err := r.readObject(hash)
	if err == nil && got != kind {
		err = fmt.Errorf("object %s: %w: it is a %s, want a %s", hash, fault.ErrCorrupt, got, kind)
	}
	return content, err
}

func tooLarge(what string, size int64) error {
	return fmt.Errorf("%s: %w: %d bytes, more than %d without the git command: install git", what, fault.ErrTooLarge, size, maxObject)
}

// commit is what is read of a commit.
type commit struct {
	tree    plumbing.Hash
	parents []plumbing.Hash
	at      int64 // when it was committed, in seconds since 1970; 0 if unreadable
}

// readCommit reads the needed lines of a commit's header. An unreadable time becomes 1970. After an
// error the commit is zero.
func (r repository) readCommit(hash plumbing.Hash) (c commit, err error) {
	content, err := r.readKind(plumbing.CommitObject, hash)
	header, _, _ := bytes.Cut(content, []byte("\n\n"))
	for line := range strings.Lines(string(header)) {
		words := strings.Fields(line)
		switch {
		case len(words) == 2 && words[0] == "tree":
			c.tree = plumbing.NewHash(words[1])
		case len(words) == 2 && words[0] == "parent":
			c.parents = append(c.parents, plumbing.NewHash(words[1]))
		case len(words) > 3 && words[0] == "committer":
			c.at, _ = strconv.ParseInt(words[len(words)-2], 10, 64)
		}
	}
	return c, err
}

// A treeEntry is one entry of a tree.
type treeEntry struct {
	mode, name string
	hash       plumbing.Hash
}

// The modes of entries that are not regular files.
const (
	modeTree      = "40000"
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// readTree reads the entries of a tree.
func (r repository) readTree(hash plumbing.Hash) ([]treeEntry, error) {
	content, err := r.readKind(plumbing.TreeObject, hash)
	if err != nil {
		return nil, err
	}
	return parseTreeObject(content)
}

// parseTreeObject reads the entries of a tree: "MODE NAME\0" and the 20 bytes of a hash. Some old
// programs wrote modes with a leading 0, which is removed.
func parseTreeObject(content []byte) (entries []treeEntry, err error) {
	for len(content) > 0 {
		about, rest, ok := bytes.Cut(content, []byte{0})
		mode, name, isEntry := strings.Cut(string(about), " ")
		if !ok || !isEntry || name == "" || len(rest) < len(plumbing.ZeroHash) {
			return nil, fmt.Errorf("not an entry of a tree: %.80q: %w", about, fault.ErrCorrupt)
		}
		e := treeEntry{mode: strings.TrimLeft(mode, "0"), name: name}
		content = rest[copy(e.hash[:], rest):]
		entries = append(entries, e)
	}
	return entries, nil
}

// files lists the files of a commit with go-git; see Mirror.Files.
func (m library) files(ctx context.Context, hash string) (files []File, err error) {
	err = recoverPanics(func() error {
		r := openRepository(m.dir)
		defer r.Close()
		l := listing{repository: r}
		c, err := r.readCommit(plumbing.NewHash(hash))
		if err == nil {
			err = l.addTree(ctx, c.tree, "", 0)
		}
		files = l.files
		return err
	})
	return files, err
}

// listing collects the files of a commit.
type listing struct {
	repository
	files []File
	bytes int // of the paths
}

// addTree adds the files of a tree and of the trees in it. folder is the path of the tree with a
// slash at the end, or "" for the root, whose depth is 0. A missing blob has the size 0; Blobs
// reports it.
func (l *listing) addTree(ctx context.Context, tree plumbing.Hash, folder string, depth int) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	entries, err := l.readTree(tree)
	if err != nil {
		return err
	}
	for _, e := range entries {
		f := File{Path: folder + e.name, OID: e.hash.String()}
		switch e.mode {
		case modeTree:
			if depth == maxTreeDepth {
				return fmt.Errorf("%w: more than %d nested folders in a commit", fault.ErrTooLarge, maxTreeDepth)
			}
			if err := l.addTree(ctx, e.hash, f.Path+"/", depth+1); err != nil {
				return err
			}
			continue
		case modeLink:
			f.Kind = Link
		case modeSubmodule:
			f.Kind = Submodule
		}
		if f.Kind != Submodule {
			f.Size, _ = l.EncodedObjectSize(e.hash) // 0 of a missing or damaged blob, which Blobs reports
		}
		l.files = append(l.files, f)
		l.bytes += len(f.Path)
		if len(l.files) > MaxFiles || l.bytes > maxTreeBytes {
			return fmt.Errorf("%w: more than %d files, or %d bytes of paths, in a commit", fault.ErrTooLarge, MaxFiles, maxTreeBytes)
		}
	}
	return nil
}

// blobs is Mirror.Blobs; a blob at which go-git panics is visited as corrupt.
func (m library) blobs(ctx context.Context, oids []string, maxBytes int64, visit func(oid string, content []byte, err error) error) error {
	r := openRepository(m.dir)
	defer r.Close()
	for _, oid := range oids {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var content []byte
		problem := recoverPanics(func() (err error) {
			content, err = r.readBlob(oid, maxBytes)
			return err
		})
		if err := visit(oid, content, problem); err != nil {
			return err
		}
	}
	return nil
}

// readBlob returns the content of a blob of at most maxBytes bytes, whose hash it checks, because
// go-git does not.
func (r repository) readBlob(oid string, maxBytes int64) ([]byte, error) {
	hash := plumbing.NewHash(oid)
	if size, err := r.EncodedObjectSize(hash); err == nil && size > maxBytes {
		return nil, fmt.Errorf("blob %s: %w: %d bytes, more than %d", oid, fault.ErrTooLarge, size, maxBytes)
	}
	content, err := r.readKind(plumbing.BlobObject, hash)
	if err == nil && !IsBlob(oid, content) {
		err = fmt.Errorf("blob %s: %w: its content is corrupt", oid, fault.ErrCorrupt)
	}
	return content, err
}
