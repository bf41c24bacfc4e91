package identity

import (
	"crypto/rand"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"leasehold/shared/fault"
)

// The roles in certificates. A coordinator certifies itself; processes of the other roles join it.
const (
	Coordinator = "coordinator"
	Worker      = "worker"
	Manager     = "manager"
)

// joining are the roles that a join line may have.
var joining = []string{Worker, Manager}

// Roles returns the roles of the processes that join.
func Roles() []string { return slices.Clone(joining) }

// Line is a join line: all that a process needs to join a coordinator. As text it is
// lh1-ROLE-ID-CA-SECRET@HOST:PORT,HOST:PORT, where the addresses with their @ may be missing. While the coordinator
// changes its CA, it is lh2-ROLE-ID-CA-FORMER-UNTIL-SECRET@…, with the former CA, and its end in seconds of Unix time.
// Programs that know only lh1 refuse it by its version. Package fmt and loggers print a line without its secret; only
// Reveal returns the whole.
type Line struct {
	Role      string // one of Roles
	ID        string // of the invite: 8 characters of lower-case base32, not secret
	CA        Fingerprint
	Former    Fingerprint // accepted until FormerEnd
	FormerEnd time.Time   // in whole seconds; zero: there is no former CA
	Secret    Secret
	Addresses []string // host:port, in the order in which to try them
}

// CAs returns the CAs that the line names and that are accepted now.
func (l Line) CAs(now time.Time) CAs {
	if now.Before(l.FormerEnd) {
		return CAs{l.CA, l.Former}
	}
	return CAs{l.CA}
}

const (
	version    = "lh1"
	withFormer = "lh2" // the version of a line with two CAs
	lineForm   = "lh1-ROLE-ID-CA-SECRET@HOST:PORT"
	idLength   = 8
	maxLine    = 4096 // bytes
	// maxQuoted limits what errors quote of a line in characters. It is far below the length of a secret.
	maxQuoted = 16
)

var (
	otherVersion = regexp.MustCompile(`^lh\d{1,4}$`)
	hostForm     = regexp.MustCompile(`^[A-Za-z0-9_]([A-Za-z0-9._-]{0,251}[A-Za-z0-9_])?$`)
)

// NewID returns a random id of an invite.
func NewID() string {
	var b [idLength * 5 / 8]byte
	_, _ = rand.Read(b[:]) // it never fails
	return encoding.EncodeToString(b[:])
}

// ParseLine reads a join line. It ignores white space, quotes and a byte order mark around it, because compose files,
// secrets and echo add them. It fails with fault.ErrInvalid; the error does not contain the secret.
func ParseLine(text string) (Line, error) {
	l, err := parseLine(strings.TrimFunc(text, isAround))
	if err != nil {
		return Line{}, fmt.Errorf("join line: %w", err)
	}
	return l, nil
}

func isAround(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`\ufeff", r) }

func parseLine(text string) (l Line, err error) {
	if err := checkWhole(text); err != nil {
		return l, err
	}
	identity, addresses, hasAddresses := strings.Cut(text, "@")
	parts := strings.Split(identity, "-")
	if err := checkParts(parts, hasAddresses); err != nil {
		return l, err
	}
	l.Role, l.ID = parts[1], parts[2]
	if !slices.Contains(joining, l.Role) {
		return l, fmt.Errorf("unknown role%s, want %s: %w", quoteShort(l.Role), strings.Join(joining, " or "), fault.ErrInvalid)
	}
	if err := checkCharacters("id", l.ID); err != nil {
		return l, err
	}
	if l.CA, err = ParseFingerprint(parts[3]); err != nil {
		return l, err
	}
	if parts[0] == withFormer {
		if l.Former, l.FormerEnd, err = parseFormer(parts[4], parts[5]); err != nil {
			return l, err
		}
	}
	if l.Secret, err = ParseSecret(parts[len(parts)-1]); err != nil {
		return l, err
	}
	if hasAddresses {
		l.Addresses, err = parseAddresses(addresses, l.Secret)
	}
	return l, err
}

// parseFormer reads the former CA of a line, and its end.
func parseFormer(fingerprint, end string) (f Fingerprint, until time.Time, err error) {
	b, err := parse160("fingerprint of the former CA", fingerprint)
	if err != nil {
		return b, until, err
	}
	seconds, err := strconv.ParseUint(end, 10, 40)
	if err != nil || seconds == 0 {
		return b, until, fmt.Errorf("the end of the former CA is not a number of seconds since 1970: %w", fault.ErrInvalid)
	}
	return b, time.Unix(int64(seconds), 0).UTC(), nil
}

// checkWhole refuses text that is not one line of a bearable length.
func checkWhole(text string) error {
	if text == "" {
		return fmt.Errorf("it is empty, want %s, as `leasehold invite` prints it: %w", lineForm, fault.ErrInvalid)
	}
	if len(text) > maxLine {
		return fmt.Errorf("it has %d bytes, want at most %d: %w", len(text), maxLine, fault.ErrInvalid)
	}
	if i := strings.IndexFunc(text, unicode.IsSpace); i >= 0 {
		return fmt.Errorf("there is white space or a line break after byte %d, want one line without any: %w", i, fault.ErrInvalid)
	}
	return nil
}

// linePart is a part of a line between dashes.
type linePart struct {
	name   string
	length int // in characters; 0: any
}

// lineParts are the parts of a line before its addresses, by its version.
var lineParts = map[string][]linePart{
	version:    {{"version", 0}, {"role", 0}, {"id", idLength}, {"fingerprint of the CA", textLength}, {"secret", textLength}},
	withFormer: {{"version", 0}, {"role", 0}, {"id", idLength}, {"fingerprint of the CA", textLength}, {"fingerprint of the former CA", textLength}, {"end of the former CA", 0}, {"secret", textLength}},
}

// checkParts checks the version, and the number and lengths of the parts. A terminal may have cut the last part.
func checkParts(parts []string, hasAddresses bool) error {
	wanted, known := lineParts[parts[0]]
	if !known {
		if otherVersion.MatchString(parts[0]) {
			return fmt.Errorf("it has the format %s, and this program reads %s and %s; use the version of the coordinator, or make a new line with its `leasehold invite`: %w", parts[0], version, withFormer, fault.ErrInvalid)
		}
		return fmt.Errorf("it does not begin with %s-, want %s, as `leasehold invite` prints it: %w", version, lineForm, fault.ErrInvalid)
	}
	if len(parts) > len(wanted) {
		return fmt.Errorf("it has %d parts before the addresses, want %d, as in %s: %w", len(parts), len(wanted), lineForm, fault.ErrInvalid)
	}
	for i, part := range wanted {
		if i == len(parts) {
			return fmt.Errorf("the line ends early: it has no %s, want %s: %w", part.name, lineForm, fault.ErrInvalid)
		}
		n := len(parts[i])
		if part.length == 0 || n == part.length {
			continue
		}
		if n < part.length && i == len(parts)-1 && !hasAddresses {
			return fmt.Errorf("the line ends early: the %s has %d characters, want %d: %w", part.name, n, part.length, fault.ErrInvalid)
		}
		return fmt.Errorf("the %s has %d characters, want %d: %w", part.name, n, part.length, fault.ErrInvalid)
	}
	return nil
}

// parseAddresses splits and checks the addresses. None may contain the secret, as in a line that was pasted twice,
// because addresses are printed.
func parseAddresses(text string, secret Secret) ([]string, error) {
	if text == "" {
		return nil, fmt.Errorf("the line ends early: there is no address after @, want HOST:PORT: %w", fault.ErrInvalid)
	}
	addresses := strings.Split(text, ",")
	for _, a := range addresses {
		if shown := strings.ReplaceAll(a, secret.Reveal(), redacted); shown != a || !isAddress(a) {
			return nil, fmt.Errorf("address %.100q, want HOST:PORT with a port from 1 to 65535: %w", shown, fault.ErrInvalid)
		}
	}
	return addresses, nil
}

func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		return false
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err == nil || hostForm.MatchString(host)
}

// quoteShort returns text in quotes after a space, or nothing if it could be a secret.
func quoteShort(text string) string {
	if len(text) > maxQuoted {
		return ""
	}
	return fmt.Sprintf(" %q", text)
}

// Reveal returns the line with its secret, as ParseLine reads it.
func (l Line) Reveal() string { return l.text(l.Secret.Reveal()) }

// String returns the line with "(secret)" in place of its secret.
func (l Line) String() string { return l.text(redacted) }

func (l Line) text(secret string) string {
	parts := []string{version, l.Role, l.ID, l.CA.String(), secret}
	if !l.FormerEnd.IsZero() {
		parts = []string{withFormer, l.Role, l.ID, l.CA.String(), l.Former.String(), strconv.FormatInt(l.FormerEnd.Unix(), 10), secret}
	}
	text := strings.Join(parts, "-")
	if len(l.Addresses) > 0 {
		text += "@" + strings.Join(l.Addresses, ",")
	}
	return text
}

// Format prints what String returns, for every verb.
func (l Line) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, l.String()) }

// LogValue returns what String returns.
func (l Line) LogValue() slog.Value { return slog.StringValue(l.String()) }
