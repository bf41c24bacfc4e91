package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"leasehold/shared/audio"
	"leasehold/shared/audio/exact"
	"leasehold/shared/fault"
)

// loadClips loads the recordings of a folder, named by their files without their
// endings. One that cannot be looked for is told, and left out.
func (a *app) loadClips(ctx context.Context, folder string) ([]audio.Clip, error) {
	files, err := audio.Files(folder)
	if err != nil {
		return nil, fmt.Errorf("clips: %w: %w", err, fault.ErrNotFound)
	}
	var clips []audio.Clip
	for _, name := range files {
		clip, err := loadClip(ctx, filepath.Join(folder, name))
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(a.err, "%s is not looked for: %v\n", filepath.Join(folder, name), err)
			continue
		}
		clips = append(clips, clip)
	}
	if len(clips) == 0 {
		return nil, fmt.Errorf("clips %s: no recording in it can be looked for: %w", folder, fault.ErrNotFound)
	}
	return clips, nil
}

// loadClip loads one.
func loadClip(ctx context.Context, path string) (audio.Clip, error) {
	samples, err := audio.Load(ctx, path, exact.MaxClip)
	if err == nil {
		err = exact.Check(samples)
	}
	name := filepath.Base(path)
	return audio.Clip{ID: strings.TrimSuffix(name, filepath.Ext(name)), Samples: samples}, err
}
