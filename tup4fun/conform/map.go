package conform

import "leasehold/tup4fun/syntax"

// MaxMap is how many bytes of a map are read.
const MaxMap = 1 << 20

// Map says what the events of a log are in a model.
type Map struct {
	File      string
	Constants map[string]int64  // of the model, with other values
	Instance  []string          // variables whose values name an instance
	Numbered  map[string]string // variables whose values are numbered, and with which others
	Rules     []*Rule
}

// Rule says what the events that it covers are. The first rule that covers an
// event counts.
type Rule struct {
	Pos     syntax.Pos
	Event   Pattern
	By      string   // process of the model; "": any
	Copy    string   // variable of the event that says which copy; "": any
	Nobody  bool     // there is no session
	Actions []Action // none: the event is ignored
	Never   bool     // or it must not happen

	observed []observed // once resolved
}

// Pattern covers events. What is empty says nothing.
type Pattern struct {
	Operations []string // or "any"
	Place      string   // visible or held: where the tuple was before
	Space      string
	Before     []Field // what the tuple was before
	Tuple      []Field // and is after the event
	Results    []string
	Procedures []string
	Role       string // of the session
	Serial     string // variable for the rest of the session's name
}

// FieldKind is what a Field of a pattern, or of an action, is.
type FieldKind uint8

// The fields.
const (
	Any FieldKind = iota
	Name
	Text
	Number
)

// Field is one field of a pattern or of an action: _, a variable (in an action
// also a constant or symbol of the model), "text", or a number. true is 1 and
// false 0.
type Field struct {
	Pos   syntax.Pos
	Kind  FieldKind
	Text  string
	Value int64
}

// Action is one operation of the model.
type Action struct {
	Pos    syntax.Pos
	Space  string
	Verb   string // put, get or query
	Fields []Field
}
