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
	Other // none of these
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
// short, and Other if it begins like none. Blanks may precede JSON only.
func Recognise(head []byte) Protocol {
	text := bytes.TrimLeft(head, " \t\r\n")
	if len(text) == 0 && len(head) < longest {
		return Unknown
	}
	if len(text) > 0 && text[0] == '{' {
		return JSON
	}
	protocol := recogniseGob(head)
	for _, b := range beginnings {
		if bytes.HasPrefix(head, []byte(b.bytes)) {
			return b.protocol
		}
		if bytes.HasPrefix([]byte(b.bytes), head) {
			protocol = Unknown // it may become b.protocol
		}
	}
	return protocol
}

// recogniseGob returns Gob for the beginning of a client of goSpace: the length of a message, and the number of the
// type that the message defines, which is -64 or less. Both are in gob's form: a byte below 128, or
// the number of bytes that follow, negated. A message of a type has less than 64 KiB.
func recogniseGob(head []byte) Protocol {
	const (
		lastOneByte = 0x7f // also -64, the first type of a program
		oneByte     = 0xff // follows
		twoBytes    = 0xfe // follow
	)
	if len(head) == 0 {
		return Unknown
	}
	size := 1
	switch {
	case head[0] == oneByte:
		size = 2
	case head[0] == twoBytes:
		size = 3
	case head[0] > lastOneByte || head[0] == 0:
		return Other
	}
	switch {
	case len(head) <= size:
		return Unknown
	case head[size] == lastOneByte || head[size] == oneByte || head[size] == twoBytes:
		return Gob
	}
	return Other
}
