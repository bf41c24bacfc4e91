package types

import (
	"time"

	"leasehold/shared/catalog"
)

// NewRecording is an episode or a clip as an upstream curator puts it.
type NewRecording struct {
	Name     string    `json:"name" doc:"unique within the origin; putting it again changes the recording" schema:"minLength: 1, maxLength: 1024"`
	Title    string    `json:"title,omitempty" doc:"the name if absent" schema:"maxLength: 4096"`
	Priority int64     `json:"priority,omitempty" doc:"higher is sooner"`
	URI      string    `json:"uri" doc:"http(s)" schema:"url"`
	Type     string    `json:"type,omitempty" doc:"MIME type"`
	Version  string    `json:"version,omitempty" doc:"if it differs from the known one, the recording is researched again"`
	Hash     string    `json:"hash,omitempty" doc:"sha256: and 64 hex digits, if known"`
	Aired    time.Time `json:"aired,omitzero" doc:"episodes only"`
}

// NewRecordings is the body that puts episodes or clips.
type NewRecordings struct {
	Origin   string         `json:"origin,omitempty" schema:"maybeID" doc:"id of an origin of kind api; if absent, the origin api, which is added when needed"`
	Items    []NewRecording `json:"items" doc:"each name once"`
	Complete bool           `json:"complete,omitempty" doc:"recordings of this origin that are not among the items are gone"`
}

// CuratedItems is the response to putting recordings.
type CuratedItems struct {
	catalog.Curated
	Origin string   `json:"origin" doc:"id"`
	IDs    []string `json:"ids" doc:"in the order of the items"`
}
