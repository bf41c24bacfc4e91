package cmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"leasehold/shared/audio"
	"leasehold/shared/audio/exact"
	"leasehold/shared/fault"
)

// newAudio is `leasehold audio`: finding clips without a coordinator.
func (a *app) newAudio() *cobra.Command {
	c := &cobra.Command{
		Use:   "audio",
		Short: "find clips in files here and now, and measure how well",
	}
	c.AddCommand(a.newAudioMatch(), a.newAudioExplain(), a.newAudioBench())
	return c
}

// eachClip loads the recordings of a folder, named by their files without their
// endings, one after the other. One that cannot be looked for is told, and left out.
func (a *app) eachClip(ctx context.Context, folder string, use func(audio.Clip) error) error {
	files, err := audio.Files(folder)
	if err != nil {
		return fmt.Errorf("clips: %w: %w", err, fault.ErrNotFound)
	}
	some := false
	for _, name := range files {
		clip, err := loadClip(ctx, filepath.Join(folder, name))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil {
			fmt.Fprintf(a.err, "%s is not looked for: %v\n", filepath.Join(folder, name), err)
			continue
		}
		if err := use(clip); err != nil {
			return err
		}
		some = true
	}
	if !some {
		return fmt.Errorf("clips %s: no recording in it can be looked for: %w", folder, fault.ErrNotFound)
	}
	return nil
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
