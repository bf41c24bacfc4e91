package cmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"leasehold/models"
	"leasehold/shared/clips"
	"leasehold/shared/clips/index"
	"leasehold/shared/clips/match"
	"leasehold/shared/clips/picture"
	"leasehold/shared/clips/warp"
	"leasehold/shared/fault"
	"leasehold/shared/process/wording"
)

// explainOptions are the flags of `leasehold clips explain`.
type explainOptions struct {
	at          string
	file        string
	threshold   float64
	minCoverage float64
}

// newClipsExplain is `leasehold clips explain`.
func (a *app) newClipsExplain() *cobra.Command {
	var o explainOptions
	c := &cobra.Command{
		Use:   "explain FILE CLIP --at TIME",
		Short: "explain why a clip is or is not found at a time",
		Long: `Search a recording for one clip, as "clips match" does, and print step by step
why it is or is not found within a second of TIME. With --file, also draw the
spectrograms of both, the landmarks that they share, and how well each block of
the clip correlates.`,
		Args: cobra.ExactArgs(2),
	}
	c.Flags().StringVar(&o.at, "at", "", "where the whole clip would begin: seconds, m:ss or h:mm:ss")
	c.Flags().StringVarP(&o.file, "file", "o", "", "draw into this file: .svg or .png")
	c.Flags().Float64Var(&o.threshold, "threshold", match.DefaultThreshold, "score from which a clip counts as found, above 0 and below 1")
	bindMinCoverage(c, &o.minCoverage)
	c.RunE = func(c *cobra.Command, args []string) error {
		if o.at == "" {
			return usagef("--at is missing: the time at which the whole clip would begin, such as --at 1:23.5")
		}
		at, err := parseClock(o.at)
		if err != nil {
			return usagef("--at must be a time such as 83.5, 1:23.5 or 0:01:23; got %q", o.at)
		}
		if format := o.drawing(); o.file != "" && format == "" {
			return usagef("-o must end in %s; got %q", wording.Or(".svg", ".png"), o.file)
		}
		if err := checkThreshold(o.threshold); err != nil {
			return err
		}
		if err := checkMinCoverage(o.minCoverage); err != nil {
			return err
		}
		return a.explain(c.Context(), o, at, args[0], args[1])
	}
	return c
}

// drawing returns the format of the picture by the ending of --file. It is empty if pictures have
// no format of that ending, or if --file is not set.
func (o explainOptions) drawing() string {
	ending := strings.ToLower(strings.TrimPrefix(filepath.Ext(o.file), "."))
	for _, f := range picture.Formats {
		if ending == f {
			return f
		}
	}
	return ""
}

// parseClock reads seconds, m:ss or h:mm:ss; each part may have a fraction and be up to 1,000,000. The
// comparison is negated, because NaN must not pass.
func parseClock(s string) (time.Duration, error) {
	total := 0.0
	parts := strings.Split(s, ":")
	for _, p := range parts {
		v, err := strconv.ParseFloat(p, 64)
		if err != nil || !(v >= 0) || len(parts) > 3 || v > 1e6 {
			return 0, fmt.Errorf("time %q: %w", s, fault.ErrUsage)
		}
		total = total*60 + v
	}
	return time.Duration(total * float64(time.Second)), nil
}

// explain prints why the clip is found around at in the recording at path, or is not, and draws it if --file
// is set. A recording that breaks off behind at is explained up to there, and is an error too.
func (a *app) explain(ctx context.Context, o explainOptions, at time.Duration, path, clipPath string) error {
	clip, err := loadClip(ctx, clipPath)
	if err != nil {
		return fmt.Errorf("%s: %w", clipPath, err)
	}
	var b index.Builder
	if err := b.Add(clip.ID, clip.Samples); err != nil {
		return err
	}
	clipIndex, err := b.Build()
	if err != nil {
		return err
	}
	episode, err := clips.Open(ctx, path)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	explanation, err := match.Explain(ctx, clipIndex, episode, int(at.Seconds()*clips.RateHz), match.Options{Threshold: o.threshold, MinCoverage: o.minCoverage})
	if err = errors.Join(err, episode.Close()); err != nil {
		err = fmt.Errorf("%s: %w", path, err)
	}
	if len(explanation.Reasons) == 0 {
		return err
	}
	place := models.Seconds(float64(explanation.Result.Begin) / clips.RateHz)
	title := fmt.Sprintf("%s in %s at %s", clip.ID, filepath.Base(path), place.Clock())
	for _, line := range append([]string{title}, explanation.Lines()...) {
		if _, err := sayf(a.out, "%s\n", line); err != nil {
			return err
		}
	}
	if o.file == "" {
		return err
	}
	speed := int(explanation.Speed*1000+.5) - 1000 // in thousandths above the own speed, as Play takes it
	return errors.Join(err, drawFile(o.file, o.drawing(), picture.View{Title: title, Clip: warp.Play(clipIndex.Wave(0), speed), Explanation: explanation}))
}

// drawFile draws into a file, which is replaced if it exists.
func drawFile(path, format string, v picture.View) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("%w: %w", fault.ErrInvalid, err)
	}
	return errors.Join(picture.Write(f, format, v), f.Close())
}
