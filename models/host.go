package models

import (
	"net/url"
	"strings"
)

// HostOf returns the host that a request of a URI loads, in lower case and without the port that its scheme implies; a
// path has none. Limits of hosts count by it.
func HostOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme == "" || u.Scheme == "file" {
		return ""
	}
	host := strings.ToLower(u.Host)
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		host = strings.TrimSuffix(host, port)
	}
	return host
}
