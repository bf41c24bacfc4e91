package lister

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"leasehold/manager/move"
	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fetch"
	"leasehold/shared/protocol/status"
	"leasehold/shared/space"
)

// Flow visits listers (manager.Flow).
type Flow struct {
	Catalog catalog.Origins
	Fetch   *fetch.Fetcher
	Tokens  map[string]string // files with the tokens of forges, by the host of their API
	Log     *slog.Logger

	forges forges
}

// Run waits until ctx ends, because listers have no work-items, and returns nil.
func (f *Flow) Run(ctx context.Context, _ space.Repository) error {
	<-ctx.Done()
	return nil
}

// documentBytes is the maximum size of an OPML document or a list of URLs.
const documentBytes = 128 << 20

// Visit names the next part of the origins that a lister has. If the names are the same as at the visit before,
// positions in the list are the same, and it goes on behind its part (v.Known.Next), otherwise at the first. Only
// the id is taken from v, because any client may put a visit. With an error, the outcome has only the Retry-After
// of the server.
func (f *Flow) Visit(ctx context.Context, v models.Visit) (models.Outcome, error) {
	o, err := catalog.Find(ctx, f.Log, f.Catalog, v.Origin.ID)
	if err != nil {
		return models.Outcome{}, err
	}
	if err := f.Fetch.Trust(o); err != nil {
		return models.Outcome{}, fmt.Errorf("%s %s: %w", o.Kind, o.URI, err)
	}
	var named []models.ListedOrigin
	movedTo := ""
	err = fetch.Within(ctx, o.Kind, func(ctx context.Context) (err error) {
		named, movedTo, err = f.list(ctx, o, v)
		return err
	})
	if err != nil {
		return models.Outcome{RetryAfter: models.SecondsOf(fetch.RetryAfter(err))}, fmt.Errorf("%s %s: %w", o.Kind, o.URI, err)
	}
	if fitting(named) < len(named) { // more than one visit can name
		named = sortedByID(named)
	}
	outcome := models.Outcome{Status: models.Eventful, Digest: digest(named), Move: move.Redirected(f.Fetch, o, movedTo)}
	from := 0
	if outcome.Digest == v.Known.Digest {
		outcome.Status = models.Uneventful
	}
	if namesOf(outcome.Digest) == namesOf(v.Known.Digest) {
		from = min(max(v.Known.Next, 0), len(named))
	}
	outcome.Listed = part(named, from)
	outcome.Items = len(outcome.Listed.Origins)
	return outcome, nil
}

// sortedByID returns the origins of a list in parts, in the order of their ids. Positions then depend on the
// names only, as the digest does. Each part then changes another part of the coordinator's indexes of ids; in any
// other order each part would change all of them.
func sortedByID(named []models.ListedOrigin) []models.ListedOrigin {
	ids, byID := make([]string, len(named)), make([]int, len(named))
	for i, n := range named {
		ids[i], byID[i] = models.NewID(string(n.Kind), n.URI), i
	}
	slices.SortStableFunc(byID, func(a, b int) int { return cmp.Compare(ids[a], ids[b]) })
	all := make([]models.ListedOrigin, 0, len(named))
	for _, i := range byID {
		all = append(all, named[i])
	}
	return all
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
		bytes += len(n.URI) + 100
		if i >= models.MaxListed || bytes > listedBytes {
			return i
		}
	}
	return len(named)
}

// list returns all origins of a list. movedTo is where the server of a document redirects for good; empty: nowhere. An
// API of a forge is not learned from its redirects, because they lead to single pages of it.
func (f *Flow) list(ctx context.Context, o models.Origin, v models.Visit) (named []models.ListedOrigin, movedTo string, err error) {
	switch o.Kind {
	case models.Repositories:
		named, err = f.listFolder(ctx, o.URI)
	case models.Forge:
		named, err = f.listForge(ctx, o, v.Known.Next > 0, v.Unconditional)
	default:
		named, movedTo, err = f.listDocument(ctx, o)
	}
	return named, movedTo, err
}

// listDocument is list for OPML and lists of URLs. Lines of a list of URLs that are not URLs are skipped and reported in
// the log, and so are the repairs of OPML.
func (f *Flow) listDocument(ctx context.Context, o models.Origin) (named []models.ListedOrigin, movedTo string, err error) {
	uri := o.URI
	if !models.IsWebURL(uri) {
		uri = fetch.FileURI(uri)
	}
	doc, err := f.Fetch.Poll(ctx, uri, models.Known{}, documentBytes)
	if err != nil {
		return nil, "", err
	}
	if o.Kind == models.OPML {
		named, faults, err := parseOPML(doc.Content, doc.Type)
		if err == nil && faults.Any() {
			status.Tell(f.Log, slog.LevelWarn, "", "list %s was repaired: %s", models.Redact(o.URI), faults)
		}
		return named, doc.MovedTo, err
	}
	named, skipped, err := parseURLs(doc.Content)
	if err == nil && len(skipped) > 0 {
		status.Tell(f.Log, slog.LevelWarn, "", "list %s: %d lines are not http(s) URLs and were skipped, the first is line %d", models.Redact(o.URI), len(skipped), skipped[0])
	}
	return named, doc.MovedTo, err
}

// digest has two parts: one depends on the set of named origins only, the other also on
// their dates. Neither depends on the order.
func digest(named []models.ListedOrigin) string {
	var lines, dated []string
	for _, n := range named {
		line := fmt.Sprintf("%s %q", n.Kind, n.URI)
		lines = append(lines, line)
		dated = append(dated, fmt.Sprintf("%s %d %d %q", line, n.Created.Unix(), n.Updated.Unix(), n.ForkOf))
	}
	return "list:" + sumOf(lines) + ":" + sumOf(dated)
}

// sumOf returns a digest of lines that does not depend on their order. It sorts them.
func sumOf(lines []string) string {
	slices.Sort(lines)
	sum := sha256.Sum256(fmt.Append(nil, lines))
	return hex.EncodeToString(sum[:])
}

// namesOf returns the part of a digest that depends on the named origins only.
func namesOf(digest string) string {
	return digest[:max(strings.LastIndexByte(digest, ':'), 0)]
}
