package types

// Page is part of a list.
type Page[T any] struct {
	Items   []T `json:"items"`
	Total   int `json:"total" doc:"number of items in the whole list"`
	Omitted int `json:"omitted,omitempty" doc:"items of this part that are too large to be shown"`
}

// Problem is an error response (RFC 9457, application/problem+json).
type Problem struct {
	Type   string    `json:"type" doc:"urn:leasehold:problem:CODE"`
	Title  string    `json:"title"`
	Status int       `json:"status"`
	Code   ErrorCode `json:"code" doc:"the kind of error"`
	Detail string    `json:"detail,omitempty" doc:"what happened, with which value, and what to do"`
	Owner  string    `json:"owner,omitempty" doc:"from a coordinator that stands by: the URL of the one that serves"`
}

// ErrorCode is the code of an error kind in the table of package fault (fault.FromCode).
type ErrorCode string
