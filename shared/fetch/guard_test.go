package fetch

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"leasehold/models"
	"leasehold/shared/fault"
)

func TestFault48NoPrivateAddressIsPrivateInAnySpelling(t *testing.T) {
	t.Parallel()
	for _, host := range []string{
		"127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254",
		"100.64.0.1", "100.100.100.200", "0.0.0.0", "224.0.0.1", "255.255.255.255", "198.18.0.1", "192.0.2.1", "168.63.129.16",
		"[::1]", "[::]", "[fe80::1]", "[fe80::1%25eth0]", "[fc00::1]", "[fd00:ec2::254]", "[ff02::1]",
		"[::ffff:127.0.0.1]", "[::ffff:10.0.0.1]", "[::ffff:a9fe:a9fe]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]",
		"2130706433", "0x7f000001", "0x7f.1", "127.1", "0177.0.0.1", "127.0.0.01", "1.2.3.0x4", "localhost", "LOCALHOST.", "a.localhost",
	} {
		f := open(t, Config{AllowPrivate: []string{"example.org"}})
		for _, uri := range []string{"http://" + host + "/a.mp3", "https://" + host + ":8443/a.mp3"} {
			require.ErrorIs(t, f.Check(uri), fault.ErrInvalid, uri)
			_, err := f.Fetch(t.Context(), ref(uri))
			require.ErrorIs(t, err, fault.ErrInvalid, uri)
			_, err = f.Document(t.Context(), uri, 1)
			require.ErrorIs(t, err, fault.ErrInvalid, uri)
		}
	}
}

func TestPublicAddressesAreAllowed(t *testing.T) {
	t.Parallel()
	f := open(t, Config{AllowPrivate: []string{}})
	for _, uri := range []string{"http://1.1.1.1/", "https://[2606:4700::1111]/x", "http://example.org:8080/a?b", "http://[64:ff9b::101:101]/"} {
		require.NoError(t, f.Check(uri), uri)
	}
	require.True(t, isPrivate(netip.Addr{}), "an invalid address is not public")
}

func TestFault48OtherSchemesAreRefusedAndTheErrorNamesTheAccepted(t *testing.T) {
	t.Parallel()
	f := open(t, Config{})
	for _, uri := range []string{
		"gopher://example.org/", "ftp://example.org/a.mp3", "data:audio/mp3;base64,AAAA", "javascript:1", "/etc/passwd",
		"a.mp3", "", "http:/x", "http://", "//example.org/a", "jar:http://x!/y", "file://server/share", "file:relative", "ht!tp://x",
		"data:," + strings.Repeat("x", 100_000),
	} {
		_, err := f.Fetch(t.Context(), ref(uri))
		require.ErrorIs(t, err, fault.ErrInvalid, uri)
		require.Less(t, len(err.Error()), 1000)
	}
	_, err := f.Fetch(t.Context(), ref("http://["+strings.Repeat("x", 100_000)))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.Less(t, len(err.Error()), 1000)
	require.NoError(t, f.Check("file://localhost/etc/hostname"))
	_, err = f.Fetch(t.Context(), ref("ftp://example.org/a.mp3"))
	require.ErrorContains(t, err, "use one of http, https and file")
}

func TestFault48RedirectToPrivateIsRefused(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	inner := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, target := range []string{inner.URL, "http://169.254.169.254/latest", "file:///etc/passwd", "gopher://x/", "http://2130706433/"} {
		outer := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) })
		f := open(t, Config{AllowPrivate: []string{strings.TrimPrefix(outer.URL, "http://")}})
		_, err := f.Fetch(t.Context(), ref(outer.URL+"/a.mp3"))
		require.ErrorIs(t, err, fault.ErrInvalid, target)
		require.ErrorContains(t, err, "redirected to")
	}
	require.Zero(t, asked.Load())
}

func TestFault48NameWhoseAddressChangesIsCheckedWhenDialled(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	s := serve(t, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	u, err := url.Parse(s.URL)
	require.NoError(t, err)
	f := open(t, Config{AllowPrivate: []string{"other.example"}})
	f.guard.resolver = answering([4]byte{127, 0, 0, 1})
	uri := "http://rebind.example:" + u.Port() + "/a.mp3"

	require.NoError(t, f.Check(uri), "nothing is wrong with the name")
	_, err = f.Fetch(t.Context(), ref(uri))
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.ErrorContains(t, err, "127.0.0.1 is not a public address")
	_, err = f.Resolve(t.Context(), uri)
	require.ErrorIs(t, err, fault.ErrInvalid)
	require.Zero(t, asked.Load())

	require.NoError(t, f.Trust(models.Origin{Kind: models.Feed, URI: uri}))
	file, err := f.Fetch(t.Context(), ref(uri))
	require.NoError(t, err, "the operator allowed this host")
	require.NoError(t, file.Close())
	ip, err := f.Resolve(t.Context(), uri)
	require.NoError(t, err)
	require.Equal(t, netip.AddrFrom4([4]byte{127, 0, 0, 1}), ip)
}

func TestTheAddressOfAURLIsOneThatMayBeDialled(t *testing.T) {
	t.Parallel()
	f := open(t, Config{AllowPrivate: []string{"10.1.0.0/16", "nas.local"}})
	f.guard.resolver = answering([4]byte{10, 2, 0, 1})
	for uri, want := range map[string]string{
		"http://1.1.1.1/x": "1.1.1.1", "http://10.1.2.3:8080/": "10.1.2.3", "https://[2606:4700::1111]/": "2606:4700::1111", "http://nas.local/x": "10.2.0.1",
	} {
		got, err := f.Resolve(t.Context(), uri)
		require.NoError(t, err, uri)
		require.Equal(t, want, got.String())
	}
	for _, uri := range []string{"http://10.2.0.1/", "http://name.example/", "ftp://1.1.1.1/", "http://"} {
		_, err := f.Resolve(t.Context(), uri)
		require.ErrorIs(t, err, fault.ErrInvalid, uri)
	}
	f.guard.resolver = answering([4]byte{10, 2, 0, 1}, [4]byte{1, 1, 1, 1}, [4]byte{10, 2, 0, 2})
	got, err := f.Resolve(t.Context(), "http://name.example/")
	require.NoError(t, err)
	require.Equal(t, "1.1.1.1", got.String(), "the first that may be dialled")
	f.guard.resolver = &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) { return nil, io.ErrClosedPipe }}
	_, err = f.Resolve(t.Context(), "http://name.example/")
	require.ErrorIs(t, err, fault.ErrUnavailable)
	require.ErrorContains(t, err, "name.example")
}

// answering resolves every name to these addresses.
func answering(ips ...[4]byte) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		client, server := net.Pipe()
		go func() {
			defer server.Close()
			_ = answer(server, ips)
		}()
		return client, nil
	}}
}

func answer(c net.Conn, ips [][4]byte) error {
	var size uint16
	if err := binary.Read(c, binary.BigEndian, &size); err != nil {
		return err
	}
	packet := make([]byte, size)
	if _, err := io.ReadFull(c, packet); err != nil {
		return err
	}
	var m dnsmessage.Message
	if err := m.Unpack(packet); err != nil {
		return err
	}
	q := m.Questions[0]
	reply := dnsmessage.Message{Header: dnsmessage.Header{ID: m.ID, Response: true}, Questions: m.Questions[:1]}
	for _, ip := range ips {
		if q.Type == dnsmessage.TypeA {
			reply.Answers = append(reply.Answers, dnsmessage.Resource{
				Header: dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class},
				Body:   &dnsmessage.AResource{A: ip},
			})
		}
	}
	out, err := reply.Pack()
	if err != nil {
		return err
	}
	_, err = c.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...))
	return err
}

func TestAllowNamesHostsPortsAndNetworks(t *testing.T) {
	t.Parallel()
	f := open(t, Config{AllowPrivate: []string{"NAS.local.", "127.0.0.1:8080", "10.1.0.0/16", "[::1]", "localhost:9", "127.0.0.2:80", "127.0.0.3:443"}})
	for uri, ok := range map[string]bool{
		"http://127.0.0.1:8080/": true, "http://127.0.0.1:8081/": false, "http://127.0.0.1/": false,
		"http://10.1.2.3/": true, "http://10.2.0.1/": false, "http://[::ffff:10.1.2.3]/": true,
		"http://127.0.0.2/": true, "https://127.0.0.2/": false, "https://127.0.0.3/": true, "http://127.0.0.3/": false,
		"http://[::1]:77/": true, "http://localhost:9/": true, "http://localhost/": false,
	} {
		require.Equal(t, ok, f.Check(uri) == nil, uri)
	}
	require.NoError(t, f.guard.checkDialled("nas.local:80", "192.168.1.1:80"))
	require.ErrorIs(t, f.guard.checkDialled("nas.remote:80", "192.168.1.1:80"), fault.ErrInvalid)
	require.ErrorIs(t, f.guard.checkDialled("x:80", "nonsense"), fault.ErrInvalid)
	for _, bad := range []string{"", "http://x", "10.0.0.0/99", "a b"} {
		_, err := New(Config{Dir: t.TempDir(), AllowPrivate: []string{bad}})
		require.ErrorIs(t, err, fault.ErrInvalid, bad)
	}
}

func TestProxyVariablesAreNotHonoured(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	s := serve(t, respond("direct"))
	f := open(t, Config{})
	content, err := f.Document(t.Context(), s.URL, 100)
	require.NoError(t, err)
	require.Equal(t, "direct", string(content))
}

func TestAGuardedClientReachesOnlyWhatIsPublicOrAllowed(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) })
	for _, target := range []string{s.URL, "http://10.1.2.3/", "http://[::1]/", "ftp://example.org/", "example.org", "://"} {
		_, err := NewGuardedClient(target, nil, time.Second)
		require.ErrorIs(t, err, fault.ErrInvalid, target)
	}
	_, err := NewGuardedClient("https://example.org/", []string{"not a host"}, time.Second)
	require.ErrorIs(t, err, fault.ErrInvalid)
	_, err = NewGuardedClient("https://example.org/", nil, time.Second)
	require.NoError(t, err)
	c, err := NewGuardedClient(s.URL, []string{"127.0.0.0/8"}, 10*time.Second)
	require.NoError(t, err)
	defer c.CloseIdleConnections()
	r, err := c.Get(s.URL)
	require.NoError(t, err)
	require.NoError(t, r.Body.Close())
	require.Equal(t, http.StatusFound, r.StatusCode, "a redirect is not followed")
}

func TestALongTextIsShortened(t *testing.T) {
	t.Parallel()
	whole := strings.Repeat("x", 300)
	require.Equal(t, whole, shorten(whole))
	require.Equal(t, whole+"…", shorten(whole+"x"))
}

func TestTheURLThatAnOperatorNamedIsTrustedAndNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, c := range map[string]struct {
		origin models.Origin
		uri    string
		want   bool
	}{
		"http":                      {models.Origin{Kind: models.Feed, URI: "http://10.0.0.1/feed"}, "http://10.0.0.1/a.mp3", true},
		"https":                     {models.Origin{Kind: models.Feed, URI: "https://10.0.0.1/feed"}, "https://10.0.0.1/a.mp3", true},
		"another port":              {models.Origin{Kind: models.Feed, URI: "https://10.0.0.1/feed"}, "https://10.0.0.1:8443/a.mp3", false},
		"a URL that a lister named": {models.Origin{Kind: models.Feed, URI: "http://10.0.0.1/feed", Listed: true}, "http://10.0.0.1/a.mp3", false},
		"behind ssh":                {models.Origin{Kind: models.Git, URI: "ssh://git@10.0.0.1/a"}, "http://10.0.0.1/a", false},
		"not visited":               {models.Origin{Kind: models.API, URI: "http://10.0.0.1/a"}, "http://10.0.0.1/a", false},
	} {
		f := open(t, Config{AllowPrivate: []string{}})
		require.NoError(t, f.Trust(c.origin), name)
		require.Equal(t, c.want, f.Check(c.uri) == nil, name)
		require.Empty(t, f.roots.folders, name)
	}
	f := open(t, Config{})
	require.NoError(t, f.Trust(models.Origin{Kind: models.Media, URI: dir, Listed: true}), "a folder that a manifest listed")
	require.Equal(t, []string{dir}, f.roots.folders)
}
