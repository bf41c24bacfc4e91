// Package authority is the certificate authority of a coordinator. It keeps the CA's key in the coordinator's data
// folder, issues the certificates of processes that join, presents the coordinator's own, and recognises the processes.
//
// The folder is made whole or not at all: a crash leaves either no authority or a complete one, because its fingerprint
// is in join lines and must not change. Times come from a function, because tests change them.
//
// Who may join, and which certificates are revoked, are not decided here.
package authority
