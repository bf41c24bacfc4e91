// Package space has the spaces of gospace under the names of goSpace's package space.
//
// All types are those of package gospace. The methods Raw… return a state in place of an error,
// which NewSpaceError interprets.
//
// Programs that import only github.com/pspaces/gospace do not need it.
package space

import "leasehold/gospace"

// The types of package gospace.
type (
	Space      = gospace.Space
	SpaceError = gospace.SpaceError
)

// The numbers of goSpace's messages about errors.
const (
	SpaceInvalid = iota
	SpaceNoErrorMethod
	SpaceOperationFailed
)

// Interspace is the operations on a space.
type Interspace interface {
	Put(tuple ...interface{}) (gospace.Tuple, error)
	Get(template ...interface{}) (gospace.Tuple, error)
	Query(template ...interface{}) (gospace.Tuple, error)
	PutP(tuple ...interface{}) (gospace.Tuple, error)
	GetP(template ...interface{}) (gospace.Tuple, error)
	QueryP(template ...interface{}) (gospace.Tuple, error)
	GetAll(template ...interface{}) ([]gospace.Tuple, error)
	QueryAll(template ...interface{}) ([]gospace.Tuple, error)
}

// Interstar is the aggregations on a space.
type Interstar interface {
	PutAgg(function interface{}, template ...interface{}) (gospace.Tuple, error)
	GetAgg(function interface{}, template ...interface{}) (gospace.Tuple, error)
	QueryAgg(function interface{}, template ...interface{}) (gospace.Tuple, error)
}

// Interstellar is the operations with a state in place of an error.
type Interstellar interface {
	RawPut(tuple ...interface{}) (interface{}, interface{})
	RawGet(template ...interface{}) (interface{}, interface{})
	RawQuery(template ...interface{}) (interface{}, interface{})
	RawPutP(tuple ...interface{}) (interface{}, interface{})
	RawGetP(template ...interface{}) (interface{}, interface{})
	RawQueryP(template ...interface{}) (interface{}, interface{})
	RawGetAll(template ...interface{}) (interface{}, interface{})
	RawQueryAll(template ...interface{}) (interface{}, interface{})
}

// Intercellestial is the aggregations with a state in place of an error.
type Intercellestial interface {
	RawPutAgg(function interface{}, template ...interface{}) (interface{}, interface{})
	RawGetAgg(function interface{}, template ...interface{}) (interface{}, interface{})
	RawQueryAgg(function interface{}, template ...interface{}) (interface{}, interface{})
}

// NewSpace is gospace.NewSpace.
func NewSpace(url string, policy ...*gospace.ComposablePolicy) Space {
	return gospace.NewSpace(url, policy...)
}

// NewRemoteSpace is gospace.NewRemoteSpace.
func NewRemoteSpace(url string) Space { return gospace.NewRemoteSpace(url) }

// NewSpaceError is gospace.NewSpaceError.
func NewSpaceError(s *Space, value, state interface{}) error {
	return gospace.NewSpaceError(s, value, state)
}
