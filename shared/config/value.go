package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"net"
	"net/netip"
	"net/url"
	pathpkg "path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// A value reads one field of a Config from text and shows it again.
type value interface {
	set(text string) error // accepts is shown in place of the error
	accepts() string
	kind() string // the placeholder of the value in the help of a flag
	String() string
}

var errNotAccepted = errors.New("not accepted")

// word is one of words.
type word struct {
	to    *string
	words []string
}

func (w word) set(text string) error {
	for _, ok := range w.words {
		if text == ok {
			*w.to = text
			return nil
		}
	}
	return errNotAccepted
}
func (w word) accepts() string { return orList(w.words) }
func (w word) kind() string    { return "name" }
func (w word) String() string  { return *w.to }

// truth is true or false.
type truth struct{ to *bool }

func (t truth) set(text string) error {
	v, err := strconv.ParseBool(text)
	if err != nil {
		return errNotAccepted
	}
	*t.to = v
	return nil
}
func (t truth) accepts() string { return "true or false" }
func (t truth) kind() string    { return "" }
func (t truth) String() string  { return strconv.FormatBool(*t.to) }

// words is a list of some of the known words.
type words struct {
	to    *[]string
	known []string
}

// set reads words, separated by commas, at least one.
func (w words) set(text string) error {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if err := (word{&item, w.known}).set(item); err != nil {
			return errNotAccepted
		}
		list = append(list, item)
	}
	*w.to = list
	return nil
}
func (w words) accepts() string { return "a list of " + orList(w.known) }
func (w words) kind() string    { return "list" }
func (w words) String() string  { return strings.Join(*w.to, ",") }

// pairs is NAME=VALUE, separated by commas. The package that uses it checks the names.
type pairs struct{ to *string }

var pair = regexp.MustCompile(`^ *([a-z0-9_-]+\.)?[a-z-]+=[^=,]+$`)

func (p pairs) set(text string) error {
	for _, one := range strings.Split(text, ",") {
		if !pair.MatchString(one) {
			return errNotAccepted
		}
	}
	*p.to = text
	return nil
}
func (p pairs) accepts() string { return "NAME=VALUE, separated by commas" }
func (p pairs) kind() string    { return "rules" }
func (p pairs) String() string  { return *p.to }

// policies is NAME, or NAME and KIND=NAME, separated by commas. The package that uses it
// checks the names.
type policies struct{ to *string }

var policy = regexp.MustCompile(`^([a-z0-9_-]+=)?[a-z0-9-]+$`)

func (p policies) set(text string) error {
	for _, one := range strings.Split(text, ",") {
		if !policy.MatchString(one) {
			return errNotAccepted
		}
	}
	*p.to = text
	return nil
}
func (p policies) accepts() string { return "NAME, or NAME,KIND=NAME" }
func (p policies) kind() string    { return "policies" }
func (p policies) String() string  { return *p.to }

// hostGroups is NAME=PATTERN,PATTERN,NAME=PATTERN. The package that uses it checks more.
type hostGroups struct{ to *string }

var hostGroupItems = regexp.MustCompile(`^ *[a-z0-9_-]+=[^=,/ ]+( *, *([a-z0-9_-]+=)?[^=,/ ]+)* *$`)

func (g hostGroups) set(text string) error {
	if !hostGroupItems.MatchString(text) {
		return errNotAccepted
	}
	*g.to = text
	return nil
}
func (g hostGroups) accepts() string {
	return "NAME=PATTERN,PATTERN, such as acast=*.acast.com,*.acast.net"
}
func (g hostGroups) kind() string   { return "groups" }
func (g hostGroups) String() string { return *g.to }

// label is a name that may be printed: 1 to 255 bytes of UTF-8 without control characters.
type label struct{ to *string }

func (l label) set(text string) error {
	if text == "" || len(text) > 255 || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		return errNotAccepted
	}
	*l.to = text
	return nil
}
func (l label) accepts() string { return "1 to 255 bytes of text" }
func (l label) kind() string    { return "name" }
func (l label) String() string  { return *l.to }

// prefix is the beginning of names of indices on a search server; it may be empty.
type prefix struct{ to *string }

var prefixForm = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]{0,49})?$`)

func (p prefix) set(text string) error {
	if !prefixForm.MatchString(text) {
		return errNotAccepted
	}
	*p.to = text
	return nil
}
func (p prefix) accepts() string {
	return "at most 50 of a-z 0-9 _ -, beginning with a letter or a digit, such as team1-"
}
func (p prefix) kind() string   { return "prefix" }
func (p prefix) String() string { return *p.to }

// path is a file or a folder; it need not exist yet.
type path struct {
	to       *string
	absolute bool // made so, from the current folder
}

// set accepts any text that can be a path.
func (p path) set(text string) error {
	if text == "" || strings.ContainsRune(text, 0) {
		return errNotAccepted
	}
	if p.absolute {
		abs, err := filepath.Abs(text)
		if err != nil {
			return err
		}
		text = abs
	}
	*p.to = text
	return nil
}
func (p path) accepts() string { return "a path" }
func (p path) kind() string    { return "path" }
func (p path) String() string  { return *p.to }

// count is a whole number.
type count struct {
	to       *int
	min, max int
	auto     func() int // returns the value of "auto"; nil if auto is not accepted
}

func (n count) set(text string) error {
	if n.auto != nil && text == "auto" {
		*n.to = n.auto()
		return nil
	}
	i, err := strconv.Atoi(text)
	if err != nil || i < n.min || i > n.max {
		return errNotAccepted
	}
	*n.to = i
	return nil
}
func (n count) accepts() string {
	s := fmt.Sprintf("a whole number from %d to %d", n.min, n.max)
	if n.auto != nil {
		s += ", or auto"
	}
	return s
}
func (n count) kind() string   { return "number" }
func (n count) String() string { return strconv.Itoa(*n.to) }

// cores returns how many goroutines may run at once. It respects a container's limit.
func cores() int { return runtime.GOMAXPROCS(0) }

// span is a length of time.
type span struct {
	to       *time.Duration
	min, max time.Duration
}

func (d span) set(text string) error {
	v, err := time.ParseDuration(text)
	if err != nil || v < d.min || v > d.max {
		return errNotAccepted
	}
	*d.to = v
	return nil
}
func (d span) accepts() string {
	return fmt.Sprintf("a duration from %s to %s with its unit, such as 90s, 10m or 1h30m", shortSpan(d.min), shortSpan(d.max))
}
func (d span) kind() string   { return "duration" }
func (d span) String() string { return shortSpan(*d.to) }

// shortSpan writes 1h0m0s as 1h.
func shortSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// size is a number of bytes.
type size struct {
	to       *int64
	min, max int64
	auto     func() int64 // returns the value of "auto"; nil if auto is not accepted
}

var (
	sizeForm  = regexp.MustCompile(`^([0-9]+)\s*([A-Za-z]*)$`)
	sizeUnits = map[string]int64{
		"": 1, "b": 1,
		"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12,
		"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40,
	}
)

// set reads a number with a unit of sizeUnits, whose letters may have either case.
func (b size) set(text string) error {
	if b.auto != nil && text == "auto" {
		*b.to = b.auto()
		return nil
	}
	m := sizeForm.FindStringSubmatch(text)
	if m == nil {
		return errNotAccepted
	}
	n, err := strconv.ParseInt(m[1], 10, 64)
	unit, known := sizeUnits[strings.ToLower(m[2])]
	if err != nil || !known || n > math.MaxInt64/unit {
		return errNotAccepted
	}
	if n *= unit; n < b.min || n > b.max {
		return errNotAccepted
	}
	*b.to = n
	return nil
}
func (b size) accepts() string {
	s := "a number of bytes"
	if b.max < math.MaxInt64 {
		s += fmt.Sprintf(" from %s to %s", shortSize(b.min), shortSize(b.max))
	}
	s += ", such as 500MB or 2GiB"
	if b.auto != nil {
		s += ", or auto"
	}
	return s
}
func (b size) kind() string   { return "bytes" }
func (b size) String() string { return shortSize(*b.to) }

// shortSize writes 2147483648 as 2GiB, and a number that is not a multiple of a unit in
// bytes.
func shortSize(n int64) string {
	for _, u := range []string{"TiB", "GiB", "MiB", "KiB"} {
		if f := sizeUnits[strings.ToLower(u)]; n >= f && n%f == 0 {
			return fmt.Sprintf("%d%s", n/f, u)
		}
	}
	return strconv.FormatInt(n, 10)
}

// fraction is a number above 0 and below 1, or up to and including 1.
type fraction struct {
	to  *float64
	one bool // whether 1 is accepted
}

func (f fraction) set(text string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v > 0 && (v < 1 || f.one && v == 1)) { // so that NaN is refused
		return errNotAccepted
	}
	*f.to = v
	return nil
}
func (f fraction) accepts() string {
	if f.one {
		return "a number above 0 and at most 1, such as 0.4"
	}
	return "a number above 0 and below 1, such as 0.6"
}
func (f fraction) kind() string   { return "fraction" }
func (f fraction) String() string { return strconv.FormatFloat(*f.to, 'g', -1, 64) }

// level is a level of the log.
type level struct{ to *slog.Level }

var levels = []string{"debug", "info", "warn", "error"}

func (l level) set(text string) error {
	for _, ok := range levels {
		if text == ok {
			return l.to.UnmarshalText([]byte(text))
		}
	}
	return errNotAccepted
}
func (l level) accepts() string { return orList(levels) }
func (l level) kind() string    { return "name" }
func (l level) String() string  { return strings.ToLower(l.to.String()) }

// hosts is a list of networks, addresses and host names.
type hosts struct{ to *[]string }

var hostForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?$`)

// set reads hosts, separated by commas; empty text is none.
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

// networks is a list of networks and addresses.
type networks struct{ to *[]netip.Prefix }

// set reads networks, separated by commas; empty text is none. An address is a network of
// its own.
func (n networks) set(text string) error {
	var list []netip.Prefix
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if ip, err := netip.ParseAddr(item); err == nil && ip.Zone() == "" {
			list = append(list, netip.PrefixFrom(ip, ip.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(item)
		if err != nil && text != "" {
			return errNotAccepted
		}
		if err == nil {
			list = append(list, network.Masked())
		}
	}
	*n.to = list
	return nil
}

func (n networks) accepts() string {
	return "a list of networks and addresses, such as 10.0.0.0/8,2001:db8::/32"
}
func (n networks) kind() string { return "list" }

func (n networks) String() string {
	var words []string
	for _, network := range *n.to {
		words = append(words, network.String())
	}
	return strings.Join(words, ",")
}

// patterns is a list of patterns of path.Match.
type patterns struct{ to *[]string }

// set reads patterns, separated by commas, at least one. None begins with -, because git
// would take it for an option.
func (p patterns) set(text string) error {
	var list []string
	for item := range strings.SplitSeq(text, ",") {
		item = strings.TrimSpace(item)
		if _, err := pathpkg.Match(item, ""); err != nil || item == "" || strings.HasPrefix(item, "-") {
			return errNotAccepted
		}
		list = append(list, item)
	}
	*p.to = list
	return nil
}
func (p patterns) accepts() string { return "a list of names and patterns, such as main,release-*" }
func (p patterns) kind() string    { return "list" }
func (p patterns) String() string  { return strings.Join(*p.to, ",") }

// tokens is a list of HOST=@FILE. The files are read when they are needed.
type tokens struct{ to *map[string]string }

// set reads HOST=@FILE, separated by commas. Hosts become lower case, and paths absolute.
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

// set reads an http or https URL; empty text is none.
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

func (w webURL) String() string {
	u, err := url.Parse(*w.to)
	if err != nil || *w.to == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/…"
}

// secretFile is a file that has a secret, as @FILE.
type secretFile struct{ to *string }

// set reads @FILE, and makes the path absolute; empty text is none.
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

func (s secretFile) String() string {
	if *s.to == "" {
		return ""
	}
	return "@" + *s.to
}

// orList writes a, b or c.
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}
