package types

import (
	"encoding/json"

	"leasehold/models"
)

// Space is a tuple space.
type Space struct {
	Name      string `json:"name"`
	Kind      string `json:"kind" doc:"sequential, queue, stack, pile, random or ordered"`
	Visible   int    `json:"visible" doc:"tuples that can be found"`
	Held      int    `json:"held" doc:"tuples that are held"`
	Capacity  int    `json:"capacity"`
	Overflow  string `json:"overflow" doc:"block or drop_oldest"`
	Volatile  bool   `json:"volatile"`
	QueryOnly bool   `json:"query_only" doc:"only the protocols write to it"`
}

// NewSpace is the body that creates a space.
type NewSpace struct {
	Name     string `json:"name" doc:"1 to 255 bytes" schema:"minLength: 1, maxLength: 255"`
	Kind     string `json:"kind,omitempty" doc:"sequential (if empty), queue, stack, pile, random or ordered" schema:"enum: ['', sequential, queue, stack, pile, random, ordered]"`
	OrderBy  int    `json:"order_by,omitempty" doc:"of an ordered space: index of the int64 field, 0 to 63" schema:"minimum: 0, maximum: 63"`
	Capacity int    `json:"capacity,omitempty" doc:"tuples; 0: 1000000" schema:"minimum: 0"`
	Overflow string `json:"overflow,omitempty" doc:"what a put into a full space does: block (if empty) or drop_oldest" schema:"enum: ['', block, drop_oldest]"`
	Volatile bool   `json:"volatile,omitempty" doc:"empty after a restart"`
}

// DeletedSpace is a space that was deleted.
type DeletedSpace struct {
	Name   string `json:"name"`
	Tuples int    `json:"tuples" doc:"that were deleted with it"`
}

// Tuple is a tuple, as a line and field by field.
type Tuple struct {
	Line   string  `json:"line" doc:"in the notation of the command line, which can be read back"`
	Fields []Field `json:"fields"`
	State  string  `json:"state,omitempty" enum:"visible,held" doc:"in a list"`
	Holder string  `json:"holder,omitempty" doc:"session"`
}

// Taken is a tuple that was taken.
type Taken struct {
	Line   string  `json:"line" doc:"in the notation of the command line, which can be read back"`
	Fields []Field `json:"fields"`
	Hold   string  `json:"hold,omitempty" doc:"with ack: the id by which it is acknowledged or given back"`
}

// Field is one field of a tuple: numbers and booleans as JSON's, bytes in base64, a nested
// tuple as a list of fields, NaN and infinities as strings. The value stays JSON, because a
// float64, into which JSON numbers are decoded, does not hold every int64.
type Field struct {
	Type  string          `json:"type" doc:"nil, bool, int, int32, int64, float32, float64, string, bytes, tuple or opaque:NAME"`
	Value json.RawMessage `json:"value" doc:"bytes in base64, a nested tuple as a list of fields, NaN and infinities as strings"`
}

// NewTuple is the body that puts a tuple.
type NewTuple struct {
	Tuple string         `json:"tuple" doc:"such as: note 'two words' 42 4.2 true int:1"`
	TTL   models.Seconds `json:"ttl_s,omitempty" doc:"how long it may stay; 0: until it is taken" schema:"minimum: 0, maximum: 31622400"`
}

// Transaction is the body that carries out operations on several spaces, all or none.
type Transaction struct {
	Operations []Operation    `json:"operations" doc:"1 to 64, carried out in order; each sees the effects of those before it" schema:"minItems: 1, maxItems: 64"`
	Wait       models.Seconds `json:"wait_s,omitempty" doc:"how long to wait until there is a match for each get, query and renew, at most 25" schema:"minimum: 0, maximum: 25"`
}

// Operation is one operation of a transaction.
type Operation struct {
	Kind     string         `json:"kind" enum:"get,query,absent,put,renew" doc:"get takes a match, query reads one, absent requires that no tuple matches, put adds a tuple, renew starts the time to live of a match again"`
	Space    string         `json:"space" schema:"minLength: 1, maxLength: 255"`
	Template string         `json:"template,omitempty" doc:"of all kinds but put, such as: note ?string 42"`
	Tuple    string         `json:"tuple,omitempty" doc:"of a put, such as: note x 42"`
	TTL      models.Seconds `json:"ttl_s,omitempty" doc:"of put and renew: how long the tuple may stay; 0: until it is taken" schema:"minimum: 0, maximum: 31622400"`

	_ struct{} `schema:"allOf: [{if: {properties: {kind: {const: put}}}, then: {properties: {template: {maxLength: 0}}}, else: {properties: {tuple: {maxLength: 0}}}}, {if: {properties: {kind: {enum: [get, query, absent]}}}, then: {properties: {ttl_s: {maximum: 0}}}}]"`
}

// Transacted is the answer to a transaction.
type Transacted struct {
	Tuples []Tuple `json:"tuples" doc:"one for each operation: the match; the empty tuple for absent and put"`
}

// Lookup is the body that gets or queries one tuple.
type Lookup struct {
	Template string         `json:"template" doc:"such as: note ?string 42"`
	Wait     models.Seconds `json:"wait_s,omitempty" doc:"how long to wait for a match, at most 25" schema:"minimum: 0, maximum: 25"`
}

// Taking is the body that gets one tuple.
type Taking struct {
	Template string         `json:"template" doc:"such as: note ?string 42"`
	Wait     models.Seconds `json:"wait_s,omitempty" doc:"how long to wait for a match, at most 25" schema:"minimum: 0, maximum: 25"`

	Ack  bool           `json:"ack,omitempty" doc:"hold the tuple until it is acknowledged (holds/{hold}/ack); it is back after hold_s, so that a client that dies loses nothing"`
	Hold models.Seconds `json:"hold_s,omitempty" doc:"with ack: how long the tuple is held, 1 to 600; 30 if absent or 0; without effect if ack is false" schema:"minimum: 0, maximum: 600, not: {exclusiveMinimum: 0, exclusiveMaximum: 1}"`

	_ struct{} `needs:"hold_s=ack"`
}
