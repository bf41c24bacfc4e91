package codetest

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"leasehold/shared/code"
)

const (
	serverGo = "package server\n\n// Server serves.\ntype Server struct{}\n\nfunc (s *Server) Serve() error {\n\treturn ErrClosed\n}\n"
	clientPy = "class Client:\n    def connect(self):\n        raise ErrClosed\n"
	readme   = "# Example\nThe server of example.com/b.\nStraße ΣΊΣΥΦΟΣ Kelvin\n"
)

// textQueries combine texts and filters, and quote what would be an operator.
var textQueries = map[string]string{
	`ErrClosed class`:                                        "b:client.py:1 b:client.py:3",
	`ErrClosed -class`:                                       "a:server/server.go:7 b:vendor/x/server.go:7",
	`ErrClosed (server file:^server or -class)`:              "a:server/server.go:1 a:server/server.go:7 b:vendor/x/server.go:1 b:vendor/x/server.go:7",
	`ErrClosed (server file:^server or -class) file:^vendor`: "b:vendor/x/server.go:1 b:vendor/x/server.go:7",
	`connect or serves`:                                      "a:server/server.go:3 b:client.py:2 b:vendor/x/server.go:3",
	`(connect or serves) -vendor:yes`:                        "a:server/server.go:3 b:client.py:2",
	`serves or (connect absent)`:                             "a:server/server.go:3 b:vendor/x/server.go:3",
	`-(lang:go or lang:python) example`:                      "a:README.md:2",
	`"func (s *Server)"`:                                     "a:server/server.go:6 b:vendor/x/server.go:6",
	`"\"" or connect`:                                        "b:client.py:2",
	`absent`:                                                 "",
	`repo:b (lang:go or def)`:                                "b:client.py:2 b:vendor/x/server.go:0",
	`// lang:go repo:a$`:                                     "a:server/server.go:3",
	`a/b`:                                                    "",
	`.com/b`:                                                 "a:README.md:2",
}

// pathQueries have words that are in paths: a file that matches by its path alone is line 0.
var pathQueries = map[string]string{
	`client.py`:                    "b:client.py:0",
	`Client.py`:                    "",
	`CLIENT.py case:no`:            "b:client.py:0",
	`client.py repo:b.git`:         "b:client.py:0",
	`client.py repo:/b.git$`:       "b:client.py:0",
	`client.py repo:a.git`:         "",
	`README ErrClosed`:             "",
	`README server`:                "a:README.md:2",
	`x/server.go ErrClosed`:        "b:vendor/x/server.go:7",
	`"er/server.go" or Client:`:    "a:server/server.go:0 b:client.py:1",
	`goclient`:                     "",
	`ErrClosed -vendor`:            "a:server/server.go:7 b:client.py:3",
	`-server`:                      "b:client.py:0",
	`-(client or server) README`:   "",
	`content:client`:               "",
	`content:"server of"`:          "a:README.md:2",
	`content:/^import|^class/`:     "b:client.py:1",
	`-content:Serve repo:b`:        "b:client.py:0",
	`/client/`:                     "",
	`file:client`:                  "b:client.py:0",
	`ErrClosed AND NOT class`:      "a:server/server.go:7 b:vendor/x/server.go:7",
	`connect OR serves NOT vendor`: "a:server/server.go:3 b:client.py:2",
	`"AND" OR connect`:             "b:client.py:2",
	`ErrClosed lang:golang`:        "a:server/server.go:7 b:vendor/x/server.go:7",
	`ErrClosed lang:PY`:            "b:client.py:3",
	`lang:md`:                      "a:README.md:0",
}

// filterQueries filter by file, repository, language, branch and vendored code. Without a text they
// find files, as line 0.
var filterQueries = map[string]string{
	`ErrClosed`:                    "a:server/server.go:7 b:client.py:3 b:vendor/x/server.go:7",
	`ErrClosed repo:example.com/a`: "a:server/server.go:7",
	`ErrClosed lang:python`:        "b:client.py:3",
	`ErrClosed lang:Pyth`:          "",
	`ErrClosed file:\.go$`:         "a:server/server.go:7 b:vendor/x/server.go:7",
	`ErrClosed -file:\.go$`:        "b:client.py:3",
	`ErrClosed -vendor:yes`:        "a:server/server.go:7 b:client.py:3",
	`ErrClosed vendor:yes`:         "b:vendor/x/server.go:7",
	`ErrClosed vendor:no lang:go`:  "a:server/server.go:7",
	`ErrClosed branch:ma.n`:        "a:server/server.go:7 b:client.py:3 b:vendor/x/server.go:7",
	`ErrClosed branch:dev`:         "",
	`file:README`:                  "a:README.md:0",
	`-file:server repo:.`:          "a:README.md:0 b:client.py:0",
	`repo:b`:                       "b:client.py:0 b:vendor/x/server.go:0",
}

// symbolQueries find the lines that define a symbol, or leave out the files that do.
var symbolQueries = map[string]string{
	`sym:Serve repo:a$`:     "a:server/server.go:4 a:server/server.go:6",
	`sym:/^Serve$/ repo:a$`: "a:server/server.go:6",
	`sym:serve repo:a$`:     "",
	`-sym:Serve ErrClosed`:  "b:client.py:3",
}

// caseQueries ignore case only if case:no is given, or case:auto without a capital letter.
var caseQueries = map[string]string{
	`sym:serve$ repo:a$ case:no`:      "",
	`sym:/^serve$/ repo:a$ case:no`:   "a:server/server.go:6",
	`errclosed`:                       "",
	`errclosed case:no lang:python`:   "b:client.py:3",
	`errclosed case:auto lang:python`: "b:client.py:3",
	`Errclosed case:auto`:             "",
	`σίσυφοσ case:no`:                 "a:README.md:3",
	`σίσυφος case:auto`:               "a:README.md:3",
	`ΣΊΣ`:                             "a:README.md:3",
	`straSSe case:no`:                 "",
	`STRAßE case:no`:                  "a:README.md:3",
	"\u212aelvin case:no":             "a:README.md:3",
	`/\x{212a}ELVIN/ case:no`:         "a:README.md:3",
}

// patternQueries are regular expressions, which may match more than one line.
var patternQueries = map[string]string{
	`/(Err|err)[A-Z]\w+d$/ repo:b$`: "b:client.py:3 b:vendor/x/server.go:7",
	`/^package/ repo:a$`:            "a:server/server.go:1",
	`/\}\n\nfunc/ repo:a$`:          "a:server/server.go:4 a:server/server.go:5 a:server/server.go:6",
	`/(?s)type.*\*Server/ repo:a$`:  "a:server/server.go:4 a:server/server.go:5 a:server/server.go:6",
	`/type[^x]*Serve\(/`:            "",
	`/(?s:.)*absent/`:               "",
}

// queries checks each part of the language on two repositories.
func queries(f fixture) {
	ctx := context.Background()
	require.NoError(f, f.PutBlobs(ctx, "1", []code.Blob{
		blob(serverGo, "Go",
			code.Symbol{Name: "Server", Kind: "type", Line: 4, End: 4},
			code.Symbol{Name: "Serve", Kind: "method", Scope: "Server", Line: 6, End: 8}),
		blob(clientPy, "Python", code.Symbol{Name: "Client", Kind: "class", Line: 1, End: 3}),
		blob(readme, "Markdown"),
	}))
	a := manifest("a", tree{"server/server.go": serverGo, "README.md": readme})
	b := manifest("b", tree{"vendor/x/server.go": serverGo, "client.py": clientPy})
	for i := range b.Files {
		b.Files[i].Vendored = strings.HasPrefix(b.Files[i].Path, "vendor/")
	}
	require.NoError(f, f.Publish(ctx, a))
	require.NoError(f, f.Publish(ctx, b))
	for _, part := range []map[string]string{textQueries, pathQueries, filterQueries, symbolQueries, caseQueries, patternQueries} {
		for query, want := range part {
			require.Equal(f, strings.Fields(want), f.places(query), "query %s", query)
		}
	}
}

// lines checks which lines match at the edges of files and lines.
func lines(f fixture) {
	f.publish("r", tree{
		"none":    "",
		"feed":    "\n",
		"open":    "one\ntwo",
		"closed":  "one\ntwo\n",
		"windows": "one\r\ntwo\r\n",
		"mark":    "\ufeffmark\r\nx\n",
		"latin":   "caf\xe9 one\nsecond \xff\xfe\n",
		"long":    strings.Repeat("x", 1<<16) + "needle" + strings.Repeat("y", 1<<16) + "\nnext\n",
		"many":    strings.Repeat("filler line of some length\n", 1000) + "last needle",
	})
	for query, want := range map[string]string{
		`two`:                  "r:closed:2 r:open:2 r:windows:2",
		`/two$/`:               "r:closed:2 r:open:2 r:windows:2",
		`/^(\S+)$/ file:wind`:  "r:windows:1 r:windows:2",
		`/^mark/`:              "r:mark:1",
		`/^mark$/`:             "r:mark:1",
		`/(?m)^mark$\n^x/`:     "r:mark:1 r:mark:2",
		`/\bmark/`:             "r:mark:1",
		`/e$\nt/ file:windows`: "r:windows:1 r:windows:2",
		`/two\r$/`:             "r:windows:2",
		`/^$/`:                 "r:feed:1",
		`/^/ -file:many`:       "r:closed:1 r:closed:2 r:feed:1 r:latin:1 r:latin:2 r:long:1 r:long:2 r:mark:1 r:mark:2 r:open:1 r:open:2 r:windows:1 r:windows:2",
		`/x*/ file:o`:          "r:closed:1 r:closed:2 r:long:1 r:long:2 r:open:1 r:open:2 r:windows:1 r:windows:2",
		`/\Aone/`:              "r:closed:1 r:open:1 r:windows:1",
		`/two\z/`:              "r:closed:2 r:open:2",
		`needle`:               "r:long:1 r:many:1001",
		`/y{9}$/`:              "r:long:1",
		`/ne+dle/ or next`:     "r:long:1 r:long:2 r:many:1001",
		`/caf. one/`:           "r:latin:1",
		`/caf\x{fffd} one/`:    "r:latin:1",
		`/second \W\W$/`:       "r:latin:2",
		`/e\s+t/ file:open`:    "",
		`/e\n+t/ file:open`:    "r:open:1 r:open:2",
		`/[^q]two/`:            "",
		`/\n\z/ file:closed`:   "r:closed:2",
		`/(a*)*b/ file:many`:   "",
		`/(|one)+$/`:           "r:closed:1 r:closed:2 r:feed:1 r:latin:1 r:latin:2 r:long:1 r:long:2 r:mark:1 r:mark:2 r:open:1 r:open:2 r:windows:1 r:windows:2",
	} {
		if strings.HasPrefix(query, `/(|one)+$/`) {
			query += " -file:many"
		}
		require.Equal(f, strings.Fields(want), f.places(query), "query %s", query)
	}
}
