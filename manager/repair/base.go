package repair

import (
	"net/url"
	"slices"
	"strings"
)

// isURL reports whether the value of an attribute is a URL of a recording or a page: of a link, an enclosure, a
// media:content or a podcast:source. Any prefix is accepted but xmlns, which declares one.
func isURL(name string) bool {
	prefix, local, found := strings.Cut(strings.ToLower(name), ":")
	if !found {
		prefix, local = "", prefix
	}
	return prefix != "xmlns" && slices.Contains([]string{"url", "href", "src", "uri", "resource"}, local)
}

// resolveBase returns the base that an xml:base within another one gives; the outer one if it cannot be a base. A path
// that ends with "." or ".." is one of a folder.
func resolveBase(outer *url.URL, value string) *url.URL {
	value = strings.TrimSpace(value)
	u, err := url.Parse(value)
	if err != nil || value == "" || u.Opaque != "" {
		return outer
	}
	if last := u.Path[strings.LastIndexByte(u.Path, '/')+1:]; last == "." || last == ".." {
		u.Path, u.RawPath = u.Path+"/", u.EscapedPath()+"/"
	}
	if outer == nil {
		return u
	}
	return within(outer, u)
}

// resolve returns a URL as its base makes it; unchanged if it cannot be parsed.
func resolve(base *url.URL, value string) string {
	u, err := url.Parse(strings.TrimSpace(value))
	if err != nil || value == "" {
		return value
	}
	return within(base, u).String()
}

// within returns a reference as its base makes it. A base without a host gives a result without one, because the
// caller of Document knows its URL. Until that is applied, "." and ".." stay, and a relative path stays relative.
func within(base, u *url.URL) *url.URL {
	switch {
	case base.IsAbs() || base.Host != "":
		return base.ResolveReference(u)
	case u.IsAbs() || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return u
	}
	joined := *u
	if u.Path == "" {
		joined.Path, joined.RawPath = base.Path, base.RawPath
		if u.RawQuery == "" && !u.ForceQuery {
			joined.RawQuery, joined.ForceQuery = base.RawQuery, base.ForceQuery
		}
		return &joined
	}
	path := base.EscapedPath()
	joined.RawPath = path[:strings.LastIndexByte(path, '/')+1] + u.EscapedPath()
	joined.Path, _ = url.PathUnescape(joined.RawPath) // both parts were escaped just now
	return &joined
}
