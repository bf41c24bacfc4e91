package models

import "regexp"

// RealmForm tells people which names realms may have.
const RealmForm = "1 to 40 lower-case letters, digits and underscores, beginning with a letter"

var realmName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)

// ValidRealm reports whether name can be that of a realm: the coordinators that serve in turn from one database. It is
// a part of names in the database, and needs no quotes there.
func ValidRealm(name string) bool { return realmName.MatchString(name) }
