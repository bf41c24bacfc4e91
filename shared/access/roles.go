package access

import (
	"fmt"
	"strings"

	"leasehold/shared/fault"
)

// Roles is a set of roles: those that an identity has, or those that a request needs, any one of them.
type Roles uint8

// The roles. A producer may do what a reader may, and an admin what a producer may (With). Workers and managers have
// only what their protocols need.
const (
	Reader Roles = 1 << iota
	Producer
	Worker
	Manager
	Admin

	// None are the roles of a client without an identity. A request that needs None is made only by the coordinator.
	None Roles = 0
	// Fleet are the roles of processes that join.
	Fleet = Worker | Manager
	// Any are all roles: every client with an identity has one of them.
	Any = Reader | Producer | Fleet | Admin
	// Public is what a request needs that a client without an identity may make too.
	Public Roles = 1 << 7
)

// names are the names of the roles, in the order of their bits.
var names = []string{"reader", "producer", "worker", "manager", "admin"}

// With returns the roles with those that they include.
func (r Roles) With() Roles {
	if r&Admin != 0 {
		r |= Producer
	}
	if r&Producer != 0 {
		r |= Reader
	}
	return r
}

// Meet reports whether the roles, with those that they include, have one that is needed.
func (r Roles) Meet(need Roles) bool { return need == Public || r.With()&need != 0 }

// String returns the names, separated by commas: "reader,worker"; "none" or "public" for these.
func (r Roles) String() string {
	switch r {
	case None:
		return "none"
	case Public:
		return "public"
	}
	return strings.Join(r.Names(), ",")
}

// Names returns the names of the roles.
func (r Roles) Names() []string {
	all := []string{}
	for i, name := range names {
		if r&(1<<i) != 0 {
			all = append(all, name)
		}
	}
	return all
}

// ParseRoles returns the roles that a text names, separated by commas. It fails with fault.ErrInvalid for a name that
// is none, and for no name.
func ParseRoles(text string) (Roles, error) {
	var all Roles
	for name := range strings.SplitSeq(text, ",") {
		role, err := parseRole(strings.TrimSpace(name))
		if err != nil {
			return None, err
		}
		all |= role
	}
	return all, nil
}

func parseRole(name string) (Roles, error) {
	for i, known := range names {
		if name == known {
			return 1 << i, nil
		}
	}
	return None, fmt.Errorf("role %.40q: %w: want one of %s", name, fault.ErrInvalid, strings.Join(names, ", "))
}
