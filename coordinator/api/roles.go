package api

import (
	"context"
	"errors"
	"net/http"

	"leasehold/coordinator/permission"
	"leasehold/shared/access"
	"leasehold/shared/fault"
)

// roles has the roles that each operation needs, any one of them. A program that registered a visit type reports its
// visits as a worker.
var roles = byOperation(map[access.Roles][]string{
	access.Public: {"getDocument", "getUsersDocument", "joinFleet", "renewCertificate"},
	access.Reader: {
		"getOrigin", "getVisitSchedule", "listListers", "listVisitTypes", "listVisits", "listNextVisits", "getVisitCapacity",
		"listEpisodes", "getEpisode", "getWaveform", "listClips", "getClip", "listFindings", "listProblems", "getTotals",
		"getAttention", "getDatabaseCheck", "listCosts", "listSessions", "listSpaces", "getSpace",
		"listTasks", "getTask", "countTasks", "listActions", "getAction", "getHistory", "listLeases", "listLimits", "listSchedules", "getSchedule", "listDead", "getDead",
		"listMembers", "getRealm", "searchCode", "listFiles", "getReport", "listSymbols", "listRepositories", "readFile", "listLog",
	},
	access.Reader | access.Fleet: {"listOrigins", "listStatus", "getIdentity"},
	// The space that the request names decides the rest (coordinator/permission).
	access.Any: {"listTuples", "readTuple", "getCaller"},
	access.Producer: {
		"createSpace", "putTuple", "takeTuple", "acknowledgeHold", "returnHold", "runTransaction",
		"createTask", "createTasks", "cancelTask", "cancelSelected", "putEpisodes", "putClips", "reportChange", "putListedOrigins",
	},
	access.Producer | access.Worker: {"recordOutcome"},
	access.Producer | access.Fleet:  {"listParents"},
	access.Worker: {
		"openSession", "sendHeartbeat", "claimTasks", "extendTask", "resolveTask", "releaseTask", "handBackTask", "claimVisits",
	},
	access.Worker | access.Admin: {"endSession"},
	access.Fleet:                 {"indexListMissing", "indexGetSegment", "indexAddPart", "indexCommitSegment"},
	access.Manager: {
		"indexGetGeneration", "indexPublishGeneration",
		"catalogAddOrigin", "catalogGetOrigin", "catalogRecordOutcome", "catalogCurateListing", "catalogListAudio", "catalogRecordAudio",
		"catalogSelectResearch", "catalogIngestResult", "catalogLiftProblems",
	},
	access.Admin: {
		"addOrigin", "updateOrigin", "removeOrigin", "steerOrigin", "addLister", "addVisitType", "requestVisit",
		"updateEpisode", "resetEpisodePriority", "updateClip", "resetClipPriority", "retryProblems",
		"dismissAttention", "drainSession", "createBackup", "deleteSpace", "pauseAction", "resumeAction", "setLimit", "removeLimit",
		"setSchedule", "removeSchedule", "pauseSchedule", "resumeSchedule", "requeueDead", "discardDead", "requeueSelected", "discardSelected", "addRepository",
		"listInvites", "createInvite", "revokeInvite", "listPeers", "revokePeer", "listTokens", "createToken", "revokeToken", "listAudit", "rotateIdentity", "finishUpgrade",
	},
})

func byOperation(ids map[access.Roles][]string) map[string]access.Roles {
	all := map[string]access.Roles{}
	for need, operations := range ids {
		for _, id := range operations {
			all[id] = need
		}
	}
	return all
}

// needing returns next for identities with one of these roles, which next finds with access.Of. A token or a
// certificate that is refused ends the request, unless it needs no identity. If an identity lacks the roles, that is in
// the audit under the name of the operation.
func (s *server) needing(operation string, need access.Roles, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i, err := access.Everybody, error(nil)
		if s.Identify != nil {
			i, err = s.Identify(r)
		}
		if err == nil || need == access.Public {
			err = i.Check(r.Method+" "+r.URL.Path, need)
		}
		if err != nil {
			if s.Auth != nil && i.ID != "" && errors.Is(err, fault.ErrForbidden) {
				s.Auth.NoteRoutine(r.Context(), i, hostOf(r.RemoteAddr), operation, r.URL.Path, err)
			}
			s.fail(w, r, err)
			return
		}
		ctx := access.In(r.Context(), i)
		if s.Auth != nil {
			if s.Auth.EndsSoon(r) {
				w.Header().Set("Connection", "close") // the process connects with its next certificate
			}
			var leave func()
			ctx, leave = s.inUse.enter(ctx, i.ID)
			defer leave()
			if _, err := s.Identify(r); i.ID != "" && err != nil { // revoked before enter, whose end it would have missed
				s.fail(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r.WithContext(ctx))
	})
}

// note adds a change to the audit. Those by programs without the role admin, which may be thousands in a second, are
// routine.
func (s *server) note(ctx context.Context, r *http.Request, operation string, err error) {
	i, note := access.Of(ctx), s.Auth.NoteRoutine
	if i.Roles.Meet(access.Admin) {
		note = s.Auth.Note
	}
	note(ctx, i, hostOf(r.RemoteAddr), operation, r.URL.Path, err)
}

// seesTasks reports whether the identity of a request may see the data and the results of tasks.
func seesTasks(ctx context.Context) bool { return access.Of(ctx).Roles.Meet(permission.SeesTasks) }

// Allows reports whether an identity has a role that an operation of the API needs. It is false for an unknown one.
func Allows(i access.Identity, operation string) bool {
	need, known := roles[operation]
	return known && i.Roles.Meet(need)
}
