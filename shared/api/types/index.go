package types

import "time"

// BlobIDs is a list of blobs, by their hashes.
type BlobIDs struct {
	IDs []string `json:"ids" doc:"hashes of blobs as git computes them" schema:"items: oid"`
}

// SegmentState is how much of a segment was received.
type SegmentState struct {
	Received int64 `json:"received" doc:"bytes"`
}

// SegmentPart is a part of a segment in JSON.
type SegmentPart struct {
	Offset int64  `json:"offset" doc:"bytes before the part" schema:"minimum: 0"`
	Data   []byte `json:"data" doc:"base64"`
}

// SegmentCommit ends the upload of a segment.
type SegmentCommit struct {
	Batch string `json:"batch" doc:"id, for messages"`
}

// Generation is the list of all files of a repository.
type Generation struct {
	ID    string           `json:"id" doc:"of the origin" schema:"id"`
	Repo  string           `json:"repo" doc:"name that results show, at most 1024 bytes" schema:"minLength: 1, maxLength: 1024"`
	Refs  []GenerationRef  `json:"refs"`
	Files []GenerationFile `json:"files"`
}

// GenerationState is what a manager asks of an origin that has not changed.
type GenerationState struct {
	Complete bool `json:"complete" doc:"it was published, and no file of it was lost"`
}

// GenerationRef is an indexed branch.
type GenerationRef struct {
	Name   string    `json:"name" schema:"minLength: 1, maxLength: 1024"`
	Commit string    `json:"commit"`
	Time   time.Time `json:"time,omitzero"`
}

// GenerationFile is a file of a branch.
type GenerationFile struct {
	Ref      int    `json:"ref" doc:"index in refs" schema:"minimum: 0"`
	Path     []byte `json:"path" schema:"gitPath" doc:"base64 of 1 to 4098 bytes, because a path may have any bytes"`
	OID      string `json:"oid" schema:"oid"`
	Vendored bool   `json:"vendored,omitempty"`
}
