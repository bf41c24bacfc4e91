package gitrepo

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"leasehold/shared/fault"
)

// TagPrefix begins the name of a tag in Branch.Name, as in tag/v1.2.
const TagPrefix = "tag/"

// tagsPrefix begins the refs of tags. In the lists of this package a tag has the name of its ref, a
// branch its own.
const tagsPrefix = "refs/tags/"

// maxTags is how many tags of one repository are copied, because the dates that select the newest
// are those of the copies.
const maxTags = 1000

func isTag(name string) bool { return strings.HasPrefix(name, tagsPrefix) }

// chooseTags returns the tags of r that match at least one of patterns, each once, in alphabetical
// order.
func chooseTags(r remote, patterns []string) ([]string, error) {
	var names []string
	for _, pattern := range patterns {
		for name := range r.hash {
			ok, err := path.Match(pattern, strings.TrimPrefix(name, tagsPrefix))
			if err != nil {
				return nil, fmt.Errorf("tag %q: %w: want a name or a pattern such as v*", pattern, fault.ErrInvalid)
			}
			if ok && isTag(name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxTags {
		return nil, fmt.Errorf("%w: %d tags match, more than %d: select fewer", fault.ErrTooLarge, len(names), maxTags)
	}
	return names, nil
}

// newestRefs returns the branches of found as they are, and behind them its newest tags by the dates
// of their commits, named with TagPrefix; at most maxBranches together. It fails with
// fault.ErrInvalid if a branch has the name of a tag.
func newestRefs(found []Branch) ([]Branch, error) {
	var branches, tags []Branch
	for _, b := range found {
		if name, ok := strings.CutPrefix(b.Name, tagsPrefix); ok {
			b.Name = TagPrefix + name
			tags = append(tags, b)
		} else {
			branches = append(branches, b)
		}
	}
	slices.SortStableFunc(tags, func(a, b Branch) int { return b.Time.Compare(a.Time) })
	tags = tags[:min(len(tags), maxBranches-len(branches))]
	for _, t := range tags {
		if slices.ContainsFunc(branches, func(b Branch) bool { return b.Name == t.Name }) {
			return nil, fmt.Errorf("%w: the repository has the branch %s and the tag %s: select one of them", fault.ErrInvalid, t.Name, strings.TrimPrefix(t.Name, TagPrefix))
		}
	}
	return append(branches, tags...), nil
}

// peelTags sets the refs of copied tags to the commits that they name, and returns names without
// tags of something else, such as a tree.
func (m command) peelTags(ctx context.Context, names []string) ([]string, error) {
	first := slices.IndexFunc(names, isTag)
	if first < 0 {
		return names, nil
	}
	var asked, updates strings.Builder
	for _, name := range names[first:] {
		fmt.Fprintf(&asked, "%s^{commit}\n", name)
	}
	out, err := m.run(ctx, strings.NewReader(asked.String()), maxOutput, "--git-dir="+m.dir, "cat-file", "--batch-check=%(objectname)")
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != len(names)-first {
		return nil, fmt.Errorf("tags of %s: %w: git names %d of %d commits", m.src.uri, fault.ErrCorrupt, len(lines), len(names)-first)
	}
	kept := slices.Clone(names[:first])
	for i, name := range names[first:] {
		if objectID.MatchString(lines[i]) { // else it is missing
			kept = append(kept, name)
			fmt.Fprintf(&updates, "update %s %s\n", name, lines[i])
		}
	}
	_, err = m.run(ctx, strings.NewReader(updates.String()), maxOutput, "--git-dir="+m.dir, "update-ref", "--stdin")
	return kept, err
}

// maxPeels is how many tags may name each other before the commit.
const maxPeels = 10

// peelTags returns refs with the commits that the tags of names name, and names without tags of
// something else, such as a tree.
func (r repository) peelTags(refs remote, names []string) (remote, []string, error) {
	refs.hash = maps.Clone(refs.hash)
	var kept []string
	for _, name := range names {
		if isTag(name) {
			hash, err := r.peel(plumbing.NewHash(refs.hash[name]))
			if err != nil {
				return refs, nil, err
			}
			if hash.IsZero() {
				continue
			}
			refs.hash[name] = hash.String()
		}
		kept = append(kept, name)
	}
	return refs, kept, nil
}

// peel returns the commit that an object is or, if it is a tag, names; zero if that is something
// else.
func (r repository) peel(hash plumbing.Hash) (plumbing.Hash, error) {
	for range maxPeels {
		kind, content, err := r.readObject(hash)
		if err != nil || kind == plumbing.CommitObject {
			return hash, err
		}
		if kind != plumbing.TagObject {
			break
		}
		hash = tagTarget(content)
	}
	return plumbing.ZeroHash, nil
}

// tagTarget returns the hash in the first line of a tag, "object HASH"; zero if there is none.
func tagTarget(tag []byte) plumbing.Hash {
	line, _, _ := strings.Cut(string(tag[:min(len(tag), 128)]), "\n")
	hash, _ := strings.CutPrefix(line, "object ")
	return plumbing.NewHash(hash)
}
