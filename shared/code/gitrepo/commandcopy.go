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

// copy copies branches of refs by their names; see engine. names is not empty. With history it
// completes a mirror that has the last commits only. The order matters: branches that are not
// copied are removed before git fetches (dropOthers). The error is errUnusable if the mirror must
// be made again.
func (m command) copy(ctx context.Context, refs remote, names []string, history bool) ([]Branch, error) {
	format := "sha1"
	if len(refs.hash[names[0]]) == 64 {
		format = "sha256"
	}
	if err := m.prepareMirror(ctx, format, history); err != nil {
		return nil, err
	}
	if err := m.dropOthers(ctx, names); err != nil {
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
		fmt.Fprintf(&specs, "+%s:%s\n", refs.sourceRef(name), mirrorRef(name))
	}
	if _, err := m.run(ctx, strings.NewReader(specs.String()), maxOutput, append(args, "--", m.src.uri)...); err != nil {
		return nil, err
	}
	names, err := m.peelTags(ctx, names)
	if err != nil {
		return nil, err
	}
	return m.readBranches(ctx, names)
}

// prepareMirror makes the bare repository, unless it exists. The error is errUnusable if it exists
// with another object format, is damaged, or has too many packs for a mirror with or without
// history. It removes the marker of the library, because git may copy objects that are too large
// for it.
func (m command) prepareMirror(ctx context.Context, format string, history bool) error {
	if _, err := os.Stat(filepath.Join(m.dir, "HEAD")); err == nil {
		out, err := m.run(ctx, nil, maxOutput, "--git-dir="+m.dir, "rev-parse", "--show-object-format")
		if err != nil || strings.TrimSpace(string(out)) != format {
			return errors.Join(errUnusable, err)
		}
		if err := m.checkPacks(history); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(m.dir, madeBy)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
		}
		return m.removeLocks()
	}
	if err := os.RemoveAll(m.dir); err != nil {
		return fmt.Errorf("mirror %s: %w: %w", m.id, fault.ErrFolder, err)
	}
	_, err := m.run(ctx, nil, maxOutput, "init", "--quiet", "--bare", "--template=", "--object-format="+format, "--", m.dir)
	return err
}

// dropOthers removes the mirror's branches that are not in names, because a branch named a and
// one named a/b cannot exist side by side. The error is errUnusable, because the mirror is
// damaged if git cannot list or remove its branches.
func (m command) dropOthers(ctx context.Context, names []string) error {
	out, err := m.run(ctx, nil, maxRefBytes, "--git-dir="+m.dir, "for-each-ref", "--format=%(refname)")
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	var commands strings.Builder
	for ref := range strings.Lines(string(out)) {
		ref = strings.TrimSuffix(ref, "\n")
		if !slices.ContainsFunc(names, func(name string) bool { return mirrorRef(name) == ref }) {
			fmt.Fprintf(&commands, "delete %s\n", ref)
		}
	}
	if commands.Len() == 0 {
		return nil
	}
	_, err = m.run(ctx, strings.NewReader(commands.String()), maxOutput, "--git-dir="+m.dir, "update-ref", "--stdin")
	if err != nil {
		return errors.Join(errUnusable, err)
	}
	return nil
}

// readBranches returns the branches with these names as the mirror has them.
func (m command) readBranches(ctx context.Context, names []string) ([]Branch, error) {
	out, err := m.run(ctx, nil, maxRefBytes, "--git-dir="+m.dir, "for-each-ref", "--format=%(objecttype) %(objectname) %(committerdate:unix) %(refname)")
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
		branch, ok := at[mirrorRef(name)]
		if !ok {
			return nil, fmt.Errorf("branch %q of %s is not a commit: %w", name, m.src.uri, fault.ErrCorrupt)
		}
		branch.Name = name
		found = append(found, branch)
	}
	return found, nil
}
