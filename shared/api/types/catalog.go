package types

import (
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// Listing is the body of catalog.Curate.
type Listing struct {
	Origin string    `json:"origin" doc:"id"`
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
