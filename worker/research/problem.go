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

// lasting reports whether an error is a property of the recording, so that trying
// again would end the same.
func lasting(err error) bool {
	for _, kind := range []error{fault.ErrInvalid, fault.ErrTooLarge, fault.ErrNotFound, fault.ErrCorrupt} {
		if errors.Is(err, kind) {
			return true
		}
	}
	return false
}

// scope says whose property the fault of a clip is.
func scope(err error) models.Scope {
	if errors.Is(err, exact.ErrLongerThanEpisode) {
		return models.ScopePair
	}
	return models.ScopeClip
}

// problem says what is wrong with a recording, such as
// "jingle.wav: silent: nothing to look for".
func problem(item models.ResearchItem, err error) string {
	return name(item) + ": " + err.Error()
}

// name is what people call a recording: its file, else its title.
func name(item models.ResearchItem) string {
	if u, err := url.Parse(item.Media.URI); err == nil && path.Base(u.Path) != "." && path.Base(u.Path) != "/" {
		return path.Base(u.Path)
	}
	return cmp.Or(item.Title, item.ID)
}
