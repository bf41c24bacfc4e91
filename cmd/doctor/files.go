package doctor

import (
	"context"
	"path/filepath"

	"leasehold/shared/clips/fingerprint"
	"leasehold/shared/code/gitrepo"
	"leasehold/shared/fetch"
	"leasehold/shared/process/platform"
)

// checkFiles checks the code index and, with Folders.Deep, reads all files but those of the database and the journal.
func checkFiles(ctx context.Context, f Folders) []Finding {
	if !f.Deep {
		return []Finding{checkCodeIndex(f.Data)}
	}
	found := []Finding{readCodeIndex(ctx, f.Data)}
	for _, k := range copies {
		found = append(found, k.read(ctx, f.Data))
	}
	return found
}

// A copyKind is a kind of files that are fetched or computed again if they are missing. A damaged one is a warning.
type copyKind struct {
	check, folder, advice string
	examine               func(ctx context.Context, dir string) (damage []string, err error)
}

var copies = []copyKind{
	{"fetched media", "cache", "delete these files while nothing runs: they are fetched again", fetch.ExamineCache},
	{"fingerprints", filepath.Join("cache", "episodes"), "delete these files while nothing runs: they are computed again", fingerprint.Examine},
	{"mirrors", "mirrors", "delete the folders NAME.git of these files while nothing runs: visits copy the repositories again", gitrepo.ExamineMirrors},
}

// read reads the files of a data folder, and of the folders that managers and workers have in it.
func (k copyKind) read(ctx context.Context, data string) Finding {
	f := Finding{Check: k.check, State: OK, What: undamaged}
	dirs := []string{data}
	for _, pattern := range []string{"manager-*", "worker-*"} {
		more, _ := platform.Glob(data, pattern) // the pattern is valid
		dirs = append(dirs, more...)
	}
	var damage []string
	for _, dir := range dirs {
		lines, err := k.examine(ctx, filepath.Join(dir, k.folder))
		if err != nil {
			f.State, f.What, f.Advice = Warn, err.Error(), "repeat this"
			return f
		}
		damage = append(damage, lines...)
	}
	if len(damage) > 0 {
		f.State, f.What, f.Advice = Warn, shorten(damage), k.advice
	}
	return f
}
