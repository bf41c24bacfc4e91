package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/apitypes"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// curator is the origin of what is put here without one.
var curator = models.Origin{ID: "api", Kind: models.API, URI: "api:"}

func (s *server) listEpisodes(ctx context.Context, r *http.Request) (any, error) {
	return listRecordings(r, func() ([]models.Episode, error) { return s.Catalog.Episodes(ctx) },
		func(e models.Episode) models.Recording { return e.Recording })
}

func (s *server) listClips(ctx context.Context, r *http.Request) (any, error) {
	return listRecordings(r, func() ([]models.Clip, error) { return s.Catalog.Clips(ctx) },
		func(c models.Clip) models.Recording { return c.Recording })
}

func listRecordings[T any](r *http.Request, read func() ([]T, error), of func(T) models.Recording) (any, error) {
	q := ask(r, "offset", "limit", "origin")
	origin, p := q.id("origin"), q.part(MaxPage)
	if q.err != nil {
		return nil, q.err
	}
	all, err := read()
	if origin != "" {
		all = slices.DeleteFunc(all, func(t T) bool { return of(t).Origin != origin })
	}
	return cut(all, p, itself), err
}

func (s *server) putEpisodes(ctx context.Context, r *http.Request) (any, error) {
	return s.put(ctx, r, func(item apitypes.NewRecording, rec models.Recording, l *catalog.Listing) error {
		l.Episodes = append(l.Episodes, models.Episode{Recording: rec, Aired: item.Aired})
		return nil
	})
}

func (s *server) putClips(ctx context.Context, r *http.Request) (any, error) {
	return s.put(ctx, r, func(item apitypes.NewRecording, rec models.Recording, l *catalog.Listing) error {
		if !item.Aired.IsZero() {
			return fmt.Errorf("clip %.100q: %w: only episodes are aired", item.Name, fault.ErrInvalid)
		}
		l.Clips = append(l.Clips, models.Clip{Recording: rec})
		return nil
	})
}

// put curates what a curator puts.
func (s *server) put(ctx context.Context, r *http.Request, add func(apitypes.NewRecording, models.Recording, *catalog.Listing) error) (any, error) {
	var wanted apitypes.NewRecordings
	if err := body(r, &wanted); err != nil {
		return nil, err
	}
	origin, err := s.curatorOf(ctx, wanted.Origin)
	if err != nil {
		return nil, err
	}
	listing, answer := catalog.Listing{}, apitypes.CuratedItems{Origin: origin.ID, IDs: []string{}}
	for _, item := range wanted.Items {
		rec, err := checkRecording(item)
		if err != nil {
			return nil, err
		}
		if err := add(item, rec, &listing); err != nil {
			return nil, err
		}
		answer.IDs = append(answer.IDs, models.NewID(origin.ID, item.Name))
	}
	if wanted.Complete {
		if listing, err = s.complete(ctx, origin.ID, listing, r.URL.Path); err != nil {
			return nil, err
		}
	}
	n, err := s.Catalog.Curate(ctx, origin.ID, time.Now().UTC(), listing)
	answer.Curated = n
	return answer, err
}

// complete makes a listing of episodes complete without taking the clips of the
// same origin for gone, and the other way round.
func (s *server) complete(ctx context.Context, origin string, l catalog.Listing, path string) (catalog.Listing, error) {
	l.Complete = true
	if path == "/api/v1/episodes" {
		clips, err := s.Catalog.Clips(ctx)
		l.Clips = slices.DeleteFunc(clips, func(c models.Clip) bool { return c.Origin != origin })
		return l, err
	}
	episodes, err := s.Catalog.Episodes(ctx)
	l.Episodes = slices.DeleteFunc(episodes, func(e models.Episode) bool { return e.Origin != origin })
	return l, err
}

// check refuses what no worker could fetch: files are only for origins that the
// operator named.
func checkRecording(i apitypes.NewRecording) (models.Recording, error) {
	u, err := url.Parse(i.URI)
	switch {
	case i.Name == "" || len(i.Name) > 1024 || len(i.Title) > 4096:
		return models.Recording{}, fmt.Errorf("name %.100q: %w: a name of 1 to 1024 bytes is wanted, and a title of at most 4096", i.Name, fault.ErrInvalid)
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || len(i.URI) > 4096:
		return models.Recording{}, fmt.Errorf("uri %.100q: %w: an http(s) URL is wanted", i.URI, fault.ErrInvalid)
	}
	return models.Recording{
		Name: i.Name, Title: i.Title, Priority: i.Priority,
		Media: models.MediaRef{URI: i.URI, Type: i.Type, Version: i.Version, Hash: i.Hash},
	}, nil
}

// curatorOf returns the origin of what is put.
func (s *server) curatorOf(ctx context.Context, id string) (models.Origin, error) {
	if id != "" && id != curator.ID {
		o, err := s.Catalog.Origin(ctx, id)
		if err == nil && o.Kind != models.API {
			err = fmt.Errorf("origin %s: %w: it is visited; put what is of an origin of kind %s", id, fault.ErrInvalid, models.API)
		}
		return o, err
	}
	o, err := s.Catalog.Origin(ctx, curator.ID)
	if !errors.Is(err, fault.ErrNotFound) {
		return o, err
	}
	o = curator
	o.AddedAt = time.Now().UTC()
	_, err = s.Catalog.AddOrigin(ctx, o)
	return o, err
}

func (s *server) getEpisode(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "episode")
	if err != nil {
		return nil, err
	}
	return s.Catalog.Episode(ctx, id)
}

func (s *server) getClip(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "clip")
	if err != nil {
		return nil, err
	}
	return s.Catalog.Clip(ctx, id)
}

func (s *server) patchEpisode(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "episode")
	if err != nil {
		return nil, err
	}
	e, err := s.Catalog.Episode(ctx, id)
	if err != nil {
		return nil, err
	}
	if e.Priority, err = askPriority(r); err != nil {
		return nil, err
	}
	return e, s.again(ctx, e.Origin, catalog.Listing{Episodes: []models.Episode{e}})
}

func (s *server) patchClip(ctx context.Context, r *http.Request) (any, error) {
	id, err := pathID(r, "clip")
	if err != nil {
		return nil, err
	}
	c, err := s.Catalog.Clip(ctx, id)
	if err != nil {
		return nil, err
	}
	if c.Priority, err = askPriority(r); err != nil {
		return nil, err
	}
	return c, s.again(ctx, c.Origin, catalog.Listing{Clips: []models.Clip{c}})
}

// again lists one recording of an origin again, and leaves the rest as it is. The
// next visit of the origin lists it with the priority that it has there.
func (s *server) again(ctx context.Context, origin string, l catalog.Listing) error {
	problems, _, err := s.Catalog.ProblemsOf(ctx, catalog.About{Origin: origin}, catalog.Part{Limit: -1})
	if err != nil {
		return err
	}
	for _, p := range problems {
		if p.Item != "" && p.EpisodeID == "" && p.ClipID == "" {
			l.Problems = append(l.Problems, models.Problem{Origin: p.OriginID, Item: p.Item, Reason: p.Reason, At: p.At})
		}
	}
	_, err = s.Catalog.Curate(ctx, origin, time.Now().UTC(), l)
	return err
}
