package clips

import (
	"context"
	"errors"
	"log/slog"
	"net/url"
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
)

// A feed does not tell that the audio at a URL was replaced. Therefore each visit asks the
// servers of a few episodes for the head of the audio. The limits are low, because servers
// of podcasts have many visitors, and a feed is visited again after 15 minutes.
const (
	audioChecks    = 5                // episodes of one visit
	audioCheckTime = 10 * time.Second // for all of them
	// audioCheckWaits is how long they wait for their turns at hosts. With a longer Crawl-delay no audio is checked.
	audioCheckWaits = time.Minute
)

// checkAudio asks servers about the audio of those episodes of the feed that were checked longest
// ago. Episodes whose audio was replaced are researched again; it returns how many these are.
// An origin that was removed meanwhile has no such list; then nothing is checked.
func (f *Flow) checkAudio(ctx context.Context, o models.Origin) (replaced int, err error) {
	var list []models.Audio
	err = catalog.RetryUnavailable(ctx, f.Log, func() (err error) {
		list, err = f.Catalog.AudioToCheck(ctx, o.ID, audioChecks)
		return err
	})
	switch {
	case errors.Is(err, fault.ErrNotFound):
		return 0, nil
	case err != nil || len(list) == 0:
		return 0, err
	}
	list = f.askServers(ctx, o, list)
	err = catalog.RetryUnavailable(ctx, f.Log, func() (err error) {
		replaced, err = f.Catalog.AudioChecked(ctx, time.Now().UTC(), list)
		return err
	})
	if replaced > 0 {
		status.Tell(f.Log, slog.LevelInfo, "", "audio of %d episodes of %s was replaced or can be fetched now: they are researched again", replaced, o.URI)
	}
	return replaced, err
}

// askServers asks servers about audio for audioCheckTime and audioCheckWaits at most, and returns those of list that
// count as checked, with what was reported. A server that does not answer is not asked again; its
// episodes count as checked without an answer (models.Audio.Silent), so that they do not keep others
// from being checked. So does the last episode, if the time ends with it. Errors are logged.
func (f *Flow) askServers(ctx context.Context, o models.Origin, list []models.Audio) []models.Audio {
	visit := ctx
	ctx, cancel := fetch.WithoutWaits(ctx, audioCheckTime, audioCheckWaits)
	defer cancel()
	silent := map[string]bool{} // hosts
	for i, a := range list {
		list[i].Silent = true
		u, err := url.Parse(a.URI)
		if err != nil || silent[u.Host] {
			continue
		}
		reported, err := f.Lister.audio(ctx, o, a)
		switch { // the rest does not count as checked
		case visit.Err() != nil:
			return list[:i]
		case ctx.Err() != nil:
			return list[:i+1]
		}
		silent[u.Host] = errors.Is(err, fault.ErrUnavailable)
		if err != nil {
			f.Log.Debug("archive: audio is not checked", "uri", a.URI, "error", err)
			continue
		}
		list[i] = reported
	}
	return list
}

// audio returns what the server reports of an episode's audio. Audio counts as replaced if a second request
// confirms it, because some servers report something else each time, such as those that insert advertisements. If
// the two requests differ, it returns known.
func (l *Lister) audio(ctx context.Context, o models.Origin, known models.Audio) (models.Audio, error) {
	now, err := l.head(ctx, o, known)
	if err != nil || !isOther(known, now) {
		return now, err
	}
	again, err := l.head(ctx, o, known)
	if err != nil || isOther(now, again) {
		return known, err
	}
	again.Replaced = true
	return again, nil
}

func (l *Lister) head(ctx context.Context, o models.Origin, known models.Audio) (now models.Audio, err error) {
	var p fetch.Poll
	p, now.Bytes, err = l.Fetch.Head(ctx, models.WithUserOf(o.URI, known.URI))
	now.Episode, now.URI, now.ETag, now.Modified = known.Episode, known.URI, p.ETag, p.Modified
	return now, err
}

// isOther reports whether two reports of a server are about different audio. They are if the
// lengths differ. Otherwise an equal ETag or an equal date is enough to be the same, because
// the servers behind one name may have an ETag or a date each for one file.
func isOther(before, now models.Audio) bool {
	if before.Bytes != 0 && now.Bytes != 0 && before.Bytes != now.Bytes {
		return true
	}
	tagged, dated := before.ETag != "" && now.ETag != "", before.Modified != "" && now.Modified != ""
	if tagged && before.ETag == now.ETag || dated && before.Modified == now.Modified {
		return false
	}
	return tagged || dated
}
