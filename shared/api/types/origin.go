package types

import "leasehold/models"

// NewOrigin is the body that adds an origin or a lister.
type NewOrigin struct {
	Kind     models.OriginKind `json:"kind"`
	URI      string            `json:"uri" doc:"an http(s) URL, or an absolute path on the managers' machine; api: any name"`
	Priority *int64            `json:"priority,omitempty" doc:"higher is sooner; if absent, 0 for a new origin, and unchanged for a known one"`
	Every    *models.Seconds   `json:"every_s,omitempty" doc:"fixed seconds between two visits, under any policy; 0: the policy decides; absent: unchanged"`
	Branches []string          `json:"branches,omitzero" doc:"branches that are indexed: names, patterns such as release-*, or HEAD; of a lister, of the repositories that it lists; empty: the manager's setting; absent: unchanged"`
}

// Priority is the body that changes a priority.
type Priority struct {
	Priority *int64 `json:"priority" doc:"higher is sooner"`
}

// Added is the response of catalog.AddOrigin.
type Added struct {
	New bool `json:"new" doc:"false if the origin was known"`
}
