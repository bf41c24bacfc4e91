package cmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/fault"
)

// clipFiles returns the names of the recordings in a folder; at least one.
func clipFiles(folder string) ([]string, error) {
	files, err := clips.Files(folder)
	if of := (*fs.PathError)(nil); errors.As(err, &of) {
		err = of.Err // the folder is named below
	}
	if err == nil && len(files) == 0 {
		err = errors.New("no recordings in the folder")
	}
	if err != nil {
		return nil, fmt.Errorf("clips %s: %w: %w", folder, err, fault.ErrNotFound)
	}
	return files, nil
}

// eachClip calls use with each recording of a folder, in the order of their names; its id is the name of the
// file without the extension. It reports recordings that cannot be searched for to standard error and skips
// them. It fails with fault.ErrNotFound if none can be used. An error of use ends it.
func (a *app) eachClip(ctx context.Context, folder string, read func(done, all int), use func(clips.Clip) error) error {
	files, err := clipFiles(folder)
	if err != nil {
		return err
	}
	usable := false
	for i, name := range files {
		read(i, len(files))
		clip, err := loadClip(ctx, filepath.Join(folder, name))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(&a.log, "skipping clip %s: %v\n", filepath.Join(folder, name), err)
			continue
		}
		if err := use(clip); err != nil {
			return err
		}
		usable = true
	}
	if !usable {
		return fmt.Errorf("clips %s: no recording in it can be used: %w", folder, fault.ErrNotFound)
	}
	return nil
}

// loadClip loads a clip and checks that it can be searched for. With an error, the clip must not be used.
func loadClip(ctx context.Context, path string) (clips.Clip, error) {
	samples, err := clips.Load(ctx, path, exact.MaxClip)
	if err == nil {
		err = exact.Check(samples)
	}
	name := filepath.Base(path)
	return clips.Clip{ID: strings.TrimSuffix(name, filepath.Ext(name)), Samples: samples}, err
}
