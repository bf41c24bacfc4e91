package research

import (
	"cmp"
	"errors"
	"net/url"
	"path"

	"leasehold/models"
	"leasehold/shared/audio/exact"
	"leasehold/shared/fault"
)

// lasting reports whether an error is a property of the recording, so that a retry would
// fail in the same way.
func lasting(err error) bool {
	for _, kind := range []error{fault.ErrInvalid, fault.ErrTooLarge, fault.ErrNotFound, fault.ErrCorrupt} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// scope returns whether a fault of a clip concerns the clip or the pair.
func scope(err error) models.Scope {
	if errors.Is(err, exact.ErrLongerThanEpisode) {
		return models.ScopePair
	}
	return models.ScopeClip
}

// problem describes the fault of a recording, such as
// "jingle.wav: silent: nothing to look for".
func problem(item models.ResearchItem, err error) string {
	return name(item) + ": " + err.Error()
}

// name returns the file name of a recording, or else its title.
func name(item models.ResearchItem) string {
	if u, err := url.Parse(item.Media.URI); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path)
	}
	return cmp.Or(item.Title, item.ID)
}
