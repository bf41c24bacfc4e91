// Package pgrealm connects to a realm, which is a schema of a PostgreSQL database, and tells what the errors of the
// database mean. The journal, the tables of the catalog and the list of members keep what they have there.
package pgrealm
