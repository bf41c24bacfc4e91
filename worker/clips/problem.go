package clips

import (
	"cmp"
	"errors"
	"net/url"
	"path"

	"leasehold/models"
	"leasehold/shared/clips/exact"
)

// scopeOf returns models.ScopePair if a fault of a clip concerns the clip with this episode only,
// because it is longer than the episode, and otherwise models.ScopeClip.
func scopeOf(err error) models.Scope {
	if errors.Is(err, exact.ErrLongerThanEpisode) {
		return models.ScopePair
	}
	return models.ScopeClip
}

// describeFault describes the fault of a recording, such as
// "jingle.wav: silent: nothing to look for".
func describeFault(item models.ResearchItem, err error) string {
	return displayName(item) + ": " + err.Error()
}

// displayName returns the file name of a recording, or its title if its address has no file name, or its
// id if it has no title.
func displayName(item models.ResearchItem) string {
	if u, err := url.Parse(item.Media.URI); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path)
	}
	return cmp.Or(item.Title, item.ID)
}
