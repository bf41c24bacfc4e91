package conform

import "leasehold/tup4fun/syntax"

// MaxMap bounds the bytes of a map.
const MaxMap = 1 << 20

// Map translates the events of a log into actions of a model.
type Map struct {
	File      string
	Constants map[string]int64  // other values for constants of the model
	Settings  map[string]string // by constant: the setting of the log that has its value, if the log tells it
	Restarts  bool              // after a reload the model starts again, and the restored tuples are its first events
	Instance  []string          // variables with values that name an instance
	Earlier   string            // process that takes a step where the log lists an instance that it did not show before; "": none
	Names     map[string]string // by variable of Instance: the variable that it shares its names with
	Numbered  map[string]string // by variable with numbered values: the variable that it shares its numbers with
	Same      []string          // variables that keep their value in an instance
	Unique    []*Pattern        // of no two tuples in a space, the variables have equal values
	Durations []Duration        // how long tuples last
	After     []After           // conditions after transactions
	Ends      []string          // spaces of the model that are empty at the end of a complete log
	Forget    []string          // spaces of the model that are empty when an instance has ended; none: it never does
	Rules     []*Rule
}

// Rule translates the events that its pattern covers. The first rule that covers an event
// applies.
type Rule struct {
	Pos       syntax.Pos
	Event     Pattern
	By        string   // process of the model; "": any
	Copy      string   // variable of the event with the number of the copy; "": any
	NoSession bool     // the event has no session
	Input     *Action  // a tuple with values of the event, which the step takes first; nil: none
	Actions   []Action // none: the event is ignored
	Never     bool     // the event must not happen

	resolved []resolvedAction // set by resolve
	input    *resolvedAction
}

// Duration tells that a tuple ends after the time that is a setting of the log, in nanoseconds, if the log has it.
type Duration struct {
	Setting string
	Event   Pattern
}

// After tells which spaces of the model are empty or not after a transaction with an operation that a rule covers.
type After struct {
	Operation string
	Empty     bool
	Spaces    []string
}

// Pattern selects events. An empty field accepts any value.
type Pattern struct {
	Operations []string // or "any"
	Place      string   // visible, held, hidden or taken: the place of the tuple before the event
	Space      string
	Before     []Field // the tuple before the event
	Tuple      []Field // the tuple after the event
	Results    []string
	Procedures []string
	Written    []string // the procedures as the map writes them: names of lists are not replaced
	Role       string   // of the session
	Serial     string   // variable for the rest of the session's name
}

// FieldKind is the kind of a Field in a pattern or an action.
type FieldKind uint8

// The kinds of fields.
const (
	Any FieldKind = iota
	Name
	Text
	Number
)

// Field is one field of a pattern or of an action: _, a variable (in an action also a
// constant or symbol of the model), "text", or a number. true is 1 and false is 0.
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
