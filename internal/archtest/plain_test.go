package archtest

import "regexp"

// unclean are the folders in which findings, and those in the folders below, are
// printed (go test -v) but do not fail. A name that ends in ! is that folder only. A
// folder leaves the list when it has no findings, and none comes in.
var unclean = []string{}

// A limit is how often a word may occur in 10,000 words of comments. Without a
// limit it is only reported.
type limit struct {
	word     string
	match    *regexp.Regexp
	per10000 int
	plain    string
}

var limits = []limit{
	{"says", word(`says`), 2, "name the verb: returns, reports, prints, states, decides"},
	{"nobody", word(`nobody`), 1, "name who: no session, no waiter, no worker; or use the passive"},
	{"whoever", word(`whoever`), 1, "name who: the caller, the session, the worker that"},
	{"whatever", word(`whatever`), 1, "name it: any error, every field; or state the condition with if"},
	{"anew", word(`anew`), 1, "again, from the start"},
	{"what is", word(`what is`), 2, "name the thing: the tuples that wait, not what is waiting"},
	{"somebody", word(`somebody`), 1, "name who: another session, a user, a worker"},
	{"because", word(`because`), 0, ""},
	{"if", word(`if`), 0, ""},
}

// A phrase is banned everywhere; around the place where except matches, it stays.
type phrase struct {
	match  *regexp.Regexp
	plain  string
	except *regexp.Regexp
}

var phrases = []phrase{
	{word(`of which`), "begin a new sentence, or name the thing again", nil},
	{word(`of what`), "name the thing instead of the clause: of the tuples, of the request", word(`because of what`)},
	{word(`to whom|for whom|by whom|of whom`), "make the person or process the subject", nil},
	{regexp.MustCompile(`(?i)[^\s]+\s+(?:is|are)\s+no\s+\w+`), "is not a …; an error states what is accepted (want an id: …)",
		regexp.MustCompile(`(?i)^(?:\W*there\s|\S+\s+(?:is|are)\s+no\s+(?:longer|more|less|better|worse|later|earlier|larger|smaller|greater|other|different)\b)`)},
	{word(`goes? not|has not to|is none of|are none of|was none of`), "does not …; cannot be combined with; unknown …: use one of …", nil},
	{word(`(?:is|are|was|were|be|being) told`), "make the teller the subject: X calls Y, X notifies Y, X reports to Y", nil},
	{word(`(?:is|are|was|were) said (?:by|of|in|to|so|at|how|what|here|there)`), "name the subject: X reports, X states, X documents", nil},
	{word(`tells (?:nobody|no one|it so|of it|of each|nothing)`), "calls, notifies, reports to, logs", nil},
	{word(`says (?:so|nothing|what|which|who|how|whether)`), "returns, reports, prints, states", nil},
	{word(`(?:is|are) wanted`), "want …; is required; is requested", nil},
	{word(`again and again|over and over`), "repeatedly, periodically", nil},
	{word(`so many \w+ as`), "as many … as; at most n", nil},
	{word(`lest`), "so that … not; because otherwise", nil},
	{word(`at an end`), "has ended", nil},
	{word(`(?:an?|one|each|every|first|last|next|another|new|second) look`), "visits, reads, checks, polls", nil},
	{word(`who(?:se)? affair|'s affair|own affair`), "responsibility; X decides", nil},
	{word(`kept by heart|by heart`), "cached, in memory", nil},
	{word(`houses?`), "data folder (dataDir), fixture, architecture", nil},
	{word(`rooms?`), "space state, disk space, capacity, slots, package", nil},
	{word(`crews?`), "supervisor, pool", nil},
	{word(`labours?`), "work, workload", nil},
	{word(`strangers?`), "foreign client, unknown peer, untrusted input", nil},
	{word(`weather`), "faulty connection, network faults", nil},
	{word(`jury|juries`), "scorer", nil},
	{word(`albums?`), "cache, history", nil},
	{word(`parades?`), "comparison", nil},
	{word(`fates?`), "outcome, change, state", nil},
	{word(`opinions?`), "report, verdict, result", nil},
	{word(`fuses?`), "trigger", nil},
	{word(`deeds?`), "action", word(`indeed`)},
	{word(`outposts?`), "remote node", nil},
	{word(`shelf|shelves`), "catalog source", nil},
	{word(`goods`), "tuples", nil},
	{word(`hygien(?:e|ic|ist)s?`), "clip checks (cliplint, clipChecker)", nil},
	{word(`haystacks?`), "test episodes", nil},
	{word(`letterbox|mailbox`), "inbox", nil},
	{word(`desks?`), "admin", nil},
	{word(`patience|patiently|impatient(?:ly)?`), "timeout, retry limit, back-off (retryAfter, RetryOverload)", nil},
	{word(`hurry|hurries|hurried`), "minimum spacing, early visit", nil},
	{regexp.MustCompile(`(?i)(?:^|[^.\w])(?:unsticks?|unstuck)\b`), "revive, requeue", nil},
	{word(`mends?|mended|mending`), "fix, repair, wrap", nil},
	{word(`hand over|handed over|hands`), "pass, call, give; pool, workers", word(`hands(?:\s+\S+){0,4}\s+back|hands back`)},
	{word(`in hand|in the hands? of`), "held by, owned by, in progress", nil},
	{word(`glimpses?`), "partial match", nil},
}

// bannedNames are words that no identifier and no file name has in it.
var bannedNames = map[string]string{
	"house": "dataDir, fixture", "crew": "supervisor, pool", "outpost": "remoteNode", "shelf": "catalogSource",
	"labour": "workload, runWorker", "stranger": "foreignClient, malformedClient", "strangers": "malformedClient, decoders",
	"weather": "faultyConn", "jury": "scorer", "album": "cache", "parade": "comparison", "fate": "change",
	"opinion": "cachedReport", "fuse": "trigger", "deed": "action", "glimpse": "partialMatch", "hygiene": "cliplint",
	"hygienist": "clipChecker", "haystack": "testEpisodes", "goods": "tuples", "room": "spaceState, diskReserve, capacity, slots, package",
	"rooms": "packages, capacities", "unstick": "reviveStuck", "mend": "fix…, wrap… with an object",
	"patience": "retryAfter", "hurry": "minSpacing", "mended": "repaired", "nobody": "name who", "whoever": "name who",
	"whatever": "name it", "somebody": "name who", "anew": "again",
}

// renames are the names that were replaced within a folder, and in the same order
// those that replaced them.
type renames struct{ dir, names, plain string }

// replaced are names of identifiers.
var replaced = []renames{
	{all, "hands", "workers"},
	{"shared/space/engine", "life letter mail relieved swap own figures", "epoch message inbox freedSpaces replace cloneRequest stats"},
	{"coordinator/gate", "linger depart converse pace visit", "awaitReconnect detach serve rateLimit connection"},
	{"shared/protocol/task", "shadow desk bury Letter sound endAttempt", "claimTuple admin deadLetter DeadLetter validate revokeAttempt"},
	{"shared/protocol/status", "heart", "heartbeat"},
	{"shared/catalog", "Around Longest Patiently Reach trouble aPart beside", "WithinTolerance MaxFindingLength RetryOverload RetryUnavailable problem pageSQL withinSQL"},
	{"manager/clips", "isBad clean beside", "permanent sanitize localBase"},
	{"shared/clips", "movement tape echo", "steadiness recording repeat"},
	{"tup4fun/conform", "sight", "match"},
	{"shared/process/failpoint", "lit moment", "configured point"},
	{"shared/protocol/work/worktest", "actor giveback", "session release"},
	{"internal/chaos", "moments victim", "killpoints killedClient"},
}

// replacedFiles are names of files, without their end.
var replacedFiles = []renames{
	{"coordinator", "farm asking deaf roads tutorial", "network remotecommand slowreader decoders docs"},
	{"shared/space/engine", "life letter mail relieved fresh swap over own carried figures", "epoch message inbox freedspaces newtuples replace ctxerror clonerequest gatesession stats"},
	{"coordinator/gate", "visit pace linger depart converse", "connection ratelimit awaitreconnect detach serve"},
	{"shared/protocol/task", "shadow desk bury letter brief sound", "claimtuple admin deadletter deadletter truncate validate"},
	{"shared/protocol/work", "choice busy actor giveback", "issueguard inprogress session release"},
	{"shared/protocol/status", "heart keep", "heartbeat reconnect"},
	{"shared/catalog", "around longest patiently reach trouble beside", "withintolerance maxfindinglength retryoverload retryunavailable problem within"},
	{"manager/clips", "clean beside", "sanitize localbase"},
	{"shared/clips", "movement bed tape settle echo", "steadiness background recording dedupe repeat"},
	{"tup4fun/conform", "sight", "match"},
	{"shared/process/failpoint", "lit moment", "configured point"},
	{"internal/chaos", "moments victim", "killpoints killedclient"},
}

// exempt are words that a file needs, because espeak-ng reads its text aloud.
var exempt = map[string][]string{
	"shared/clips/speech_test.go": {"weather"},
	"examples/podcast/make.sh":    {`"that is no shame`, "room", "mends"},
}
