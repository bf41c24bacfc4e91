// Package auth authenticates the clients of a coordinator: processes of the fleet by the certificate of their
// connection, programs and people by a token, and a browser by the cookie that it got for a token. It also lets
// processes join by an invite and renew their certificates, and ends what a revoked one still has.
package auth
