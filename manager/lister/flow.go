package lister

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
	"leasehold/shared/fetch"
	"leasehold/shared/space"
)

// Flow visits listers (manager.Flow).
type Flow struct {
	Catalog catalog.Origins
	Fetch   *fetch.Fetcher
	Log     *slog.Logger
}

// Run waits until ctx ends, because listers have no work-items.
func (f *Flow) Run(ctx context.Context, _ space.Repository) error {
	<-ctx.Done()
	return nil
}

// documentBytes is the maximum size of an OPML document or a list of URLs.
const documentBytes = 16 << 20

// Visit names the next part of the origins that a lister has.
func (f *Flow) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	o, err := catalog.Find(ctx, f.Log, f.Catalog, v.Origin.ID)
	if err != nil {
		return models.Outcome{}, err
	}
	if err := f.Fetch.Trust(o); err != nil {
		return models.Outcome{}, fmt.Errorf("%s %s: %w", o.Kind, o.URI, err)
	}
	var named []models.ListedOrigin
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		named, err = f.list(ctx, o)
		return err
	})
	if err == nil && len(named) == 0 {
		err = fmt.Errorf("it names nothing that can be visited: %w", fault.ErrInvalid)
	}
	if err != nil {
		return models.Outcome{RetryAfter: models.SecondsOf(fetch.RetryAfter(err))}, fmt.Errorf("%s %s: %w", o.Kind, o.URI, err)
	}
	outcome := models.Outcome{Status: models.Eventful, Digest: digest(named)}
	from := 0
	if outcome.Digest == v.Known.Digest {
		outcome.Status = models.Uneventful
		from = min(max(v.Known.Next, 0), len(named))
	}
	outcome.Listed = part(named, from)
	outcome.Items = len(outcome.Listed.Origins)
	return outcome, nil
}

// part returns the origins that one visit names, from a position of the list.
func part(named []models.ListedOrigin, from int) *models.Listed {
	to := from + fitting(named[from:])
	if to < len(named) {
		return &models.Listed{Origins: named[from:to], From: from, Next: to}
	}
	return &models.Listed{Origins: named[from:], From: from, Full: len(named) <= maxNames}
}

// maxNames is how many origins of one list are visited at most.
const maxNames = 200_000

// listedBytes bounds the URIs that one visit names, because they must fit into a tuple.
const listedBytes = 384 << 10

// fitting returns how many of the first origins one visit names.
func fitting(named []models.ListedOrigin) int {
	bytes := 0
	for i, n := range named {
		if bytes += len(n.URI) + 100; i >= models.MaxListed || bytes > listedBytes {
			return i
		}
	}
	return len(named)
}

func (f *Flow) list(ctx context.Context, o models.Origin) ([]models.ListedOrigin, error) {
	if o.Kind == models.Repositories {
		return f.repositories(ctx, o.URI)
	}
	uri := o.URI
	if !models.IsWebURL(uri) {
		uri = fetch.FileURI(uri)
	}
	content, err := f.Fetch.Document(ctx, uri, documentBytes)
	if err != nil {
		return nil, err
	}
	if o.Kind == models.OPML {
		return parseOPML(content)
	}
	return parseURLs(content)
}

// digest depends on the set of named origins only, not on their order.
func digest(named []models.ListedOrigin) string {
	var lines []string
	for _, n := range named {
		lines = append(lines, fmt.Sprintf("%s %q", n.Kind, n.URI))
	}
	slices.Sort(lines)
	sum := sha256.Sum256(fmt.Append(nil, lines))
	return "list:" + hex.EncodeToString(sum[:])
}
