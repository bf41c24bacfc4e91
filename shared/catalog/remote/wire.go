package remote

import (
	"time"

	"leasehold/models"
	"leasehold/shared/catalog"
)

// The documents that the API and its client exchange. What the API shows to
// everybody (Finding, Problem, Totals) has the field names of docs/json.md.

// Finding is a finding with the names that people know.
type Finding struct {
	Episode    string         `json:"episode"` // title
	Clip       string         `json:"clip"`    // title
	Offset     models.Seconds `json:"offset_s"`
	Duration   models.Seconds `json:"duration_s"`
	Score      float64        `json:"score"`
	Coverage   float64        `json:"coverage,omitempty"`
	Speed      float64        `json:"speed,omitempty"`
	EpisodeID  string         `json:"episode_id"`
	ClipID     string         `json:"clip_id"`
	EpisodeURI string         `json:"episode_uri"`
	Within     string         `json:"within,omitempty"` // title
	WithinID   string         `json:"within_id,omitempty"`
}

// NewFinding returns the document of a finding.
func NewFinding(f catalog.Found) Finding {
	return Finding{
		Episode: f.EpisodeTitle, Clip: f.ClipTitle, Offset: f.Offset, Duration: f.Duration, Score: f.Score,
		Coverage: f.Coverage, Speed: f.Speed, EpisodeID: f.Episode, ClipID: f.Clip, EpisodeURI: f.EpisodeURI,
		Within: f.WithinTitle, WithinID: f.Within,
	}
}

// Found returns the finding of a document.
func (f Finding) Found() catalog.Found {
	return catalog.Found{
		Finding: models.Finding{
			Episode: f.EpisodeID, Clip: f.ClipID, Offset: f.Offset, Duration: f.Duration, Score: f.Score,
			Coverage: f.Coverage, Speed: f.Speed,
		},
		EpisodeTitle: f.Episode, EpisodeURI: f.EpisodeURI, ClipTitle: f.Clip,
		WithinTitle: f.Within, Within: f.WithinID,
	}
}

// Problem is a problem with the names that people know.
type Problem struct {
	Reason    string    `json:"reason"`
	At        time.Time `json:"at"`
	Origin    string    `json:"origin,omitempty"` // URI
	Item      string    `json:"item,omitempty"`
	Episode   string    `json:"episode,omitempty"` // title
	Clip      string    `json:"clip,omitempty"`    // title
	OriginID  string    `json:"origin_id,omitempty"`
	EpisodeID string    `json:"episode_id,omitempty"`
	ClipID    string    `json:"clip_id,omitempty"`
}

// NewProblem returns the document of a problem.
func NewProblem(p catalog.Problem) Problem {
	return Problem{
		Reason: p.Reason, At: p.At, Origin: p.OriginURI, Item: p.Item, Episode: p.EpisodeTitle, Clip: p.ClipTitle,
		OriginID: p.Origin, EpisodeID: p.Problem.Episode, ClipID: p.Problem.Clip,
	}
}

// Problem returns the problem of a document.
func (p Problem) Problem() catalog.Problem {
	return catalog.Problem{
		Problem:   models.Problem{Origin: p.OriginID, Item: p.Item, Episode: p.EpisodeID, Clip: p.ClipID, Reason: p.Reason, At: p.At},
		OriginURI: p.Origin, EpisodeTitle: p.Episode, ClipTitle: p.Clip,
	}
}

// Totals is catalog.Totals.
type Totals struct {
	Origins    int `json:"origins"`
	Episodes   int `json:"episodes"`
	Clips      int `json:"clips"`
	Findings   int `json:"findings"`
	Problems   int `json:"problems"`
	Researched int `json:"researched"`
}

// Listing is catalog.Listing, and whose and when.
type Listing struct {
	Origin   string           `json:"origin"`
	At       time.Time        `json:"at"`
	Episodes []models.Episode `json:"episodes,omitempty"`
	Clips    []models.Clip    `json:"clips,omitempty"`
	Problems []models.Problem `json:"problems,omitempty"`
	Complete bool             `json:"complete,omitempty"`
}

// Curated is catalog.Curated.
type Curated struct {
	New     int `json:"new"`
	Changed int `json:"changed"`
	Gone    int `json:"gone"`
}

// Selection asks what to research next.
type Selection struct {
	Busy  []Pairs `json:"busy,omitempty"`
	Limit int     `json:"limit"`
}

// Pairs are some clips in one episode.
type Pairs struct {
	Episode string   `json:"episode"`
	Clips   []string `json:"clips,omitempty"`
}

// Selected is what to research next.
type Selected struct {
	Research models.Research `json:"research"`
	Priority int64           `json:"priority"`
}

// Ingestion is a result of research, and when it came.
type Ingestion struct {
	Result models.Researched `json:"result"`
	At     time.Time         `json:"at"`
}

// Added says whether an origin is new.
type Added struct {
	New bool `json:"new"`
}
