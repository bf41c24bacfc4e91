package code

import "bytes"

// A Blob is file content with what was learned from it. What depends on the path is in
// File, because one blob may occur at several paths.
type Blob struct {
	OID     OID
	Content []byte // empty if Skipped; of a file in UTF-16, what DecodeUTF16 returns
	BlobInfo
	Symbols   []Symbol         // ordered by line
	Functions []FunctionReport // ordered by line
}

// BlobInfo describes a blob without its content.
type BlobInfo struct {
	Size       int64  // of the blob in the repository, in bytes
	Lang       string // name of the language as go-enry spells it; empty if unknown; see FileLang
	Lines      int    // all lines; Code, Comment and the blank ones
	Code       int
	Comment    int
	Complexity int // branches, counted by tokens
	Generated  bool
	Skipped    string // the reason why the content is not indexed; empty if it is
}

// A Symbol is a definition in a blob.
type Symbol struct {
	Name      string
	Kind      string // such as func, method, type, class, const, var
	Scope     string // the enclosing type or package; may be empty
	Line      int    // from 1
	End       int    // last line of the definition; Line if unknown
	Signature string // may be empty
	Approx    bool   // found by a rule, not by a parser
}

// A FunctionReport is the size of one function: assignments, branches and conditions.
type FunctionReport struct {
	Line     int // from 1
	Function string
	Receiver string // without pointer and type parameters; empty for a function
	A, B, C  int
	Score    float64 // the length of the vector (A, B, C)
	ABCSeed  float64 // the same, counted as the original indexer did
}

// Limits of indexed content. A blob past one of them is skipped with a reason.
const (
	MaxBlobBytes = 8 << 20 // of one blob
	MaxTrigrams  = 150_000 // distinct ones in one blob; more have encoded data, not text
)

// Reasons why a blob is not indexed; SkipReason and an index return them. Other reasons
// are allowed.
const (
	SkipTooLarge = "larger than 8 MiB"
	SkipBinary   = "binary (has a NUL byte)"
	SkipTrigrams = "more than 150000 distinct trigrams"
	SkipLost     = "lost with a damaged segment; the next visit of the repository indexes it again"
)

// SkipReason returns why a blob with this content is not indexed, or "" if it may be. It does
// not return SkipTrigrams: counting trigrams takes longer, so only an index does it.
func SkipReason(content []byte) string {
	switch {
	case len(content) > MaxBlobBytes:
		return SkipTooLarge
	case bytes.IndexByte(content, 0) >= 0:
		return SkipBinary
	}
	return ""
}
