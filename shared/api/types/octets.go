package types

// OctetType is the media type of Octets.
const OctetType = "application/octet-stream"

// Octets is a body of bytes, without JSON.
type Octets []byte
