// Package mux lets several gates share one port: it recognises the protocol of each
// connection by its first bytes, and passes the connection to the gate that speaks it.
//
//	0x16 0x03          TLS
//	GET, POST … ␠      HTTP
//	{                  JSON (gate pspace)
//	LSHD               frames of the native gate
//	anything else      gob (gate gospace): its first byte is a length, also one like G
//
// Invariants: a connection whose protocol is not recognised within Config.Timeout is closed;
// of too many such connections the oldest is closed for a new one. A protocol that no
// gate of the port speaks is refused with an answer in that protocol. The gate receives all
// bytes.
package mux
