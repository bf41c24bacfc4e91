package cmd

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"leasehold/shared/clips"
	"leasehold/shared/clips/cliplint"
	"leasehold/shared/clips/exact"
	"leasehold/shared/fault"
)

// newClipsCheck is `leasehold clips check`.
func (a *app) newClipsCheck() *cobra.Command {
	c := &cobra.Command{
		Use:   "check FOLDER",
		Short: "find faults in a folder of clips, with advice",
		Long: `List the clips of a folder that a search would not find (unreadable, silent, too
short, too long), would not find reliably (noise-like, steady), or would find
twice (duplicates, and clips contained in others), with advice. Each clip is
also searched for in silence, speech and music that is 6 dB quieter; a clip that
is missed there is listed with the reason. The exit code is 1 if there are any.`,
		Args: cobra.ExactArgs(1),
	}
	o := bindOutput(c)
	c.RunE = func(c *cobra.Command, args []string) error { return a.checkClips(c.Context(), o, args[0]) }
	return c
}

// checkClips prints the faults of the clips of a folder. It returns errReported if there are any, with
// fault.ErrInvalid, so that the command exits with 1.
func (a *app) checkClips(ctx context.Context, o *output, folder string) error {
	files, err := clipFiles(folder)
	if err != nil {
		return err
	}
	var list []cliplint.Clip
	for _, name := range files {
		list = append(list, cliplint.Clip{Name: name, Load: func(ctx context.Context) ([]float32, error) {
			wave, err := clips.Load(ctx, filepath.Join(folder, name), exact.MaxClip)
			if refused := (*fs.PathError)(nil); errors.As(err, &refused) {
				err = unreadableClip{refused.Err}
			}
			return wave, err
		}})
	}
	notices, err := cliplint.CheckPlayed(ctx, list)
	if err != nil {
		return err
	}
	if err := show(a, o, noticeRows(notices), "no faults in "+count(len(list), "clip")); err != nil {
		return err
	}
	if len(notices) > 0 {
		return errors.Join(errReported, fault.ErrInvalid)
	}
	return nil
}

// unreadableClip is an error of the system about the file of a clip, such as a missing permission. It
// counts as fault.ErrInvalid, a fault of the clip, so that the other clips are still checked.
type unreadableClip struct{ error }

func (unreadableClip) Is(kind error) bool { return kind == fault.ErrInvalid }

// noticeRow is a fault of a clip as a row (docs/json.md).
type noticeRow struct {
	Clip   string         `json:"clip"`
	Fault  cliplint.Fault `json:"fault"`
	Why    string         `json:"why"`
	Advice string         `json:"advice"`
	Other  string         `json:"other,omitempty"`
	Offset float64        `json:"offset_s"`
}

func (r noticeRow) columns() []column {
	return []column{
		{head: "clip", cell: r.Clip, fit: cut}, {head: "fault", cell: string(r.Fault)}, {head: "why", cell: r.Why, fit: wrap}, {head: "what to do", cell: r.Advice, fit: wrap},
	}
}

func noticeRows(notices []cliplint.Notice) []noticeRow {
	return rowsOf(notices, func(n cliplint.Notice) noticeRow {
		return noticeRow{Clip: n.Clip, Fault: n.Fault, Why: n.Why, Advice: n.Advice, Other: n.Other, Offset: n.OffsetS}
	})
}
