package node

import (
	"context"
	"log/slog"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/fetch"
	workerclips "leasehold/worker/clips"
)

// media fetches recordings with the user and password of their origin. They are read from
// the catalog for each fetch, because tasks and episodes do not have them.
type media struct {
	to      workerclips.Media
	origins catalog.Origins
	log     *slog.Logger
}

// Fetch fetches a recording (research.Media). If ref names an origin, its address gets the user and password of
// the origin's URL.
func (m media) Fetch(ctx context.Context, ref models.MediaRef) (fetch.File, error) {
	if ref.Origin != "" {
		o, err := catalog.Find(ctx, m.log, m.origins, ref.Origin)
		if err != nil {
			return fetch.File{}, err
		}
		ref.URI = models.WithUserOf(o.URI, ref.URI)
	}
	return m.to.Fetch(ctx, ref)
}
