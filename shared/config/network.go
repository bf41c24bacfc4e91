package config

import (
	"maps"
	"net"
	"net/netip"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// hosts is a list of networks, addresses and host names.
type hosts struct{ to *[]string }

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)

// set reads hosts, separated by commas; empty text is none. errNotAccepted: an item is not a
// host.
func (h hosts) set(text string) error {
	if text == "" {
		*h.to = nil
		return nil
	}
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if !isHost(item) {
			return errNotAccepted
		}
		list = append(list, item)
	}
	*h.to = list
	return nil
}

// isHost reports whether item is a network, an address or a host, the last two with or
// without a port.
func isHost(item string) bool {
	if _, err := netip.ParsePrefix(item); err == nil {
		return true
	}
	if host, port, err := net.SplitHostPort(item); err == nil {
		if _, err := strconv.ParseUint(port, 10, 16); err != nil {
			return false
		}
		item = host
	}
	_, err := netip.ParseAddr(strings.Trim(item, "[]"))
	return err == nil || hostForm.MatchString(item)
}

func (h hosts) accepts() string {
	return "a list of networks, addresses and hosts, such as 10.0.0.0/8,media.lan:8080"
}
func (h hosts) kind() string   { return "list" }
func (h hosts) String() string { return strings.Join(*h.to, ",") }

// names is a list of host names; * is every name.
type names struct{ to *[]string }

// set reads names, separated by commas; empty text is none. errNotAccepted: an item is not a name.
func (n names) set(text string) error {
	var list []string
	if text != "" {
		list = strings.Split(text, ",")
	}
	for i := range list {
		list[i] = strings.TrimSpace(list[i])
		if list[i] != "*" && !hostForm.MatchString(list[i]) {
			return errNotAccepted
		}
	}
	*n.to = list
	return nil
}

func (n names) accepts() string { return "a list of host names, such as coordinator.lan, or *" }
func (n names) kind() string    { return "list" }
func (n names) String() string  { return strings.Join(*n.to, ",") }

// networks is a list of networks and addresses.
type networks struct{ to *[]netip.Prefix }

// set reads networks, separated by commas; empty text is none. An address is a network of its
// own; one with a zone is errNotAccepted, as other text is. The bits of a network behind its
// length are cleared.
func (n networks) set(text string) error {
	if text == "" {
		*n.to = nil
		return nil
	}
	var list []netip.Prefix
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if ip, err := netip.ParseAddr(item); err == nil && ip.Zone() == "" {
			list = append(list, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(item)
		if err != nil {
			return errNotAccepted
		}
		list = append(list, network.Masked())
	}
	*n.to = list
	return nil
}

func (n networks) accepts() string {
	return "a list of networks and addresses, such as 10.0.0.0/8,2001:db8::/32"
}
func (n networks) kind() string { return "list" }

// String returns the networks as set reads them.
func (n networks) String() string {
	var words []string
	for _, network := range *n.to {
		words = append(words, network.String())
	}
	return strings.Join(words, ",")
}

// tokens is a list of HOST=@FILE. The files are read when they are needed.
type tokens struct{ to *map[string]string }

// set reads HOST=@FILE, separated by commas. Hosts become lower case, and paths absolute. If a host is repeated,
// its last file counts. The files are not read.
func (t tokens) set(text string) error {
	files := map[string]string{}
	for item := range strings.SplitSeq(text, ",") {
		host, file, ok := strings.Cut(strings.TrimSpace(item), "=@")
		if !ok || !hostForm.MatchString(host) || file == "" || strings.ContainsAny(file, "\n\x00") {
			return errNotAccepted
		}
		abs, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		files[strings.ToLower(host)] = abs
	}
	*t.to = files
	return nil
}
func (t tokens) accepts() string {
	return "a list of HOST=@FILE, such as github.com=@/run/secrets/token"
}
func (t tokens) kind() string { return "list" }

// String returns the text that set reads, ordered by host. It has the names of the files and no
// token.
func (t tokens) String() string {
	var items []string
	for _, host := range slices.Sorted(maps.Keys(*t.to)) {
		items = append(items, host+"=@"+(*t.to)[host])
	}
	return strings.Join(items, ",")
}

// webURL is a URL of the web. It is printed without what may be secret in it: user, password,
// path and query.
type webURL struct{ to *string }

// set reads an http or https URL; empty text is none. errNotAccepted: another scheme, or no host.
func (w webURL) set(text string) error {
	if text == "" {
		*w.to = ""
		return nil
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return errNotAccepted
	}
	*w.to = text
	return nil
}
func (w webURL) accepts() string { return "a URL that begins with https:// or http://" }
func (w webURL) kind() string    { return "url" }

// String returns the URL without its path, user and query, because these may be secrets.
func (w webURL) String() string {
	u, err := url.Parse(*w.to)
	if err != nil || *w.to == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// webURLs is a list of such URLs, with commas between them.
type webURLs struct{ to *string }

// set reads URLs as webURL does.
func (w webURLs) set(text string) error {
	for _, one := range strings.Split(text, ",") {
		var url string
		if err := (webURL{&url}).set(one); err != nil || one == "" && text != "" {
			return errNotAccepted
		}
	}
	*w.to = text
	return nil
}
func (w webURLs) accepts() string {
	return webURL{}.accepts() + ", or several with commas between them"
}
func (w webURLs) kind() string { return "urls" }

// String returns each URL as webURL does.
func (w webURLs) String() string {
	var shown []string
	for _, one := range strings.Split(*w.to, ",") {
		shown = append(shown, webURL{&one}.String())
	}
	return strings.Join(shown, ",")
}

// secretFile is a file that has a secret, as @FILE.
type secretFile struct{ to *string }

// set reads @FILE, and makes the path absolute; empty text is none. Text without @ is not accepted, because it
// could be the secret itself: errNotAccepted. The file is not read.
func (s secretFile) set(text string) error {
	if text == "" {
		*s.to = ""
		return nil
	}
	file, ok := strings.CutPrefix(text, "@")
	if !ok || file == "" || strings.ContainsAny(file, "\n\x00") {
		return errNotAccepted
	}
	abs, err := filepath.Abs(file)
	*s.to = abs
	return err
}
func (s secretFile) accepts() string { return "a file that has the secret, as @FILE" }
func (s secretFile) kind() string    { return "file" }

// String returns the text that set reads.
func (s secretFile) String() string {
	if *s.to == "" {
		return ""
	}
	return "@" + *s.to
}

// publicURL is an http or https URL without a user, a query and a fragment.
type publicURL struct{ to *string }

// set reads such a URL without the slashes at its end; empty text is none. Other text is errNotAccepted.
func (p publicURL) set(text string) error {
	u, err := url.Parse(text)
	bad := err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != ""
	if text != "" && bad {
		return errNotAccepted
	}
	*p.to = strings.TrimRight(text, "/")
	return nil
}
func (p publicURL) accepts() string {
	return "a URL that begins with https:// or http://, without a user, a query and a fragment"
}
func (p publicURL) kind() string   { return "url" }
func (p publicURL) String() string { return *p.to }

// pathPrefix is a path that begins with a slash, of letters, digits and some signs that need no escape.
type pathPrefix struct{ to *string }

var pathPrefixRule = regexp.MustCompile(`^(/[A-Za-z0-9][A-Za-z0-9._~-]*)+$`)

// set reads such a path without the slashes at its end; empty text and "/" are none. Other text is errNotAccepted.
func (p pathPrefix) set(text string) error {
	text = strings.TrimRight(text, "/")
	if text != "" && !pathPrefixRule.MatchString(text) {
		return errNotAccepted
	}
	*p.to = text
	return nil
}
func (p pathPrefix) accepts() string {
	return "a path such as /leasehold, of letters, digits, and . _ ~ -"
}
func (p pathPrefix) kind() string   { return "path" }
func (p pathPrefix) String() string { return *p.to }

// allowsHost reports whether the host of a URL is one of names, or * is, or is an address or a name without a dot,
// which are always allowed.
func allowsHost(names []string, text string) bool {
	u, err := url.Parse(text)
	if err != nil {
		return false
	}
	host := u.Hostname()
	_, notAddress := netip.ParseAddr(host)
	return notAddress == nil || !strings.Contains(host, ".") ||
		slices.ContainsFunc(names, func(n string) bool { return n == "*" || strings.EqualFold(n, host) })
}
