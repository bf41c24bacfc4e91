// Package access has the identities that make requests, and the roles that a request needs. Tokens and certificates
// prove an identity (coordinator/authority). The roles that each request needs are in one table for each door: the
// routes of the API (coordinator/api) and the operations of the spaces (coordinator/permission).
package access
