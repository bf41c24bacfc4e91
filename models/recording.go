package models

import "time"

// MediaRef says where a recording's sound is and how to know it again. Content
// never travels by value.
type MediaRef struct {
	URI  string `json:"uri"`            // http(s)://…, or file:///… on this machine
	Type string `json:"type,omitempty"` // MIME type as the origin gave it, perhaps wrong
	// Version changes when the content may have: size and time of a file, length
	// and date of an enclosure. It is compared for equality only.
	Version string `json:"version,omitempty"`
	Hash    string `json:"hash,omitempty"` // "sha256:" and 64 hex digits, once known
}

// Recording is what episodes and clips have in common.
type Recording struct {
	ID       string   `json:"id"` // NewID(origin, name)
	Origin   string   `json:"origin"`
	Name     string   `json:"name"` // unique within the origin: a GUID, or a path relative to its folder
	Title    string   `json:"title"`
	Priority int64    `json:"priority"`
	Media    MediaRef `json:"media"`

	FirstCurated time.Time `json:"first_curated"` // kept for ever
	LastCurated  time.Time `json:"last_curated"`  // moved by each visit that lists it
}

// Episode is a long recording.
type Episode struct {
	Recording
	Aired time.Time `json:"aired,omitzero"`
}

// Clip is a short recording that may occur in episodes.
type Clip struct {
	Recording
}

// Finding says that a clip is played in an episode.
type Finding struct {
	Episode  string  `json:"episode"` // id
	Clip     string  `json:"clip"`    // id
	Offset   Seconds `json:"offset_s"`
	Duration Seconds `json:"duration_s"`
	Score    float64 `json:"score"` // 0 to 1
	// Coverage is the share of the clip that is found there, above 0 to 1, and Speed 1.01 if
	// it is played 1 % faster. Both are 0 where nobody told them: in findings of before they
	// were kept, and in those of an older worker.
	Coverage float64 `json:"coverage,omitempty"`
	Speed    float64 `json:"speed,omitempty"`
}

// Problem is an input that cannot be done, and why. It names an origin, and in
// it an item that could not be curated; or an episode, a clip, or one clip in
// one episode.
type Problem struct {
	Origin  string    `json:"origin,omitempty"`
	Item    string    `json:"item,omitempty"`    // what the origin calls it; for people
	Episode string    `json:"episode,omitempty"` // id
	Clip    string    `json:"clip,omitempty"`    // id
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}
