// Package move decides whether an origin on the web may move to another address. The catalog moves it there if it is
// found on visits at least models.MoveAfter apart. All functions may be called concurrently.
package move

import (
	"errors"
	"fmt"
	"net/url"

	"leasehold/models"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
)

// Redirected returns the move of an origin whose server redirects for good to a URL, where what it has was read; nil if
// to is empty or the same address.
func Redirected(f *fetch.Fetcher, o models.Origin, to string) *models.Move {
	if to == "" {
		return nil
	}
	u, err := url.Parse(to)
	target := ""
	if err == nil {
		target, err = Target(f, o, u)
	}
	switch {
	case err != nil:
		return &models.Move{Problem: fmt.Sprintf("the server redirects permanently to %s, which cannot be used: %v", models.Redact(to), fault.Reason(err))}
	case target == "":
		return nil
	}
	return &models.Move{To: target, Answers: true}
}

// Target returns the address of u as an origin may have it, without a user and a fragment; empty if the origin is
// there already or is not on the web. The errors, for people, tell why it cannot be used. An origin does not move back
// to where it came from, because two servers may redirect to each other in turn.
func Target(f *fetch.Fetcher, o models.Origin, u *url.URL) (string, error) {
	if !models.IsWebURL(o.URI) {
		return "", nil
	}
	from, err := url.Parse(o.URI)
	if err != nil {
		return "", nil //nolint:nilerr // it could not be read either
	}
	plain := *u
	plain.Fragment, plain.User, from.User = "", nil, nil
	to := plain.String()
	switch {
	case !models.IsWebURL(to):
		return "", errors.New("want an address that begins with http:// or https://")
	case to == from.String():
		return "", nil
	case models.WithUserOf(o.MovedFrom, to) == o.MovedFrom:
		return "", errors.New("the origin moved from there")
	}
	return to, f.Check(to)
}
