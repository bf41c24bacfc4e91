package code

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"leasehold/manager/git"
	"leasehold/models"
	"leasehold/shared/code"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// source is the content of an origin: a repository's mirror, which does not change while it is
// open, or a folder, whose blobs report changes.
type source interface {
	refs() []code.Ref
	files(ctx context.Context, ref code.Ref) ([]entry, error)
	// blobs reads files by their hashes, as gitrepo.Mirror.Blobs does. It may be called
	// concurrently.
	blobs(ctx context.Context, oids []string, most int64, visit func(oid string, content []byte, err error) error) error
	// shared returns the folder and the nonce of the mirror, with which workers on this
	// machine read it; empty if there is none.
	shared() (dir, nonce string)
	close()
}

// An entry is one file of a ref.
type entry struct {
	path string
	oid  code.OID
	size int64
	skip string // the reason why it is not read; empty if it is
}

// Reasons why a file is not read.
const (
	skipLink      = "symbolic link"
	skipSubmodule = "submodule"
)

// gitSource is the mirror of a repository.
type gitSource struct {
	mirror   *gitrepo.Mirror
	branches []code.Ref

	dir, nonce string
}

// needsMirror reports whether a repository is visited by its mirror, because it is read over
// ssh, with a token, from a bundle, or from a work tree whose repository is elsewhere.
func (f *Flow) needsMirror(uri string) bool {
	if filepath.IsAbs(uri) {
		return models.Git.LocalForm(uri) == models.LocalFile || gitrepo.IsWorktree(uri)
	}
	return models.IsSSHURL(uri) || f.Mirrors.HasToken(uri)
}

// mirror returns the mirror of a repository, which the caller closes. It refuses paths that the operator has not
// permitted: a repository outside of the named folders, and a work tree that another origin lists, because its
// .git may name any folder.
func (f *Flow) mirror(o models.Origin) (*gitrepo.Mirror, error) {
	if err := f.Fetch.Trust(o); err != nil {
		return nil, err
	}
	if filepath.IsAbs(o.URI) { // it must be in a folder that the operator named
		if o.Listed && gitrepo.IsWorktree(o.URI) {
			return nil, fmt.Errorf("%s is a work tree of a repository elsewhere: %w: name it with leasehold origin add", o.URI, fault.ErrForbidden)
		}
		folder := o.URI
		if models.Git.LocalForm(folder) == models.LocalFile {
			folder = filepath.Dir(folder)
		}
		root, err := f.Fetch.Folder(folder)
		if err != nil {
			return nil, err
		}
		root.Close() // only the permission was asked for
	}
	return f.Mirrors.Mirror(o.ID, o.URI, !o.Listed)
}

// compareGit compares the refs of a repository, which it reads without copying, with those of an earlier visit.
// The outcome is Uneventful if their digests are equal, otherwise Eventful.
func (f *Flow) compareGit(ctx context.Context, o models.Origin, known models.Known) (models.Outcome, error) {
	m, err := f.mirror(o)
	if err != nil {
		return models.Outcome{}, err
	}
	defer m.Close()
	var refs map[string]string
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		refs, err = m.Refs(ctx)
		return err
	})
	if err != nil {
		return models.Outcome{}, err
	}
	outcome := models.Outcome{Status: models.Eventful, Items: len(refs), Digest: git.Digest(refs)}
	if outcome.Digest == known.Digest {
		outcome.Status = models.Uneventful
	}
	return outcome, nil
}

// openGit copies the wanted branches and tags of a repository, and returns them as a source, which the caller
// closes. A repository without branches has no folder to share. With an error, of mirror, copying or
// sharing, no mirror is left open.
func (f *Flow) openGit(ctx context.Context, o models.Origin) (source, error) {
	m, err := f.mirror(o)
	if err != nil {
		return nil, err
	}
	var found []gitrepo.Branch
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		found, err = m.Fetch(ctx, f.wantedRefs(o))
		return err
	})
	if err != nil {
		m.Close()
		return nil, err
	}
	s := &gitSource{mirror: m}
	if len(found) > 0 {
		if s.dir, s.nonce, err = m.Share(); err != nil {
			m.Close()
			return nil, err
		}
	}
	for _, b := range found {
		s.branches = append(s.branches, code.Ref{Name: b.Name, Commit: b.Commit, Time: b.Time})
	}
	return s, nil
}

func (s *gitSource) refs() []code.Ref            { return s.branches }
func (s *gitSource) shared() (dir, nonce string) { return s.dir, s.nonce }
func (s *gitSource) close()                      { s.mirror.Close() }

// files returns the files of the commit of a ref. Links, submodules and large files have the reason why they are
// not read.
func (s *gitSource) files(ctx context.Context, ref code.Ref) ([]entry, error) {
	found, err := s.mirror.Files(ctx, ref.Commit)
	entries := make([]entry, len(found))
	for i, f := range found {
		entries[i] = entry{path: f.Path, oid: code.OID(f.OID), size: f.Size}
		switch {
		case f.Kind == gitrepo.Link:
			entries[i].skip = skipLink
		case f.Kind == gitrepo.Submodule:
			entries[i].skip = skipSubmodule
		case f.Size > code.MaxBlobBytes:
			entries[i].skip = code.SkipTooLarge
		}
	}
	return entries, err
}

func (s *gitSource) blobs(ctx context.Context, oids []string, most int64, visit func(string, []byte, error) error) error {
	return s.mirror.Blobs(ctx, oids, most, visit)
}

// folderRef is the only ref of a folder without a repository.
func folderRef(at time.Time) code.Ref {
	return code.Ref{Name: "files", Commit: "files", Time: at}
}
