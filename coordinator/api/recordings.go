package api

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
	"leasehold/shared/fault"
)

// defaultCurator is the origin of recordings that are put without one.
var defaultCurator = models.Origin{ID: "api", Kind: models.API, URI: "api:"}

func (s *server) listEpisodes(ctx context.Context, q *request) (types.Page[catalog.EpisodeProgress], error) {
	filter := catalog.EpisodeFilter{Origin: q.text("origin"), Title: q.text("title")}
	episodes, total, err := s.Catalog.EpisodesOf(ctx, filter, catalog.Part{Offset: q.number("offset"), Limit: q.number("limit")})
	return toPage(episodes, total, itself), err
}

func (s *server) listClips(ctx context.Context, q *request) (types.Page[models.Clip], error) {
	all, err := s.Catalog.Clips(ctx)
	origin := q.text("origin")
	return cut(q, slices.DeleteFunc(all, func(c models.Clip) bool { return origin != "" && c.Origin != origin })), err
}

// putEpisodes curates episodes. The clips of the origin stay.
func (s *server) putEpisodes(ctx context.Context, _ *request, n types.NewRecordings) (types.CuratedItems, error) {
	return s.curateRecordings(ctx, n, func(item types.NewRecording, r models.Recording, l *catalog.Listing) error {
		l.Episodes = append(l.Episodes, models.Episode{Recording: r, Aired: item.Aired})
		return nil
	}, func(l *catalog.Listing, origin string) error {
		clips, err := s.Catalog.Clips(ctx)
		l.Clips = slices.DeleteFunc(clips, func(c models.Clip) bool { return c.Origin != origin })
		return err
	})
}

// putClips curates clips, which must not have an air time. The episodes of the origin stay.
func (s *server) putClips(ctx context.Context, _ *request, n types.NewRecordings) (types.CuratedItems, error) {
	return s.curateRecordings(ctx, n, func(item types.NewRecording, r models.Recording, l *catalog.Listing) error {
		if !item.Aired.IsZero() {
			return fmt.Errorf("clip %.100q: %w: only episodes are aired", item.Name, fault.ErrConflict)
		}
		l.Clips = append(l.Clips, models.Clip{Recording: r})
		return nil
	}, func(l *catalog.Listing, origin string) error {
		episodes, err := s.Catalog.Episodes(ctx)
		l.Episodes = slices.DeleteFunc(episodes, func(e models.Episode) bool { return e.Origin != origin })
		return err
	})
}

// curateRecordings curates recordings of one sort, and returns their ids in the order of n.Items. add checks an
// item and adds it to the listing. If the recordings are complete, addOthers adds the origin's recordings of the
// other sort to the listing, so that they do not count as gone. After an error nothing is curated.
func (s *server) curateRecordings(
	ctx context.Context, n types.NewRecordings,
	add func(types.NewRecording, models.Recording, *catalog.Listing) error, addOthers func(l *catalog.Listing, origin string) error,
) (answer types.CuratedItems, err error) {
	origin, err := s.curatorOf(ctx, n.Origin)
	if err != nil {
		return answer, err
	}
	listing := catalog.Listing{Complete: n.Complete}
	answer.Origin, answer.IDs = origin.ID, []string{}
	seen := map[string]bool{} // names
	for _, item := range n.Items {
		r, err := checkRecording(item)
		if err != nil {
			return answer, err
		}
		if err := add(item, r, &listing); err != nil {
			return answer, err
		}
		if seen[item.Name] {
			return answer, fmt.Errorf("items: %w: %.100q is listed twice", fault.ErrConflict, item.Name)
		}
		seen[item.Name] = true
		answer.IDs = append(answer.IDs, models.NewID(origin.ID, item.Name))
	}
	if n.Complete {
		if err := addOthers(&listing, origin.ID); err != nil {
			return answer, err
		}
	}
	answer.Curated, err = s.Catalog.Curate(ctx, origin.ID, time.Now().UTC(), listing)
	return answer, err
}

// checkRecording converts a recording, and refuses one that no worker could fetch with
// fault.ErrInvalid. Files are refused, because only the operator may let workers read them, by
// adding an origin.
func checkRecording(n types.NewRecording) (models.Recording, error) {
	switch {
	case n.Name == "" || len(n.Name) > 1024 || len(n.Title) > 4096:
		return models.Recording{}, fmt.Errorf("name %.100q: %w: want a name of 1 to 1024 bytes, and a title of at most 4096", n.Name, fault.ErrInvalid)
	case !models.IsWebURL(n.URI):
		return models.Recording{}, fmt.Errorf("uri %.100q: %w: want an http(s) URL", models.Redact(n.URI), fault.ErrInvalid)
	}
	return models.Recording{
		Name: n.Name, Title: n.Title, Priority: n.Priority,
		Media: models.MediaRef{URI: n.URI, Type: n.Type, Version: n.Version, Hash: n.Hash},
	}, nil
}

// curatorOf returns the origin to which recordings are added; empty is the default one, which it adds if it is
// missing. It refuses an origin that is visited, because the next visit would remove these recordings.
func (s *server) curatorOf(ctx context.Context, id string) (models.Origin, error) {
	if id != "" && id != defaultCurator.ID {
		o, err := s.Catalog.Origin(ctx, id)
		if err == nil && o.Kind != models.API {
			err = fmt.Errorf("origin %s: %w: it is visited; put recordings to an origin of kind %s", id, fault.ErrConflict, models.API)
		}
		return o, err
	}
	o, err := s.Catalog.Origin(ctx, defaultCurator.ID)
	if !errors.Is(err, fault.ErrNotFound) {
		return o, err
	}
	o = defaultCurator
	o.AddedAt = time.Now().UTC()
	_, err = s.Catalog.AddOrigin(ctx, o)
	return o, err
}

func (s *server) getEpisode(ctx context.Context, q *request) (models.Episode, error) {
	return s.Catalog.Episode(ctx, q.text("episode"))
}

func (s *server) getWaveform(ctx context.Context, q *request) (models.Waveform, error) {
	return s.Catalog.Waveform(ctx, q.text("episode"))
}

func (s *server) getClip(ctx context.Context, q *request) (models.Clip, error) {
	return s.Catalog.Clip(ctx, q.text("clip"))
}

func (s *server) patchEpisode(ctx context.Context, q *request, p types.Priority) (models.Episode, error) {
	priority, err := checkPriority(p)
	if err != nil {
		return models.Episode{}, err
	}
	return s.Catalog.SetEpisodePriority(ctx, q.text("episode"), &priority)
}

func (s *server) resetEpisode(ctx context.Context, q *request) (models.Episode, error) {
	return s.Catalog.SetEpisodePriority(ctx, q.text("episode"), nil)
}

func (s *server) patchClip(ctx context.Context, q *request, p types.Priority) (models.Clip, error) {
	priority, err := checkPriority(p)
	if err != nil {
		return models.Clip{}, err
	}
	return s.Catalog.SetClipPriority(ctx, q.text("clip"), &priority)
}

func (s *server) resetClip(ctx context.Context, q *request) (models.Clip, error) {
	return s.Catalog.SetClipPriority(ctx, q.text("clip"), nil)
}
