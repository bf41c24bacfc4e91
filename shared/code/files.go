package code

import "context"

// A FileInfo is a file of a repository's generation, with the description of its blob.
type FileInfo struct {
	RepoID   string
	Repo     string
	Refs     []string // those in which Path has this content, in the manifest's order
	Commit   string   // of the first of Refs
	Path     string
	OID      OID
	Vendored bool
	BlobInfo // of a blob that the index has lost, only Skipped is set
}

// A RepoInfo is a repository's generation.
type RepoInfo struct {
	ID    string
	Repo  string
	Refs  []Ref
	Files int // in all refs; a path with one content in several refs is one
	Lost  int // of Files, those whose blobs the index does not have any more
}

// A Lack is what an index should have and does not, because files of it were removed.
type Lack struct {
	Files []string   // names of the missing files
	Repos []RepoInfo // that searches do not see as a whole
}

// A Lister lists the repositories and their files. Its methods may be called concurrently.
type Lister interface {
	// Repos returns all repositories, by the order of their names.
	Repos(ctx context.Context) ([]RepoInfo, error)

	// Text returns the content of a blob. It fails with fault.ErrNotFound if it is not indexed, or
	// was skipped.
	Text(ctx context.Context, id OID) ([]byte, error)

	// Files calls visit for the files of the repositories that wanted accepts, by the order
	// of their names and paths, until visit returns false. functions reads the reports of the
	// file's functions, and must be called before visit returns. Each repository is listed as
	// one generation. If ctx ends, Files returns its cause.
	Files(ctx context.Context, wanted func(id, name string) bool, visit func(f FileInfo, functions func() []FunctionReport) bool) error
}
