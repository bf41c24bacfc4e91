package types

import "leasehold/models"

// NewOrigin is the body that adds an origin or a lister.
type NewOrigin struct {
	Kind     models.OriginKind `json:"kind" schema:"kind"`
	URI      string            `json:"uri" doc:"an http(s) URL, or an absolute path on the managers' machine; api: any name; 409 if the kind has none of this form" schema:"minLength: 1, maxLength: 4096"`
	Priority *int64            `json:"priority,omitempty" doc:"higher is sooner; if absent, 0 for a new origin, and unchanged for a known one"`
	Every    *models.Seconds   `json:"every_s,omitempty" doc:"fixed seconds between two visits, under any policy; 0: the policy decides; absent: unchanged" schema:"every"`
	Hours    *models.Hours     `json:"hours,omitempty" doc:"hours in which it may be visited, such as 22:00-06:00@Europe/Berlin; without a zone, UTC; any: at any time; absent: unchanged" schema:"hours"`
	Branches []string          `json:"branches,omitzero" doc:"branches that are indexed: names, patterns such as release-*, or HEAD; of a lister, of the repositories that it lists; empty: the manager's setting; absent: unchanged" schema:"branches"`
	Tags     []string          `json:"tags,omitzero" doc:"tags that are indexed beside the branches: names, or patterns such as v*; the newest, at most 64 with the branches; empty: the manager's setting; absent: unchanged" schema:"branches"`
}

// NewLister is the body that adds a lister.
type NewLister struct {
	NewOrigin
	Kind models.OriginKind `json:"kind" schema:"enum: [opml, urls, repositories, forge, lister]"`
}

// Priority is the body that changes a priority.
type Priority struct {
	Priority *int64 `json:"priority" doc:"higher is sooner"`
}

// OriginChange is the body that changes an origin. Absent values stay.
type OriginChange struct {
	Priority *int64          `json:"priority,omitempty" doc:"higher is sooner; its recordings get it at the next visit"`
	Every    *models.Seconds `json:"every_s,omitempty" doc:"fixed seconds between two visits, under any policy; 0: the policy decides" schema:"every"`
	Hours    *models.Hours   `json:"hours,omitempty" doc:"hours in which it may be visited, such as 22:00-06:00@Europe/Berlin; without a zone, UTC; any: at any time" schema:"hours"`

	_ struct{} `least:"1"`
}

// Visiting returns what the body changes of when the origin is visited.
func (c OriginChange) Visiting() models.Visiting {
	return models.Visiting{Every: c.Every, Hours: c.Hours}
}

// Added is the response of catalog.AddOrigin.
type Added struct {
	New bool `json:"new" doc:"false if the origin was known"`
}
