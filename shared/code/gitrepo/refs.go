package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

const (
	maxRefBytes = 64 << 20 // of a list of refs
	maxOutput   = 1 << 20  // of a command that prints a few lines
)

// maxBranches is how many branches of one repository are copied, and how many branches and tags
// Fetch returns.
const maxBranches = 64

const (
	headsPrefix = "refs/heads/"
	headRef     = "HEAD"
	peeled      = "^{}"                 // ends the name of a commit that a tag names, in lists
	detachedRef = "refs/leasehold/head" // a mirror's name for a HEAD that names no branch
)

// remote is the branches and tags of a repository.
type remote struct {
	hash map[string]string // by branch, or ref of a tag; HEAD too, if it names no branch
	main string            // the branch that HEAD names; HEAD if it names a commit; else empty
}

// sourceRef returns the name of a branch's ref at its server. A HEAD that names a commit has no
// branch, and is its own ref.
func (r remote) sourceRef(branch string) string {
	if branch == headRef && r.main == headRef {
		return headRef
	}
	if isTag(branch) {
		return branch
	}
	return headsPrefix + branch
}

// mirrorRef returns the name of a branch's ref in the mirror.
func mirrorRef(branch string) string {
	if branch == headRef {
		return detachedRef
	}
	if isTag(branch) {
		return branch
	}
	return headsPrefix + branch
}

var (
	objectID = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`)
	// A branch has no control characters, spaces or anything that git forbids.
	refName = regexp.MustCompile(`^(HEAD|refs/[^\x00-\x20\x7f~^:?*\[\\]+)$`)
	// The HEAD of another work tree, as git names it in a bundle.
	otherHead = regexp.MustCompile(`^(main-worktree|worktrees/[^/]+)/HEAD$`)
)

// branches lists the branches of the source and, if wanted, its tags. Damage at the server is not fault.ErrCorrupt, because
// Fetch would make the mirror again, which would not help.
func (m command) branches(ctx context.Context, withTags bool) (remote, error) {
	args := []string{"ls-remote", "--quiet", "--symref", "--", m.src.uri, headRef, headsPrefix + "*"}
	if withTags {
		args = append(args, tagsPrefix+"*")
	}
	out, err := m.run(ctx, nil, maxRefBytes, args...)
	if err != nil {
		if errors.Is(err, fault.ErrCorrupt) {
			err = fmt.Errorf("the repository is damaged: %w", errors.New(err.Error()))
		}
		return remote{}, err
	}
	return parseRefs(string(out))
}

// refs lists all refs of the source, as hashes by name.
func (m command) refs(ctx context.Context) (map[string]string, error) {
	out, err := m.run(ctx, nil, maxRefBytes, "ls-remote", "--quiet", "--", m.src.uri)
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

// parseRefs reads the lines of git ls-remote --symref: "ref: NAME\tHEAD" and "HASH\tNAME". Links of
// other refs, such as refs/remotes/origin/HEAD of a clone, are left out, and so are the HEADs of
// other work trees, which a bundle may have.
func parseRefs(text string) (remote, error) {
	refs, target := map[string]string{}, ""
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		value, name, ok := strings.Cut(line, "\t")
		if ok && name != headRef && strings.HasPrefix(value, "ref: ") {
			continue
		}
		if link, isLink := strings.CutPrefix(value, "ref: "); ok && isLink && name == headRef {
			target = link
			continue
		}
		if ok && (otherHead.MatchString(name) || strings.HasSuffix(name, peeled)) {
			continue
		}
		if !ok || !objectID.MatchString(value) || !refName.MatchString(name) {
			return remote{}, fmt.Errorf("not a ref: %.80q: %w", line, fault.ErrInvalid)
		}
		refs[name] = value
	}
	return newRemote(refs, target), nil
}

// newRemote returns the branches and tags among the refs of a repository. target is the ref that HEAD names,
// or "" if it names a commit. If that branch does not exist, and HEAD has a hash, HEAD counts as a
// branch itself. In an empty repository HEAD has no hash, and no branch is the main one.
func newRemote(refs map[string]string, target string) remote {
	r := remote{hash: map[string]string{}}
	for name, hash := range refs {
		if !refName.MatchString(name) {
			continue
		}
		if branch, ok := strings.CutPrefix(name, headsPrefix); ok && !isTag(branch) { // it would have the name of a tag
			r.hash[branch] = hash
		} else if isTag(name) {
			r.hash[name] = hash
		}
	}
	headHash := refs[headRef]
	r.main, _ = strings.CutPrefix(target, headsPrefix)
	if headHash == "" {
		r.main = ""
	} else if r.hash[r.main] == "" {
		r.main = headRef
		r.hash[headRef] = headHash
	}
	return r
}

// chooseBranches returns the branches of r that match at least one of patterns, each once, in
// alphabetical order. The pattern HEAD is the main branch; no patterns mean HEAD. It fails with
// fault.ErrNotFound if r has branches but none matches, because a mistyped name must not have the
// effect that the repository is indexed as empty.
func chooseBranches(r remote, patterns []string) ([]string, error) {
	if len(patterns) == 0 {
		patterns = []string{headRef}
	}
	var names []string
	for _, pattern := range patterns {
		if pattern == headRef {
			if r.main != "" {
				names = append(names, r.main)
			}
			continue
		}
		for name := range r.hash {
			ok, err := path.Match(pattern, name)
			if err != nil {
				return nil, fmt.Errorf("branch %q: %w: want a name or a pattern such as release-*", pattern, fault.ErrInvalid)
			}
			if ok && name != headRef && !isTag(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	switch {
	case len(names) > maxBranches:
		return nil, fmt.Errorf("%w: %d branches, more than %d: select fewer", fault.ErrTooLarge, len(names), maxBranches)
	case len(names) == 0 && len(r.branchNames()) > 0:
		return nil, fmt.Errorf("branch %s: %w; the repository has %s", wording.Or(patterns...), fault.ErrNotFound, r.someBranches())
	}
	return names, nil
}

// someBranches lists the first branches by name for an error, and counts the others.
func (r remote) someBranches() string {
	const listed = 5
	names := r.branchNames()
	if more := len(names) - listed; more > 0 {
		names = append(names[:listed], fmt.Sprintf("%d more", more))
	}
	return wording.And(names...)
}

// branchNames returns the names of the branches, in order.
func (r remote) branchNames() []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(r.hash)), isTag)
}
