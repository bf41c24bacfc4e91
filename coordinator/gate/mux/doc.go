// Package mux lets several gates share one port: it recognises the protocol of each
// connection by its first bytes, and passes the connection to the gate that speaks it.
//
//	0x16 0x03          TLS
//	GET, POST … ␠      HTTP
//	{                  JSON (gate pspace)
//	LSHD               frames of the native gate
//	a length, 0x7f, 0xfe or 0xff    gob (gate gospace); the length may look like a G
//
// Invariants: a connection that sends nothing is closed after Config.Timeout, or after 10 s if no gate of
// the port speaks JSON, because only jSpace connects long before its first request; one whose first bytes do
// not tell its protocol is refused 10 s after them. Of too many such connections the oldest is closed for
// a new one. A protocol that no gate of the port speaks is refused at once, with an answer in that
// protocol or a line of text that names what the port speaks; the log tells it once a minute for each
// peer. The gate receives all bytes.
package mux
