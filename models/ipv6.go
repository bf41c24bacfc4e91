package models

// ipv6Pattern is a regular expression of an IPv6 address in brackets, as a host in a URL (RFC 3986, section 3.2.2):
// eight groups, or fewer with :: once. The last two may be an IPv4 address behind six groups, or behind :: and groups
// on one side of it.
const ipv6Pattern = `\[(` +
	groupColon + `{7}` + group + `|` +
	groupColon + `{1,7}:|` +
	groupColon + `{1,6}` + colonGroup + `|` +
	groupColon + `{1,5}` + colonGroup + `{1,2}|` +
	groupColon + `{1,4}` + colonGroup + `{1,3}|` +
	groupColon + `{1,3}` + colonGroup + `{1,4}|` +
	groupColon + `{1,2}` + colonGroup + `{1,5}|` +
	groupColon + colonGroup + `{1,6}|` +
	`:(` + colonGroup + `{1,7}|:)|` +
	groupColon + `{6}` + ipv4 + `|` +
	`::` + groupColon + `{0,5}` + ipv4 + `|` +
	groupColon + `{1,5}:` + ipv4 +
	`)\]`

// Parts of ipv6Pattern.
const (
	group      = `[0-9A-Fa-f]{1,4}`
	groupColon = `(` + group + `:)`
	colonGroup = `(:` + group + `)`
	octet      = `(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])`
	ipv4       = `(` + octet + `\.){3}` + octet
)
