package types

// OctetType is the media type of Octets.
const OctetType = "application/octet-stream"

// Octets is a body that is no JSON.
type Octets []byte
