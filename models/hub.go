package models

import (
	"net/url"
	"strings"
	"unicode"
)

// Hub is the WebSub hub that a feed names, and the topic under which the hub knows the feed. The zero Hub means that
// it names none.
type Hub struct {
	URL   string `json:"url,omitempty" doc:"of the hub, http(s), without a user and a fragment; absent: the feed names none" schema:"hub"`
	Topic string `json:"topic,omitempty" doc:"URL under which the hub knows the feed" schema:"hub"`

	_ struct{} `needs:"url=topic,topic=url"`
}

// MaxHubURL limits the bytes of the URL of a hub and of a topic.
const MaxHubURL = 2048

// HubURLPattern is a regular expression of URLs that a hub or a topic may have.
const HubURLPattern = `^[Hh][Tt][Tt][Pp][Ss]?://([A-Za-z0-9._~-]+|` + ipv6Pattern + `)(:[0-9]*)?` +
	`(/([^%?# \x00-\x1f\x7f-\x9f]|%[0-9A-Fa-f]{2})*)?(\?[^# \x00-\x1f\x7f-\x9f]*)?$`

// Valid reports whether h has either neither URL, or both: of http or https, with a host, without a user and a
// fragment, and of at most 2,048 bytes.
func (h Hub) Valid() bool {
	return h == Hub{} || isHubURL(h.URL) && isHubURL(h.Topic)
}

func isHubURL(text string) bool {
	u, err := url.Parse(text)
	return err == nil && len(text) <= MaxHubURL && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" && u.User == nil &&
		u.Fragment == "" && !strings.ContainsFunc(text, func(r rune) bool { return r == ' ' || unicode.IsControl(r) })
}
