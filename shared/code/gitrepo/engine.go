package gitrepo

import (
	"context"
	"fmt"

	"leasehold/shared/fault"
)

// An engine copies a repository into its mirror and reads the mirror: the git command
// (command), or the library go-git (library) on a machine without git.
type engine interface {
	// begin prepares the calls of branches, refs and copy. The caller calls end after the last
	// of them, unless begin returned an error.
	begin(ctx context.Context) (end func(), err error)
	// branches lists the branches of the source and, if wanted, its tags.
	branches(ctx context.Context, withTags bool) (remote, error)
	// refs lists all refs of the source, by name.
	refs(ctx context.Context) (map[string]string, error)
	// copy copies the branches and tags of refs that names selects, tags last, and returns them
	// without the tags that name no commit.
	copy(ctx context.Context, refs remote, names []string, history bool) ([]Branch, error)
	// files and blobs are Mirror.Files and Mirror.Blobs for ids that are well-formed. They
	// may be called concurrently.
	files(ctx context.Context, commit string) ([]File, error)
	blobs(ctx context.Context, oids []string, maxBytes int64, visit func(oid string, content []byte, err error) error) error
}

// engineOf returns the engine of a mirror.
func (s *Store) engineOf(m *Mirror) engine {
	if s.git == "" {
		return library{m}
	}
	return command{m}
}

// UsesLibrary reports whether repositories are copied by the library go-git, because this
// machine has no git command.
func (s *Store) UsesLibrary() bool { return s.git == "" }

// errNeedsGit is the error of a repository that only the git command copies.
var errNeedsGit = fmt.Errorf("%w: install git on the machine of the manager", fault.ErrNotFound)

// needsGit returns errNeedsGit with the name of the thing that the library cannot copy.
func needsGit(what string, args ...any) error {
	return fmt.Errorf("%s cannot be copied without the git command: %w", fmt.Sprintf(what, args...), errNeedsGit)
}
