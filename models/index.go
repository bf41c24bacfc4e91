package models

// IndexBatch is the data of a task of index: a batch of files that a worker reads from
// the manager. It has neither names nor content, so that its size does not depend on them.
type IndexBatch struct {
	Repository string `json:"repository"` // id of the origin
	Batch      string `json:"batch"`      // id; the only part of the work-item
	// Content is the URL at which the manager that issued the batch serves its files.
	Content string `json:"content"`
	Files   int    `json:"files"`
	Bytes   int64  `json:"bytes"` // of all files
}

// Indexed is the body of a result of index.
type Indexed struct {
	Repository string `json:"repository"`
	Batch      string `json:"batch"`
	// Segment is the SHA-256 of the segment that the worker built and uploaded; empty if
	// every file of the batch was indexed before, or if the worker wrote the files to the index
	// itself: Batch and Files tell then what it wrote.
	Segment string `json:"segment,omitempty"`
	Files   int    `json:"files"`   // that were read
	Skipped int    `json:"skipped"` // of them, those with a reason not to be indexed
	// Unreadable are the files that the manager could not read.
	Unreadable []Unreadable `json:"unreadable,omitempty"`
	// Unreachable is the reason why the worker could not get the files from the manager,
	// which may be gone; empty otherwise. The batch is issued again if a manager needs it.
	Unreachable string `json:"unreachable,omitempty"`
	// Failed is the reason why no worker could do the task; empty otherwise.
	Failed string `json:"failed,omitempty"`
}

// Unreadable is a file that could not be read.
type Unreadable struct {
	OID    string `json:"oid"`
	Reason string `json:"reason"`
}

// Headers of a manager's list of a batch, with which a worker on the same machine reads the
// files from the mirror.
const (
	HeaderMirror = "Leasehold-Mirror" // path of the mirror, escaped as in a URL
	HeaderNonce  = "Leasehold-Nonce"  // text of a file in it, which proves that the worker sees the same folder
)

// BatchFile is one file of a batch, as the manager lists it to a worker.
type BatchFile struct {
	OID  string `json:"oid"`
	Path string `json:"path"`
	Size int64  `json:"size"`
	Skip string `json:"skip,omitempty"` // the reason why it is not read; empty if it is
}
