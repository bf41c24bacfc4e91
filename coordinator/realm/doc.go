// Package realm keeps what the coordinators of one realm share in its database beside the spaces and the catalog: who
// they are and where they can be reached, and the files of their identity. Each coordinator may read and write it,
// whether it serves or stands by.
//
// The tables are in the schema leasehold_NAME of the database, as all tables of the realm.
package realm
