package gitrepo

import (
	"context"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/cgi"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"leasehold/shared/fault"
)

func TestFault51SourcesThatAreRefused(t *testing.T) {
	t.Parallel()
	s := openStore(t, Config{Schemes: []string{"https", "ssh"}, Hosts: []string{"example.org"}})
	for _, uri := range []string{
		"", "x", "-rf", "--upload-pack=touch x", "ext::sh -c touch% x", "fd::7", "file:///etc", "git://example.org/x", "http://example.org/x",
		"host:path", "ssh://-oProxyCommand=touch/x", "ssh://-oProxyCommand=x@example.org/x", "https://evil.example/x", "https://example.org/a\nb",
		"https://example.org/\x00", "https://", "https:example.org", "https://bob:a%0Ab@example.org/x", "../x", "/a\x00b",
	} {
		_, err := s.Mirror("m", uri, true)
		require.ErrorIs(t, err, fault.ErrInvalid, "%q", uri)
		require.NotContains(t, err.Error(), "bob")
	}
	for _, id := range []string{"", "../m", "a/b", "-;"} {
		_, err := s.Mirror(id, "https://example.org/x", true)
		require.Error(t, err, id)
	}
	_, err := s.Mirror("m", "https://EXAMPLE.org/x", false)
	require.NoError(t, err)
}

func TestFault51NamesAndLinksAreOnlyData(t *testing.T) {
	t.Parallel()
	bothEngines(t, testFault51NamesAndLinksAreOnlyData)
}

func testFault51NamesAndLinksAreOnlyData(t *testing.T, lib bool) {
	r := newRepo(t)
	oid, link := r.blob("text"), r.blob("/etc/passwd")
	loop := r.blob("loop")
	names := []string{"-rf", "a\nb", "\xff\xfe.go", "tab\tname", `quote".go`, "ü.go", " "}
	var entries strings.Builder
	for _, name := range names {
		entries.WriteString("100644 blob " + oid + "\t" + name + "\x00")
	}
	entries.WriteString("120000 blob " + link + "\tpasswd\x00120000 blob " + loop + "\tloop\x00")
	entries.WriteString("160000 commit " + strings.Repeat("1", 40) + "\tsub\x00")
	r.commitTree(entries.String())
	m := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir)
	files := filesOf(t, m, Wanted{})
	require.Len(t, files, len(names)+3)
	for _, name := range names {
		require.Equal(t, File{Path: name, OID: oid, Size: 4}, files[name])
	}
	require.Equal(t, Link, files["passwd"].Kind)
	require.Equal(t, "/etc/passwd", contents(t, m, files["passwd"].OID)[link], "the target is text")
	require.Equal(t, Link, files["loop"].Kind)
	require.Equal(t, Submodule, files["sub"].Kind)
	require.NoFileExists(t, filepath.Join(filepath.Dir(m.dir), "-rf"))
}

func TestFault51ATreeWhoseNamesLeadOutIsOnlyListed(t *testing.T) {
	t.Parallel()
	bothEngines(t, testFault51ATreeWhoseNamesLeadOutIsOnlyListed)
}

func testFault51ATreeWhoseNamesLeadOutIsOnlyListed(t *testing.T, lib bool) {
	r := newRepo(t)
	oid := r.blob("text")
	raw, err := hex.DecodeString(oid)
	require.NoError(t, err)
	tree := r.gitWith("100644 ../../escape\x00"+string(raw), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	r.git("update-ref", "refs/heads/main", r.git("commit-tree", "-m", "x", tree))
	m := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir)
	found, err := m.Fetch(t.Context(), Wanted{})
	if err == nil { // a later version of git may refuse the tree
		files, err := m.Files(t.Context(), found[0].Commit)
		require.NoError(t, err)
		require.Equal(t, "../../escape", files[0].Path)
	}
	escaped, err := filepath.Glob(filepath.Join(filepath.Dir(m.store.Dir), "*escape*"))
	require.NoError(t, err)
	require.Empty(t, escaped)
}

func TestADamagedPackOfTheOriginIsAnErrorUntilItIsRepaired(t *testing.T) {
	t.Parallel()
	bothEngines(t, testADamagedPackOfTheOriginIsAnErrorUntilItIsRepaired)
}

func testADamagedPackOfTheOriginIsAnErrorUntilItIsRepaired(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": strings.Repeat("one ", 1000)})
	s := openStore(t, Config{Library: lib})
	m := mirrorOf(t, s, r.dir)
	filesOf(t, m, Wanted{})
	r.commit(map[string]string{"b": strings.Repeat("two ", 1000)})
	r.git("repack", "-q", "-a", "-d", "-f")
	pack, err := filepath.Glob(filepath.Join(r.dir, ".git/objects/pack/*.pack"))
	require.NoError(t, err)
	require.Len(t, pack, 1)
	good, err := os.ReadFile(pack[0])
	require.NoError(t, err)
	require.NoError(t, os.Chmod(pack[0], 0o600))
	bad := slices.Clone(good)
	for i := 20; i < len(bad)-20; i++ {
		bad[i] ^= 0xa5
	}
	for _, content := range [][]byte{bad, good[:len(good)/2], nil} {
		require.NoError(t, os.WriteFile(pack[0], content, 0o600))
		_, err = m.Fetch(t.Context(), Wanted{})
		require.Error(t, err)
		require.Less(t, len(err.Error()), 8<<10)
	}
	require.NoError(t, os.WriteFile(pack[0], good, 0o600))
	require.Len(t, filesOf(t, m, Wanted{}), 2)
}

func TestALargeFileIsNotReadIntoMemory(t *testing.T) {
	r := newRepo(t) // not parallel, because it counts allocations
	r.git("config", "core.compression", "1")
	r.git("config", "core.bigFileThreshold", "1m")
	file := filepath.Join(r.dir, "large")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	require.NoError(t, os.Truncate(file, 200<<20))
	r.commit(map[string]string{"small": "text"})
	m := mirrorOf(t, openStore(t, Config{}), r.dir)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	files := filesOf(t, m, Wanted{})
	require.EqualValues(t, 200<<20, files["large"].Size)
	read := contents(t, m, files["large"].OID, files["small"].OID)
	runtime.ReadMemStats(&after)
	require.Contains(t, read[files["large"].OID], "209715200 bytes, more than 1048576")
	require.Equal(t, "text", read[files["small"].OID], "the reading goes on behind it")
	require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20))
}

func TestACommitWithAHundredThousandFilesIsListed(t *testing.T) {
	t.Parallel()
	bothEngines(t, testACommitWithAHundredThousandFilesIsListed)
}

func testACommitWithAHundredThousandFilesIsListed(t *testing.T, lib bool) {
	r := newRepo(t)
	oid := r.blob("text")
	var entries strings.Builder
	for i := range 100_000 {
		fmt.Fprintf(&entries, "100644 blob %s\tf%06d\x00", oid, i)
	}
	r.commitTree(entries.String())
	require.Len(t, filesOf(t, mirrorOf(t, openStore(t, Config{Library: lib}), r.dir), Wanted{}), 100_000)
}

func TestFault51NoProgramOfARepositoryRuns(t *testing.T) {
	t.Parallel()
	bothEngines(t, testFault51NoProgramOfARepositoryRuns)
}

func testFault51NoProgramOfARepositoryRuns(t *testing.T, lib bool) {
	r := newRepo(t)
	marker := filepath.Join(t.TempDir(), "ran")
	script := "#!/bin/sh\ntouch " + marker + "\n"
	r.commit(map[string]string{
		"a.txt": "one", ".gitattributes": "*.txt filter=evil diff=evil\n", ".lfsconfig": "x",
		".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = ext::sh -c touch% " + marker + "\n\tupdate = !touch " + marker + "\n",
	})
	for _, hook := range []string{"post-checkout", "post-upload-pack", "reference-transaction", "pre-auto-gc", "post-index-change"} {
		path := filepath.Join(r.dir, ".git", "hooks", hook)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(script), 0o755))
	}
	for key, value := range map[string]string{
		"uploadpack.packObjectsHook": "touch " + marker, "filter.evil.smudge": "touch " + marker, "filter.evil.clean": "touch " + marker,
		"diff.evil.textconv": "touch " + marker, "core.fsmonitor": "touch " + marker, "core.sshCommand": "touch " + marker,
		"core.alternateRefsCommand": "touch " + marker, "protocol.ext.allow": "always", "core.pager": "touch " + marker,
		"remote.origin.url": "ext::sh -c touch% " + marker, "remote.origin.promisor": "true", "remote.origin.uploadpack": "touch " + marker,
		"extensions.partialClone": "origin", "core.repositoryformatversion": "1", "credential.helper": "!touch " + marker,
	} {
		if !lib || key != "extensions.partialClone" { // which the library refuses
			r.git("config", key, value)
		}
	}
	blob := r.git("rev-parse", "HEAD:a.txt")
	m := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir)
	files := filesOf(t, m, Wanted{})
	require.Equal(t, "one", contents(t, m, files["a.txt"].OID)[blob])
	// A missing blob is not fetched from where the repository names.
	require.NoError(t, os.Remove(filepath.Join(r.dir, ".git", "objects", blob[:2], blob[2:])))
	other, err := openStore(t, Config{Library: lib}).Mirror("m", r.dir, true)
	require.NoError(t, err)
	_, err = other.Fetch(t.Context(), Wanted{})
	require.Error(t, err)
	require.NoFileExists(t, marker)
}

func TestTheEnvironmentOfTheUserDoesNotReachGit(t *testing.T) {
	bothEngines(t, testTheEnvironmentOfTheUserDoesNotReachGit)
}

func testTheEnvironmentOfTheUserDoesNotReachGit(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	marker := filepath.Join(t.TempDir(), "ran")
	settings := filepath.Join(t.TempDir(), "gitconfig")
	require.NoError(t, os.WriteFile(settings, []byte("[core]\n\thooksPath = "+r.dir+"\n[url \"ext::touch "+marker+"\"]\n\tinsteadOf = /\n"), 0o600))
	for name, value := range map[string]string{
		"GIT_DIR": "/nowhere", "GIT_CONFIG_GLOBAL": settings, "GIT_SSH_COMMAND": "touch " + marker, "GIT_EXTERNAL_DIFF": "touch " + marker,
		"GIT_ALTERNATE_OBJECT_DIRECTORIES": "/nowhere", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.ext.allow", "GIT_CONFIG_VALUE_0": "always",
		"GIT_TRACE": marker, "GIT_PROXY_COMMAND": "touch " + marker, "GIT_EXEC_PATH": t.TempDir(),
	} {
		t.Setenv(name, value)
	}
	m := mirrorOf(t, openStore(t, Config{Library: lib}), r.dir)
	require.Len(t, filesOf(t, m, Wanted{}), 1)
	require.NoFileExists(t, marker)
}

// serveGit serves the repositories below a folder by HTTP to those who have a password.
func serveGit(t testing.TB, root, user, password string) *httptest.Server {
	t.Helper()
	core, err := exec.Command("git", "--exec-path").Output()
	require.NoError(t, err)
	backend := &cgi.Handler{Path: filepath.Join(strings.TrimSpace(string(core)), "git-http-backend"),
		Env: []string{"GIT_PROJECT_ROOT=" + root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch u, p, _ := r.BasicAuth(); {
		case r.URL.Path == "/moved/info/refs":
			http.Redirect(w, r, "/.git/info/refs?"+r.URL.RawQuery, http.StatusFound)
		case password != "" && (u != user || p != password):
			w.Header().Set("WWW-Authenticate", `Basic realm="x"`)
			w.WriteHeader(http.StatusUnauthorized)
		default:
			backend.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(server.Close)
	return server
}

func TestATokenReachesOnlyItsHostAndNoCommandLine(t *testing.T) {
	t.Parallel()
	bothEngines(t, testATokenReachesOnlyItsHostAndNoCommandLine)
}

func testATokenReachesOnlyItsHostAndNoCommandLine(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	const secret = "s3cret-to ken'$(touch x)"
	server := serveGit(t, r.dir, "x-access-token", secret)
	file := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(file, []byte(secret+"\n"), 0o600))

	_, err := mirrorOf(t, openStore(t, Config{Library: lib}), server.URL+"/.git").Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrForbidden)
	_, err = mirrorOf(t, openStore(t, Config{Library: lib, Tokens: map[string]string{"other.example": file}}), server.URL+"/.git").Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrForbidden)

	s := openStore(t, Config{Library: lib, Tokens: map[string]string{"127.0.0.1": file}})
	m := mirrorOf(t, s, server.URL+"/.git")
	require.Len(t, filesOf(t, m, Wanted{}), 1)
	if lib {
		return
	}
	c, _ := command{m}.gitCommand(t.Context(), "fetch")
	require.NotContains(t, strings.Join(append(c.Env, c.Args...), " "), "s3cret")
	settings, err := os.ReadFile(command{m}.config())
	require.NoError(t, err)
	require.NotContains(t, string(settings), "s3cret")
}

func TestAPasswordOfAURLIsNeitherPrintedNorKept(t *testing.T) {
	t.Parallel()
	bothEngines(t, testAPasswordOfAURLIsNeitherPrintedNorKept)
}

func testAPasswordOfAURLIsNeitherPrintedNorKept(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	server := serveGit(t, r.dir, "bob", "s3cret'$(id)%")
	s := openStore(t, Config{Library: lib})
	base := strings.TrimPrefix(server.URL, "http://")
	m := mirrorOf(t, s, "http://bob:s3cret'$(id)%25@"+base+"/.git")
	require.Len(t, filesOf(t, m, Wanted{}), 1)
	for _, uri := range []string{"http://bob:wrong-s3cret@" + base + "/.git", "http://bob:s3cret@127.0.0.1:1/x"} {
		_, err := mirrorOf(t, s, uri).Fetch(t.Context(), Wanted{})
		require.Error(t, err)
		require.NotContains(t, err.Error(), "s3cret")
	}
	left, err := filepath.Glob(filepath.Join(s.Dir, "*"+credentialsSuffix))
	require.NoError(t, err)
	require.Empty(t, left)
	out, err := exec.Command("grep", "-rl", "s3cret", s.Dir).Output()
	require.Error(t, err, "%s", out)
}

func TestAnAddressThatIsRefusedIsNotDialled(t *testing.T) {
	t.Parallel()
	bothEngines(t, testAnAddressThatIsRefusedIsNotDialled)
}

func testAnAddressThatIsRefusedIsNotDialled(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	server := serveGit(t, r.dir, "", "")
	port := server.URL[strings.LastIndexByte(server.URL, ':'):]
	refuse := func(context.Context, string) (netip.Addr, error) { return netip.Addr{}, fault.ErrInvalid }
	_, err := mirrorOf(t, openStore(t, Config{Library: lib, Resolve: refuse}), server.URL+"/.git").Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrInvalid)
	// A name is dialled at the address that was checked, even if resolvers answer otherwise later.
	pin := func(context.Context, string) (netip.Addr, error) { return netip.MustParseAddr("127.0.0.1"), nil }
	require.Len(t, filesOf(t, mirrorOf(t, openStore(t, Config{Library: lib, Resolve: pin}), "http://repository.invalid"+port+"/.git"), Wanted{}), 1)
	_, err = mirrorOf(t, openStore(t, Config{Library: lib}), server.URL+"/moved").Fetch(t.Context(), Wanted{})
	require.Error(t, err, "a redirect could lead to another address")
	_, err = mirrorOf(t, openStore(t, Config{Library: lib}), server.URL+"/absent").Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrNotFound)
}

func TestASourceThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	bothEngines(t, testASourceThatDoesNotExistIsNotFound)
}

func testASourceThatDoesNotExistIsNotFound(t *testing.T, lib bool) {
	s := openStore(t, Config{Library: lib})
	_, err := mirrorOf(t, s, filepath.Join(t.TempDir(), "none")).Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrNotFound)
	_, err = mirrorOf(t, s, t.TempDir()).Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrNotFound)
	require.NotContains(t, err.Error(), "\n")
	_, err = Open(Config{Library: lib, Dir: "/dev/null/x"})
	require.ErrorIs(t, err, fault.ErrFolder)
}

func TestARepositoryIsFetchedOverSSHWithoutQuestions(t *testing.T) {
	t.Parallel()
	bothEngines(t, testARepositoryIsFetchedOverSSHWithoutQuestions)
}

func testARepositoryIsFetchedOverSSHWithoutQuestions(t *testing.T, lib bool) {
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	// It runs the command that the server would run, and notes how it was called.
	calls := filepath.Join(t.TempDir(), "calls")
	fake := filepath.Join(t.TempDir(), "fake ssh")
	script := "#!/bin/sh\nprintf '%s\\n' \"$*\" >> " + calls + "\nfor last; do :; done\nexec sh -c \"$last\"\n"
	require.NoError(t, os.WriteFile(fake, []byte(script), 0o700))
	s := openStore(t, Config{Library: lib, SSH: "'" + fake + "' -i key"})
	m := mirrorOf(t, s, "ssh://bob@example.org:2222"+r.dir)
	require.Len(t, filesOf(t, m, Wanted{}), 1)
	refs, err := m.Refs(t.Context())
	require.NoError(t, err)
	require.Contains(t, refs, "refs/heads/main")
	text, err := os.ReadFile(calls)
	require.NoError(t, err)
	for call := range strings.Lines(string(text)) {
		for _, want := range []string{"-i key ", "-o BatchMode=yes ", "-o StrictHostKeyChecking=yes ", "-p 2222 ", " bob@example.org git-upload-pack '" + r.dir + "'"} {
			require.Contains(t, call, want)
		}
	}
	// A password in an ssh URL reaches nothing.
	secret := mirrorOf(t, s, "ssh://bob:s3cret@example.org"+r.dir+"/none")
	_, err = secret.Fetch(t.Context(), Wanted{})
	require.Error(t, err)
	require.NotContains(t, err.Error(), "s3cret")
	text, err = os.ReadFile(calls)
	require.NoError(t, err)
	require.NotContains(t, string(text), "s3cret")
	refused := mirrorOf(t, openStore(t, Config{Library: lib, SSH: "echo Permission denied >&2; false"}), "ssh://example.org/x")
	_, err = refused.Fetch(t.Context(), Wanted{})
	require.ErrorIs(t, err, fault.ErrForbidden)
}

func TestAWorkTreeWhoseRepositoryIsElsewhereIsRead(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	tree := filepath.Join(t.TempDir(), "tree")
	r.git("worktree", "add", "--quiet", "-b", "other", tree)
	r.commit(map[string]string{"b": "two"})
	m := mirrorOf(t, openStore(t, Config{}), tree)
	files := filesOf(t, m, Wanted{})
	require.Len(t, files, 1, "its own HEAD")
	require.Contains(t, files, "a")
}

func TestABundleIsARepository(t *testing.T) {
	t.Parallel()
	r := newRepo(t)
	r.commit(map[string]string{"a": "one"})
	bundle := filepath.Join(t.TempDir(), "x.bundle")
	r.git("bundle", "create", bundle, "HEAD", "main")
	require.Len(t, filesOf(t, mirrorOf(t, openStore(t, Config{}), bundle), Wanted{}), 1)
}
