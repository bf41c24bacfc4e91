package apitypes

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

// Selection is the body of catalog.Select.
type Selection struct {
	Busy  []catalog.Busy `json:"busy,omitempty" doc:"pairs that are not selected"`
	Limit int            `json:"limit" doc:"maximum number of clips"`
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
