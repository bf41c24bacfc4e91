package models

import (
	"fmt"
	"time"
)

// MediaRef is the location of a recording's sound, and what identifies its content.
// Messages never carry the content itself.
type MediaRef struct {
	URI  string `json:"uri" doc:"http(s)://…, or file:///… on this machine"`
	Type string `json:"type,omitempty" doc:"MIME type as the origin gave it, which may be wrong"`
	// Version changes when the content may have: size and time of a file, length
	// and date of an enclosure. It is compared for equality only.
	Version string `json:"version,omitempty" doc:"changes when the content may have changed"`
	Hash    string `json:"hash,omitempty" doc:"sha256: and 64 hex digits, once known"`
	// Origin is set in tasks, because neither the URI nor a task has the user and password
	// that a server wants: the worker reads them from this origin (WithUserOf).
	Origin string `json:"origin,omitempty" doc:"id of the origin whose user and password the server wants; absent if it wants none"`
}

// Audio is what a server reports of the audio of an episode, without sending it.
type Audio struct {
	Episode  string `json:"episode" doc:"id"`
	URI      string `json:"uri"`
	ETag     string `json:"etag,omitempty"`
	Modified string `json:"modified,omitempty" doc:"Last-Modified"`
	Bytes    int64  `json:"bytes,omitempty" doc:"Content-Length; absent if the server did not report it"`
	Replaced bool   `json:"replaced,omitempty" doc:"the audio is not the one of the last check"`
	Silent   bool   `json:"silent,omitempty" doc:"the server answered this check with an error, or not at all; the other fields are of an earlier check"`
}

// Recording is the fields that episodes and clips share.
type Recording struct {
	ID       string `json:"id" doc:"derived from the origin and the name, so it is stable"`
	Origin   string `json:"origin" doc:"id"`
	Name     string `json:"name" schema:"minLength: 1" doc:"unique within the origin: a GUID, or a path relative to its folder"`
	Title    string `json:"title"`
	Priority int64  `json:"priority" doc:"higher is sooner"`
	// PrioritySet is ignored by Curate, which keeps a priority that was set.
	PrioritySet bool     `json:"priority_set,omitempty" doc:"an operator set the priority; visits do not change it"`
	Media       MediaRef `json:"media"`

	FirstCurated time.Time `json:"first_curated"` // never changes
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

// Finding is one occurrence of a clip in an episode.
type Finding struct {
	Episode string `json:"episode" doc:"id"`
	Clip    string `json:"clip" doc:"id"`
	Occurrence
}

// Occurrence is the fields that findings have in results, in the catalog and in the API.
type Occurrence struct {
	Offset   Seconds `json:"offset_s" schema:"minimum: 0" doc:"seconds from the start of the episode"`
	Duration Seconds `json:"duration_s" schema:"minimum: 0" doc:"seconds"`
	Score    float64 `json:"score" doc:"0 to 1"`
	// PartTo, Coverage and Speed are 0 if the worker or the catalog that wrote the finding is
	// of a version that did not have them.
	PartFrom Seconds `json:"part_from_s" schema:"minimum: 0" doc:"seconds of the clip at which the part that is found begins; 0 if it is the clip's start, or unknown"`
	PartTo   Seconds `json:"part_to_s,omitempty" schema:"minimum: 0" doc:"seconds of the clip at which that part ends; absent if unknown"`
	Coverage float64 `json:"coverage,omitempty" schema:"minimum: 0, maximum: 1" doc:"share of the clip that is found, 0 to 1; absent if unknown"`
	Speed    float64 `json:"speed,omitempty" schema:"minimum: 0" doc:"1.01 is 1 % faster than the clip; absent if unknown"`
}

// wholeCoverage is the coverage from which a finding counts as the whole clip: below it the
// search decides separately where the part begins and ends.
const wholeCoverage = 0.8

// Part prints the part of the clip found, such as "1.20–3.50 s"; "" if the clip is found from its start and to a
// coverage of 0.8 or more, or if the part is unknown.
func (o Occurrence) Part() string {
	if o.PartTo == 0 || o.PartFrom == 0 && o.Coverage >= wholeCoverage {
		return ""
	}
	return fmt.Sprintf("%.2f–%.2f s", float64(o.PartFrom), float64(o.PartTo))
}

// MaxPeaks is the maximum number of peaks of a waveform.
const MaxPeaks = 2000

// Waveform is how loud the parts of an episode are, for a picture of it.
type Waveform struct {
	Duration Seconds `json:"duration_s" doc:"seconds" schema:"exclusiveMinimum: 0"`
	Peaks    []byte  `json:"peaks" schema:"minLength: 4, maxLength: 2668" doc:"in base64: a byte for each of equal parts of the episode, at most 2000. It is the highest absolute value of its samples, 255 at full scale"`
}

// Problem is an input that cannot be processed, and the reason. It names an origin and
// an item of it that could not be curated; or an episode, a clip, or one clip in one
// episode.
type Problem struct {
	Origin  string    `json:"origin,omitempty"`
	Item    string    `json:"item,omitempty" doc:"the name that the origin gives it"`
	Episode string    `json:"episode,omitempty" doc:"id"`
	Clip    string    `json:"clip,omitempty" doc:"id"`
	Reason  string    `json:"reason"`
	At      time.Time `json:"at"`
}
