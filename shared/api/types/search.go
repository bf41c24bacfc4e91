package types

// SearchLine is one line of the answer of a search: a match, or how the search ended, or
// the error that ended it. Exactly one field is set, and the last line has no match.
type SearchLine struct {
	Match *CodeMatch `json:"match,omitempty"`
	Done  *SearchEnd `json:"done,omitempty"`
	Error *Problem   `json:"error,omitempty"`
}

// CodeMatch is a line of a file that matches a query, or a file that its filters select.
type CodeMatch struct {
	Repo   string      `json:"repo" doc:"name"`
	RepoID string      `json:"repo_id" doc:"id of the origin"`
	Refs   []string    `json:"refs" doc:"branches in which the file has this content"`
	Commit string      `json:"commit" doc:"of the first branch"`
	Branch string      `json:"branch,omitempty" doc:"the first of refs, if the repository has indexed branches in which the file has not this content"`
	Path   string      `json:"path"`
	OID    string      `json:"oid" doc:"hash of the content, as git computes it"`
	Lang   string      `json:"lang,omitempty" doc:"language"`
	Line   int         `json:"line" doc:"from 1; 0 if the file matches by its path or by filters only"`
	Text   string      `json:"text" doc:"of the line, at most 1024 bytes around the first match"`
	Column int         `json:"column,omitempty" doc:"bytes of the line before text"`
	Ranges []CodeRange `json:"ranges,omitempty" doc:"parts of text that match"`
	Before []string    `json:"before,omitempty" doc:"lines before"`
	After  []string    `json:"after,omitempty" doc:"lines after"`
	Symbol *CodeSymbol `json:"symbol,omitempty" doc:"definition in this line that matches"`
	Score  float64     `json:"score" doc:"higher is better; only the first 50 are ordered by it"`
}

// CodeRange is a part of a text, in bytes.
type CodeRange struct {
	Start int `json:"start"`
	End   int `json:"end"`
}

// CodeSymbol is a definition.
type CodeSymbol struct {
	Name      string `json:"name"`
	Kind      string `json:"kind" doc:"such as func, method, type or class"`
	Scope     string `json:"scope,omitempty" doc:"enclosing type or package"`
	Line      int    `json:"line"`
	End       int    `json:"end" doc:"last line"`
	Signature string `json:"signature,omitempty"`
	Approx    bool   `json:"approx,omitempty" doc:"found by a rule, not by a parser"`
}

// SymbolPlace is a definition and where it is.
type SymbolPlace struct {
	CodeSymbol
	Repo   string `json:"repo" doc:"name"`
	Path   string `json:"path"`
	Branch string `json:"branch,omitempty" doc:"the first branch, if the repository has indexed branches in which the file has not this content"`
}

// CodeRepository is an indexed repository.
type CodeRepository struct {
	Repo  string          `json:"repo" doc:"name"`
	ID    string          `json:"id" doc:"of the origin"`
	Refs  []GenerationRef `json:"refs" doc:"indexed branches"`
	Files int             `json:"files"`
	Lost  int             `json:"lost,omitempty" doc:"files that were lost with a damaged part of the index; the next visit indexes them again"`
}

// FilePlace names lines of an indexed file: by repository and path, or by the hash of its
// content, which does not change with the repository.
type FilePlace struct {
	Repo string // id, name or the end of the name
	Path string
	Ref  string // branch; empty: any
	OID  string // empty: the content that the branch has now

	From, Lines int // lines that are read: from 1
}

// CodeFile is lines of an indexed file.
type CodeFile struct {
	Repo   string   `json:"repo"`
	Path   string   `json:"path"`
	OID    string   `json:"oid" doc:"hash of the content, as git computes it"`
	Commit string   `json:"commit,omitempty" doc:"of the branch; absent if the file was named by its hash"`
	Lang   string   `json:"lang,omitempty" doc:"language"`
	From   int      `json:"from" doc:"number of the first of lines"`
	Total  int      `json:"total" doc:"lines of the file"`
	Lines  []string `json:"lines" doc:"each at most 1024 bytes"`
}

// SearchQuery selects matches of a search of code.
type SearchQuery struct {
	Query   string
	Offset  int  // matches that are left out first
	Limit   int  // maximum number of matches from there
	Context int  // lines before and after each match
	Facets  bool // whether matches are counted by repository, language and folder
}

// SearchEnd is how a search ended.
type SearchEnd struct {
	Matches  int            `json:"matches" doc:"in this answer"`
	Files    int            `json:"files" doc:"with a match"`
	Repos    int            `json:"repos" doc:"searched"`
	Skipped  map[string]int `json:"skipped,omitempty" doc:"files that are not indexed, by reason"`
	RankedOf int            `json:"ranked_of,omitempty" doc:"the best 50 are those of the first N matches that were found, because time or memory did not allow to rank all; absent: of all"`
	Stopped  string         `json:"stopped,omitempty" doc:"limit, time or memory: what ended the search early; with limit, there are more matches"`
	Hints    []string       `json:"hints,omitempty" doc:"why nothing can match, such as a filter with an unknown language, and the nearest name; also exclusions that exclude nothing"`
	Elapsed  float64        `json:"elapsed_s"`
	Facets   *CodeFacets    `json:"facets,omitempty" doc:"counts of matches, if the request asks for them"`

	Incomplete bool `json:"incomplete,omitempty" doc:"the search was not over everything, because files of the index are missing"`
	Missing    int  `json:"missing,omitempty" doc:"missing files of the index: segments and lists of files"`
	Fetching   bool `json:"fetching,omitempty" doc:"the repositories of the missing files are visited again; absent: the files are missing for good"`
}

// CodeFacets has how many matches of a search are in which repository, language and folder. Each list has at most 20
// values, the most frequent first.
type CodeFacets struct {
	Of      int         `json:"of" doc:"matches that were counted: the first 10,000, those outside of offset and limit included"`
	All     bool        `json:"all" doc:"these are all matches"`
	Repos   []CodeFacet `json:"repos" doc:"by name of the repository"`
	Langs   []CodeFacet `json:"langs" doc:"by language; files without a known one are left out"`
	Folders []CodeFacet `json:"folders" doc:"by folder directly below the deepest folder that has all matches; each ends with a slash"`
}

// CodeFacet is a number of matches.
type CodeFacet struct {
	Value   string `json:"value"`
	Matches int    `json:"matches"`
}

// IndexedFile is a file of a repository, indexed or skipped.
type IndexedFile struct {
	Repo       string   `json:"repo" doc:"name"`
	Refs       []string `json:"refs" doc:"branches"`
	Path       string   `json:"path"`
	OID        string   `json:"oid"`
	Lang       string   `json:"lang,omitempty" doc:"language"`
	Bytes      int64    `json:"bytes"`
	Lines      int      `json:"lines"`
	Code       int      `json:"code" doc:"lines with code"`
	Comment    int      `json:"comment" doc:"lines with comments only"`
	Complexity int      `json:"complexity" doc:"tokens that branch, and one"`
	Generated  bool     `json:"generated,omitempty"`
	Vendored   bool     `json:"vendored,omitempty" doc:"a copy of another project's file"`
	Skipped    string   `json:"skipped,omitempty" doc:"reason why it is not indexed"`
}

// ReportQuery selects the report of one repository.
type ReportQuery struct {
	Repo  string // id, name, or the end of the name; empty: every repository
	Limit int    // maximum number of functions, and of files
	Tests bool   // whether tests are listed too
}

// CodeReport describes a repository's code.
type CodeReport struct {
	Repo      string           `json:"repo" doc:"name; empty: every repository"`
	ID        string           `json:"id" doc:"of the origin; empty: every repository"`
	Files     int              `json:"files" doc:"number of files"`
	Skipped   map[string]int   `json:"skipped,omitempty" doc:"files that are not indexed, by reason"`
	LeftOut   int              `json:"tests_left_out" doc:"files that are tests, if they are not asked for: functions and complex are without them"`
	Functions []FunctionReport `json:"functions" doc:"by score, the highest first"`
	Complex   []IndexedFile    `json:"complex" doc:"files by complexity, the highest first"`
	Languages []LanguageReport `json:"languages" doc:"by lines of code, the most first"`
}

// FunctionReport is the size of a function of Go.
type FunctionReport struct {
	Repo     string  `json:"repo" doc:"name"`
	Path     string  `json:"path"`
	Line     int     `json:"line"`
	Function string  `json:"function"`
	Receiver string  `json:"receiver,omitempty" doc:"type of a method"`
	A        int     `json:"a" doc:"assignments"`
	B        int     `json:"b" doc:"branches: calls"`
	C        int     `json:"c" doc:"conditions"`
	Score    float64 `json:"score" doc:"sqrt(a² + b² + c²)"`
	ABCSeed  float64 `json:"abc_seed" doc:"score as the first indexer counted it"`
}

// LanguageReport is the lines of one language.
type LanguageReport struct {
	Lang    string `json:"lang" doc:"empty: unknown"`
	Files   int    `json:"files"`
	Lines   int    `json:"lines"`
	Code    int    `json:"code"`
	Comment int    `json:"comment"`
}
