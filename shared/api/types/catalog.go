package types

import (
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// Listing is the body of catalog.Curate.
type Listing struct {
	Origin string    `json:"origin" doc:"id" schema:"id"`
	At     time.Time `json:"at"`
	catalog.Listing
}

// Audio is the response of catalog.AudioToCheck, and the body of catalog.AudioChecked.
type Audio struct {
	At    time.Time      `json:"at,omitzero" doc:"when the audio was checked"`
	Items []models.Audio `json:"items"`
}

// Replaced is the response of catalog.AudioChecked.
type Replaced struct {
	Replaced int `json:"replaced" doc:"number of episodes to be researched again"`
}

// Retry is the body of POST /problems/retry: the recordings to try again.
type Retry struct {
	Origin  string `json:"origin,omitempty" doc:"id; only its recordings"`
	Episode string `json:"episode,omitempty" doc:"id; only this episode"`
	Clip    string `json:"clip,omitempty" doc:"id; only this clip"`
	Lasting bool   `json:"lasting,omitempty" doc:"also recordings whose content or research failed; without it, only those that could not be fetched"`
}

// Retried is the response of POST /problems/retry.
type Retried struct {
	Recordings int `json:"recordings" doc:"number of episodes and clips that are tried again"`
}

// Selection is the body of catalog.Select.
type Selection struct {
	Busy []catalog.Busy `json:"busy,omitempty" doc:"pairs that are not selected"`
	catalog.Limits
}

// Selected is the response of catalog.Select.
type Selected struct {
	Research models.Research `json:"research"`
	Priority int64           `json:"priority"`
}

// Ingestion is the body of catalog.Ingest.
type Ingestion struct {
	Result models.Researched `json:"result"`
	At     time.Time         `json:"at"`
}
