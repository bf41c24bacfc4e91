package gitrepo

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"leasehold/models"
	"leasehold/shared/fault"
)

// source is a checked place from which a repository is fetched.
type source struct {
	uri     string // a URL without user and password, or an absolute path
	url     *url.URL
	user    *url.Userinfo // of the URL, nil if it has none
	trusted bool          // the operator named it: a folder may belong to another user
}

// parseSource checks a URL, or the absolute path of a folder or a bundle, and returns its parts. It
// quotes no password.
func (s *Store) parseSource(uri string) (source, error) {
	if filepath.IsAbs(uri) && !strings.ContainsRune(uri, 0) {
		return source{uri: filepath.Clean(uri)}, nil
	}
	u, err := url.Parse(uri)
	if err != nil || !slices.Contains(s.Schemes, u.Scheme) {
		return source{}, fmt.Errorf("repository %.200q: %w: want a path, or a URL that begins with %s://",
			models.Redact(uri), fault.ErrInvalid, strings.Join(s.Schemes, ":// or "))
	}
	host := strings.ToLower(u.Hostname())
	switch {
	case host == "" || strings.HasPrefix(host, "-") || strings.HasPrefix(u.User.Username(), "-") || u.Opaque != "":
		return source{}, fmt.Errorf("repository %.200q: %w: want SCHEME://HOST/PATH", models.Redact(uri), fault.ErrInvalid)
	case strings.ContainsFunc(uri, isControl) || strings.ContainsFunc(u.User.Username()+password(u), isControl):
		return source{}, fmt.Errorf("repository %.200q: %w: a URL has no control characters", models.Redact(uri), fault.ErrInvalid)
	case len(s.Hosts) > 0 && !slices.Contains(s.Hosts, host):
		return source{}, fmt.Errorf("repository host %q: %w: accepted are %s", host, fault.ErrInvalid, strings.Join(s.Hosts, ", "))
	}
	src := source{url: u, user: u.User}
	plain := *u // without secrets
	plain.Fragment, plain.RawFragment = "", ""
	if u.Scheme != "ssh" { // of ssh the user is a part of the address
		plain.User = nil
	} else if u.User != nil {
		plain.User = url.User(u.User.Username())
	}
	src.uri = plain.String()
	return src, nil
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

// HasToken reports whether a token is configured for the host of a URL. It is false for text other
// than a URL.
func (s *Store) HasToken(uri string) bool {
	u, err := url.Parse(uri)
	return err == nil && s.Tokens[strings.ToLower(u.Hostname())] != ""
}

// protocols returns the value of GIT_ALLOW_PROTOCOL, which no configuration overrides.
func (s source) protocols() string {
	if s.url == nil {
		return "file"
	}
	return s.url.Scheme
}

// pinnedAddress resolves and checks the host of an http(s) URL, and returns the value of
// http.curloptResolve, "HOST:PORT:ADDRESS", with which git connects to the checked address. So
// another answer of the DNS server afterwards changes nothing. It returns "" for a path, for ssh,
// without Config.Resolve, and if the host is an address itself, which was checked.
func (s *Store) pinnedAddress(ctx context.Context, src source) (string, error) {
	if src.url == nil || src.url.Scheme == "ssh" || s.Resolve == nil {
		return "", nil
	}
	addr, err := s.Resolve(ctx, src.uri)
	if err != nil {
		return "", err
	}
	host, port := src.url.Hostname(), src.url.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[src.url.Scheme]
	}
	if net.ParseIP(host) != nil {
		return "", nil
	}
	text := addr.String()
	if addr.Is6() {
		text = "[" + text + "]"
	}
	return host + ":" + port + ":" + text, nil
}

// password returns the password of a URL; "" if it has none.
func password(u *url.URL) string {
	text, _ := u.User.Password()
	return text
}
