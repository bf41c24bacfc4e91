package access

import (
	"context"
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// Identity is who makes a request. The zero Identity is a client that has shown neither a token nor a certificate.
type Identity struct {
	// ID is "token-…" or "peer-…", and unique; empty: there is none. Sessions belong to it.
	ID string
	// Name is what a person called the token or the process; it need not be unique.
	Name  string
	Roles Roles
	// Spaces are the prefixes of the application spaces that may be used; none: all.
	Spaces []string
}

// Everybody is the identity of every client of a coordinator that does not authenticate them.
var Everybody = Identity{ID: "everybody", Roles: Any}

// Check refuses what needs other roles than those of the identity, and returns nil otherwise. what names the request.
// The error is fault.ErrUnauthenticated for a client without an identity, else fault.ErrForbidden.
func (i Identity) Check(what string, need Roles) error {
	switch {
	case i.Roles.Meet(need):
		return nil
	case need == None:
		return fmt.Errorf("%s: %w: only the coordinator itself does it", what, fault.ErrForbidden)
	case i.ID == "":
		return fmt.Errorf("%s: %w: it needs the role %s; send a token", what, fault.ErrUnauthenticated, orRoles(need))
	}
	return fmt.Errorf("%s: %w: it needs the role %s, and %s has %s", what, fault.ErrForbidden, orRoles(need), i, i.Roles)
}

// CheckSpace refuses an application space that the identity may not use, with fault.ErrForbidden.
func (i Identity) CheckSpace(name string) error {
	if len(i.Spaces) == 0 {
		return nil
	}
	for _, prefix := range i.Spaces {
		if strings.HasPrefix(name, prefix) {
			return nil
		}
	}
	return fmt.Errorf("space %.100q: %w: %s may use only spaces that begin with %s", name, fault.ErrForbidden, i, strings.Join(i.Spaces, " or "))
}

// String returns the id with the name, as errors and the audit have it.
func (i Identity) String() string {
	if i.Name == "" {
		return i.ID
	}
	return fmt.Sprintf("%s (%s)", i.ID, i.Name)
}

func orRoles(need Roles) string { return strings.Join(need.Names(), " or ") }

type key struct{}

// In returns a context of a request that an identity makes.
func In(ctx context.Context, i Identity) context.Context { return context.WithValue(ctx, key{}, i) }

// Of returns the identity that makes the request of a context; the zero Identity if it has none.
func Of(ctx context.Context) Identity {
	i, _ := ctx.Value(key{}).(Identity)
	return i
}
