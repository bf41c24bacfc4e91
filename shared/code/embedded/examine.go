package embedded

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"leasehold/shared/code/segment"
	"leasehold/shared/process/platform"
)

// Examine reads every file of the index in dir as a whole, and returns a line for each that is damaged, with the file's
// name; LackingIn names those that are missing. It changes nothing, and another process may use the index. A damaged
// segment that was merged into another one is left out, because the next start removes it. A folder that does not
// exist has no damage. It fails with the cause of ctx.
func Examine(ctx context.Context, dir string) (damage []string, err error) {
	generations, err := platform.Glob(filepath.Join(dir, "repositories"), "*"+generationExtension)
	if err != nil {
		return nil, err
	}
	for _, path := range generations {
		if line := damageOf(examineGeneration(path)); line != "" {
			damage = append(damage, line)
		}
	}
	broken, err := examineSegments(ctx, filepath.Join(dir, "segments"))
	return append(damage, broken...), err
}

// examineSegments returns a line for each damaged segment that no intact one replaces.
func examineSegments(ctx context.Context, dir string) (damage []string, err error) {
	paths, err := platform.Glob(dir, "*"+segment.Extension)
	if err != nil {
		return nil, err
	}
	broken, replaced := map[string]string{}, map[string]bool{}
	for _, path := range paths {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		replaces, err := examineSegment(path)
		if line := damageOf(err); line != "" {
			broken[path] = line
		}
		for _, hash := range replaces {
			replaced[hash] = true
		}
	}
	for path, line := range broken {
		if !replaced[segment.Hash(path)] {
			damage = append(damage, line)
		}
	}
	slices.Sort(damage)
	return damage, nil
}

// examineSegment reads a segment as a whole, and returns the hashes of those that it replaces.
func examineSegment(path string) (replaces []string, err error) {
	s, err := segment.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	return s.Replaces(), s.Verify()
}

// examineGeneration reads a generation as a whole.
func examineGeneration(path string) error {
	g, err := openGeneration(path)
	if err != nil {
		return err
	}
	return g.close()
}

// damageOf returns the text of the error of reading a file; "" if it is nil or if the file was removed, because
// the writer of the index does that after a merge.
func damageOf(err error) string {
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return err.Error()
}
