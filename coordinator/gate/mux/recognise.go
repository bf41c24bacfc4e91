package mux

import "bytes"

// Protocol is what a connection speaks.
type Protocol int

// The protocols.
const (
	Unknown Protocol = iota // more bytes are needed
	Native
	HTTP
	JSON
	Gob
	TLS
)

// longest is how many bytes are enough to recognise a protocol.
const longest = 8

// beginnings are the first bytes of the protocols that have fixed ones.
var beginnings = []struct {
	bytes    string
	protocol Protocol
}{
	{"LSHD", Native}, {"\x16\x03", TLS},
	{"GET ", HTTP}, {"HEAD ", HTTP}, {"POST ", HTTP}, {"PUT ", HTTP}, {"PATCH ", HTTP}, {"DELETE ", HTTP}, {"OPTIONS ", HTTP}, {"CONNECT ", HTTP}, {"TRACE ", HTTP}, {"PRI ", HTTP},
}

// Recognise returns the protocol of a connection that begins with head; Unknown if head is too
// short. Blanks may precede JSON only. What begins like no other protocol is Gob.
func Recognise(head []byte) Protocol {
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) == 0 && len(head) < longest {
		return Unknown
	}
	if len(text) > 0 && text[0] == '{' {
		return JSON
	}
	for _, b := range beginnings {
		if bytes.HasPrefix(head, []byte(b.bytes)) {
			return b.protocol
		}
		if bytes.HasPrefix([]byte(b.bytes), head) {
			return Unknown // it may become b.protocol
		}
	}
	return Gob
}
