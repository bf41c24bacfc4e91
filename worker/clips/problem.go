package clips

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"path"

	"leasehold/models"
	"leasehold/shared/clips"
	"leasehold/shared/clips/exact"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/process/platform"
	"leasehold/worker"
)

// unfetched is the error of a recording that could not be fetched.
type unfetched struct {
	error
	local bool // a file of this machine
}

// Unwrap returns the error of fetching.
func (e *unfetched) Unwrap() error { return e.error }

// retryOf returns when a recording is tried again after err. known is false if err does not come from the
// recording: then the worker gives the task back. A file or a program that is missing here may be there later.
func retryOf(err error) (retry models.Retry, known bool) {
	var u *unfetched
	switch fetching := errors.As(err, &u); {
	case errors.Is(err, fault.ErrClosed) || platform.Exhausted(err):
		return "", false
	case fetching && fetch.Refused(err):
		return models.RetryChanged, true
	case fetching, errors.Is(err, fault.ErrNotFound):
		return models.RetryLater, true
	}
	return models.RetryNever, clips.Lasting(err)
}

// isMissing reports whether this machine lacks the file of a recording, or a program that decodes it. Another machine
// may have it.
func isMissing(err error) bool {
	var u *unfetched
	if errors.As(err, &u) {
		return u.local && !fetch.Refused(err) && !platform.Exhausted(err) && !errors.Is(err, fault.ErrClosed)
	}
	return errors.Is(err, fault.ErrNotFound)
}

// passOn gives the task to another worker if this machine lacks the recording or the program that err names, and
// returns errResolved then. Otherwise it returns err; if no other worker is left, with the workers that lack it.
func passOn(ctx context.Context, job worker.Job, err error) error {
	if ctx.Err() != nil || !isMissing(err) {
		return err
	}
	if err := job.PassOn(ctx, err); err != nil {
		return err
	}
	return errResolved
}

// waitOf returns how long the server of a recording asks to be left alone.
func waitOf(err error) models.Seconds { return models.SecondsOf(fetch.AskedToWait(err)) }

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
