package api

import (
	"math"
	"reflect"
	"slices"

	"leasehold/coordinator/actions"
	"leasehold/shared/api/types"
	"leasehold/shared/code"
	"leasehold/shared/protocol/schedule"
	"leasehold/shared/protocol/task"
)

// v1 is the path of the first version of the API.
const v1 = "/api/v1"

// Parameters of several routes.
var (
	byOrigin  = param{name: "origin", kind: idParam, doc: "only items of this origin (id)"}
	byEpisode = param{name: "episode", kind: idParam, doc: "only items of this episode (id)"}
	byClip    = param{name: "clip", kind: idParam, doc: "only items of this clip (id)"}
	byRepo    = param{name: "repo", doc: "id, name, or the end of the name of a repository"}
	byAction  = param{name: "action", kind: idParam, doc: "only items of this action"}
)

// routes declares every route below /api/v1.
func (s *server) routes() []route {
	return slices.Concat(
		tagged("system", documentRoutes()), tagged("visits", s.originRoutes()), tagged("visits", s.visitRoutes()),
		tagged("clips", s.recordingRoutes()), tagged("system", s.fleetRoutes()), tagged("system", s.attentionRoutes()), tagged("tasks", s.historyRoutes()), tagged("system", s.spaceRoutes()),
		tagged("clips", s.catalogRoutes()), tagged("tasks", s.taskRoutes()), tagged("tasks", s.claimRoutes()), tagged("code", s.codeRoutes()), tagged("system", s.admissionRoutes()), tagged("system", s.memberRoutes()))
}

// documentRoutes are the routes for the descriptions of the API.
func documentRoutes() []route {
	return []route{
		on("getDocument", "GET", "/openapi.yaml", "Return this document with all routes.", serveDocument(WholeDocument)),
		on("getUsersDocument", "GET", "/openapi-users.yaml", "Return this document without the routes that only managers and workers call (x-internal).", serveDocument(UsersDocument)),
	}
}

// originRoutes are the routes for origins, their schedules and listers.
func (s *server) originRoutes() []route {
	return []route{
		on("listOrigins", "GET", "/origins", "List the origins, oldest first.", s.listOrigins, page(maxPage)...),
		withBody("addOrigin", "POST", "/origins", "Add an origin and have it visited; a known one gets the priority, if there is one (200).", s.addOrigin).returns(201, 200).link("getOrigin", "origin", "id"),
		on("getOrigin", "GET", "/origins/{origin}", "Show an origin.", s.getOrigin),
		withBody("updateOrigin", "PATCH", "/origins/{origin}", "Change the priority of an origin, its fixed interval, or the hours in which it may be visited; what the body leaves out stays.", s.patchOrigin),
		on("removeOrigin", "DELETE", "/origins/{origin}", "Remove an origin, its recordings, and their findings.", s.removeOrigin),
		on("getVisitSchedule", "GET", "/origins/{origin}/schedule", "Show when an origin is visited, what decides that, and its latest visits.", s.getSchedule),
		withBody("steerOrigin", "POST", "/origins/{origin}/schedule", "Enable or disable an origin, or have it visited now.", s.steer),
		on("reportChange", "POST", "/origins/{origin}/changed", "Report that an origin has changed, as a forge's webhook does. It counts as a date; how often such reports are true is learned.", s.tellChanged),
		on("listListers", "GET", "/listers", "List the origins that list other origins.", s.listListers, page(maxPage)...),
		withBody("addLister", "POST", "/listers", "Add a lister: a document of feeds, a list of URLs, or a folder of repositories. It is visited like any origin.", s.addLister).returns(201, 200).link("putListedOrigins", "lister", "id"),
		withBody("putListedOrigins", "POST", "/listers/{lister}/origins", "Add the origins that a program lists: kinds feed and git at http(s) URLs, and registered visit types. With full, origins that no list names any more are not visited.", s.pushOrigins),
	}
}

// visitRoutes are the routes for visits and for the visit types that programs register.
func (s *server) visitRoutes() []route {
	return []route{
		on("listVisitTypes", "GET", "/visit-types", "List the visit types that programs registered.", s.listVisitTypes, page(maxPage)...),
		withBody("addVisitType", "POST", "/visit-types", "Register a visit type, so that origins of that kind can be added and programs visit them. Repeating it changes nothing.", s.addVisitType),
		withBody("claimVisits", "POST", "/visits/claims", "Claim visits of a registered type for a program, which reports their outcomes within an hour.", s.claimVisits),
		on("listVisits", "GET", "/visits", "List the visits that wait or are held.", s.listVisits, page(maxTuples, byOrigin)...),
		withBody("requestVisit", "POST", "/visits", "Have an origin visited now; if a visit of it waits or is held, it is returned instead.", s.addVisit).returns(202).link("getVisitSchedule", "origin", "origin"),
		on("listNextVisits", "GET", "/visits/next", "List the origins that would be visited next, the best first, and why.", s.nextVisits, limit(20, maxTuples)),
		on("getVisitCapacity", "GET", "/visits/capacity", "Show what the slots of all managers, or a number of slots, can hold, and which pools grow without end.", s.getCapacity,
			param{name: "slots", kind: numberParam, max: 1 << 20, doc: "number of slots; 0 or absent: those that managers have now"}),
		withBody("recordOutcome", "POST", "/visits/outcomes", "Record the outcome of a visit that was made outside the system. Repeating it changes nothing.", s.putOutcome),
	}
}

// recordingRoutes are the routes for episodes, clips, findings and problems.
func (s *server) recordingRoutes() []route {
	return []route{
		on("listEpisodes", "GET", "/episodes", "List the episodes with their progress, latest curated first.", s.listEpisodes,
			page(maxPage, byOrigin, param{name: "title", doc: "only episodes with this text in their title; ASCII letters match in upper and lower case"})...),
		withBody("putEpisodes", "PUT", "/episodes", "Put episodes, with their priorities. Repeating it changes nothing.", s.putEpisodes).link("getOrigin", "origin", "origin"),
		on("getEpisode", "GET", "/episodes/{episode}", "Show an episode.", s.getEpisode),
		on("getWaveform", "GET", "/episodes/{episode}/waveform", "Show the waveform of an episode that was researched.", s.getWaveform),
		withBody("updateEpisode", "PATCH", "/episodes/{episode}", "Set the priority of an episode; visits do not change it from then on.", s.patchEpisode),
		on("resetEpisodePriority", "DELETE", "/episodes/{episode}/priority", "Return an episode to the priority that its origin lists.", s.resetEpisode),
		on("listClips", "GET", "/clips", "List the clips, in the order in which they are selected.", s.listClips, page(maxPage, byOrigin)...),
		withBody("putClips", "PUT", "/clips", "Put clips, with their priorities. Repeating it changes nothing.", s.putClips).link("getOrigin", "origin", "origin"),
		on("getClip", "GET", "/clips/{clip}", "Show a clip.", s.getClip),
		withBody("updateClip", "PATCH", "/clips/{clip}", "Set the priority of a clip; visits do not change it from then on.", s.patchClip),
		on("resetClipPriority", "DELETE", "/clips/{clip}/priority", "Return a clip to the priority that its origin lists.", s.resetClip),
		on("listFindings", "GET", "/findings", "List the findings, by episode and offset.", s.listFindings, page(maxPage, byEpisode, byClip)...),
		on("listProblems", "GET", "/problems", "List the inputs that cannot be processed, oldest first.", s.listProblems, page(maxPage, byOrigin, byEpisode, byClip)...),
		withBody("retryProblems", "POST", "/problems/retry", "Try recordings with problems again now.", s.retryProblems).bulk(),
		on("getTotals", "GET", "/totals", "Count what the catalog holds.", s.getTotals),
	}
}

// fleetRoutes are the routes for processes, their sessions and backups.
func (s *server) fleetRoutes() []route {
	return []route{
		on("getCaller", "GET", "/caller", "Show who makes this request, with the roles and the operations that they allow.", s.getCaller),
		on("listStatus", "GET", "/status", "List the sessions and what they do.", s.listSessions, page(maxPage)...),
		on("getDatabaseCheck", "GET", "/database", "Show the result of the latest nightly check of the database.", s.databaseCheck),
		on("listCosts", "GET", "/costs", "List what tasks have cost since the coordinator started.", s.listCosts, page(maxPage)...),
		on("listSessions", "GET", "/sessions", "List the sessions of all clients, with the programs behind them.", s.listOpenSessions, page(maxPage)...),
		withBody("openSession", "POST", "/sessions", "Open the session of a worker that speaks HTTP. Each of its requests is a sign of life.", s.openSession).returns(201).link("claimTasks", "session", "id").link("sendHeartbeat", "session", "id").link("endSession", "session", "id"),
		withBody("sendHeartbeat", "POST", "/sessions/{session}/heartbeat", "Keep the session of a worker alive, and show which tasks it has and whether it shall drain. With wait, that is when it loses a task or shall drain.", s.sessionHeartbeat).beats(),
		on("endSession", "DELETE", "/sessions/{session}", "End a session: what it holds is handed back. A program that still runs opens a new one; see drain.", s.endSession),
		on("drainSession", "POST", "/sessions/{session}/drain", "Tell a manager or a worker to take nothing new, to finish or hand back what it holds, and to end. The response does not wait for that; when the session has ended, it is not in the status any more.", s.drainSession).returns(202),
		withBody("createBackup", "POST", "/backups", "Copy the spaces and the catalog to a new folder on the coordinator's machine; only from there.", s.makeBackup).returns(201).bulk(),
	}
}

// spaceRoutes are the routes for spaces, their tuples and transactions.
func (s *server) spaceRoutes() []route {
	return []route{
		on("listSpaces", "GET", "/spaces", "List the spaces with their counts.", s.listSpaces, page(maxPage)...),
		withBody("createSpace", "POST", "/spaces", "Create a space; one that exists with equal options is returned (200).", s.createSpace).returns(201, 200).link("getSpace", "space", "name"),
		on("getSpace", "GET", "/spaces/{space}", "Show a space.", s.getSpace),
		on("deleteSpace", "DELETE", "/spaces/{space}", "Delete a space, and with force its tuples. Spaces of the protocols are refused (forbidden).", s.deleteSpace,
			param{name: "force", kind: flagParam, doc: "delete a space that has tuples too"}),
		on("listTuples", "GET", "/spaces/{space}/tuples", "List the tuples that match a template, without taking them; with limit 0, count them (total). A template that ends in ... matches tuples of any length.", s.listTuples,
			page(maxTuples, param{name: "template", doc: "such as: task research ?string ...; all tuples if absent"}, held(false))...),
		withBody("putTuple", "POST", "/spaces/{space}/put", "Put a tuple. If the space is full, the put is refused (overloaded).", s.putTuple).returns(201),
		withBody("takeTuple", "POST", "/spaces/{space}/get", "Take a tuple that matches a template. Without ack it is gone even if the response is lost on its way.", s.getTuple),
		on("acknowledgeHold", "POST", "/spaces/{space}/holds/{hold}/ack", "Acknowledge a tuple that was taken with ack: it is gone. A hold that has ended is refused (stale_token).", s.ackHold).returns(204),
		on("returnHold", "POST", "/spaces/{space}/holds/{hold}/back", "Give back a tuple that was taken with ack, to its old place. A hold that has ended is refused (stale_token).", s.backHold).returns(204),
		withBody("readTuple", "POST", "/spaces/{space}/query", "Read a tuple that matches a template.", s.queryTuple),
		withBody("runTransaction", "POST", "/transactions", "Carry out operations on several spaces, all or none. A condition that does not hold is a conflict, and nothing has happened.", s.transact),
	}
}

// catalogRoutes are the methods of the catalog that only managers call.
func (s *server) catalogRoutes() []route {
	return []route{
		withBody("catalogAddOrigin", "POST", "/catalog/origins", "catalog.AddOrigin, for managers.", s.catalogOrigin),
		on("catalogGetOrigin", "GET", "/catalog/origins/{origin}", "catalog.Origin, for managers: the only response with the user and password of a URL.", s.getOrigin),
		withBody("catalogRecordOutcome", "POST", "/catalog/outcomes", "catalog.RecordOutcome, for managers.", s.catalogOutcome),
		withBody("catalogCurateListing", "POST", "/catalog/curate", "catalog.Curate, for managers.", s.catalogCurate).bulk(),
		on("catalogListAudio", "GET", "/catalog/audio", "catalog.AudioToCheck, for managers.", s.catalogAudio, limit(10, maxPage), byOrigin),
		withBody("catalogRecordAudio", "POST", "/catalog/audio", "catalog.AudioChecked, for managers.", s.catalogAudioChecked),
		withBody("catalogSelectResearch", "POST", "/catalog/select", "catalog.Select, for managers; not_found if nothing is left to select.", s.catalogSelect).bulk(),
		withBody("catalogIngestResult", "POST", "/catalog/ingest", "catalog.Ingest, for managers.", s.catalogIngest),
		withBody("catalogLiftProblems", "POST", "/catalog/lift", "catalog.Lift, for managers.", s.catalogLift),
	}
}

// taskRoutes are the routes for tasks, dead letters, actions, limits and schedules.
func (s *server) taskRoutes() []route {
	return []route{
		on("listTasks", "GET", "/tasks", "List the tasks that are alive, or those of a state; those that have ended as long as they are kept, the latest first. A page may have fewer items than limit, even none, before the last one.", s.listTasks, append(slices.Clone(byTask), byState)...),
		withBody("createTask", "POST", "/tasks", "Create a task without a lease. If its unique key is taken, the response is the task that has it; with on_conflict replace, a task of another action is refused (conflict).", s.createTask).returns(201).keyed().link("getTask", "task", "id").link("cancelTask", "task", "id"),
		withBody("createTasks", "POST", "/task-batches", "Create several tasks, all or none.", s.createTasks).returns(201).keyed(),
		on("getTask", "GET", "/tasks/{task}", "Show a task: why it is not running if it is alive, or how it ended. With wait, the response comes when it has ended, or shows the task as it is then.", s.getTask,
			param{name: "wait", kind: numberParam, max: int(maxWait.Seconds()), doc: "longest time in seconds to wait for its end"}).waits(),
		on("listParents", "GET", "/tasks/{task}/parents", "Show how the parents of a task that is alive or a dead letter ended, with all of their results; as many as fit into a response.", s.getParents,
			param{name: "offset", kind: numberParam, max: task.MaxParents, doc: "position in after to begin with; the next of an earlier page"}),
		withBody("cancelTask", "POST", "/tasks/{task}/cancel", "End a task that is alive; the coordinator stops the worker that has it. A task under a manager's lease is refused (conflict).", s.cancelTask).keyed(),
		on("listActions", "GET", "/actions", "List the actions that have tasks, dead letters, a pause or a worker, by name, with their figures; they are at most a second old.", s.listActions, page(actions.MaxActions)...),
		on("getAction", "GET", "/actions/{action}", "Show the figures of an action now: its tasks by state, its pause, its workers, its rates and durations.", s.getAction, param{name: "target_wait", kind: numberParam, absent: int(actions.DefaultTargetWait.Seconds()), min: int(actions.MinTargetWait.Seconds()), max: int(actions.MaxTargetWait.Seconds()), doc: "of wanted_slots: seconds that a task shall wait for at most"}),
		withBody("pauseAction", "POST", "/actions/{action}/pause", "Have no more tasks of an action claimed. Running tasks go on. Who asked for it is noted.", s.pauseAction).keyed(),
		on("resumeAction", "POST", "/actions/{action}/resume", "End the pause of an action.", s.resumeAction).keyed(),
		on("countTasks", "GET", "/bulk/count", "Count the tasks that a filter selects: those that are alive, or those of a state that is not an end.", s.countTasks, append(slices.Clone(bySelection), byLiveState)...),
		withBody("requeueSelected", "POST", "/bulk/requeue", "Requeue the dead letters that a filter selects, some with each request: repeat it with the next of the answer. More than count are refused (conflict).", s.bulk(task.BulkRequeue)).bulk(),
		withBody("discardSelected", "POST", "/bulk/discard", "Discard the dead letters that a filter selects, as with requeue.", s.bulk(task.BulkDiscard)).bulk(),
		withBody("cancelSelected", "POST", "/bulk/cancel", "Cancel the live tasks that a filter selects, as with requeue.", s.cancelSelected).bulk(),
		on("listLeases", "GET", "/leases", "List the leases of managers that are alive.", s.listLeases, page(maxTuples)...),
		on("listLimits", "GET", "/limits", "List the limits and who uses them.", s.listLimits, page(maxTuples)...),
		withBody("setLimit", "PUT", "/limits/{limit}", "Set a limit, or change it.", s.setLimit).keyed(),
		on("removeLimit", "DELETE", "/limits/{limit}", "Remove a limit; tasks that name it have none then.", s.removeLimit).keyed(),
		on("listSchedules", "GET", "/schedules", "List the schedules of tasks, by name, without the data of their tasks.", s.listSchedules, page(schedule.MaxSchedules)...),
		on("getSchedule", "GET", "/schedules/{schedule}", "Show a schedule of tasks.", s.taskSchedule),
		withBody("setSchedule", "PUT", "/schedules/{schedule}", "Add a schedule, which creates a task at each of its due times (201), or replace it (200).", s.setSchedule).returns(201, 200).link("getSchedule", "schedule", "name"),
		on("removeSchedule", "DELETE", "/schedules/{schedule}", "Remove a schedule. The tasks that it created stay.", s.removeSchedule),
		on("pauseSchedule", "POST", "/schedules/{schedule}/pause", "Have a schedule create no tasks. Due times that pass meanwhile are not made up for.", s.pauseSchedule),
		on("resumeSchedule", "POST", "/schedules/{schedule}/resume", "End the pause of a schedule.", s.resumeSchedule),
		on("listDead", "GET", "/dead", "List the dead letters.", s.listDead, byTask...),
		on("getDead", "GET", "/dead/{task}", "Show a dead letter.", s.getDead),
		on("requeueDead", "POST", "/dead/{task}/requeue", "Requeue a dead letter; the task keeps its id.", s.requeue).keyed(),
		on("discardDead", "DELETE", "/dead/{task}", "Discard a dead letter.", s.discardDead).keyed(),
	}
}

// claimRoutes are the routes by which the session of a worker claims tasks and ends them.
func (s *server) claimRoutes() []route {
	return []route{
		withBody("claimTasks", "POST", "/sessions/{session}/claims", "Claim tasks for the session of a worker, and wait for the first one. With finish, it first ends tasks that the session has, in one transaction. If the response cannot be written, they are handed back at once; if the session ends or is lost, they are offered again.", s.claimTasks).keyed().waits().exact(),
		withBody("extendTask", "POST", "/sessions/{session}/claims/{task}/extend", "Start the timeout of a claimed task again, and note its progress. As with the next three routes, stale_token means that the session does not have the task, or another attempt of it.", s.extendTask).keyed(),
		withBody("resolveTask", "POST", "/sessions/{session}/claims/{task}/resolve", "End a claimed task with its result, and create others in the same transaction, which are returned.", s.resolveTask).keyed(),
		withBody("releaseTask", "POST", "/sessions/{session}/claims/{task}/release", "Give a claimed task back after an attempt that failed; another worker may try, or it becomes a dead letter.", s.releaseTask).keyed(),
		withBody("handBackTask", "POST", "/sessions/{session}/claims/{task}/hand-back", "Give a claimed task back without counting an attempt.", s.handBackTask).keyed(),
	}
}

// codeRoutes declares the routes of code search.
func (s *server) codeRoutes() []route {
	return []route{
		streaming[types.SearchLine]("searchCode", "GET", "/search", "Search the files of repositories (docs/code.md): lines of JSON, the best 50 matches first.", s.search,
			param{name: "q", required: true, schema: "minLength: 1", doc: "query, such as: lang:go \"func main\" -file:test"}, limit(50, maxMatches),
			param{name: "offset", kind: numberParam, max: maxMatches, doc: "number of matches to skip; parts of an unchanged index do not overlap"},
			param{name: "context", kind: numberParam, max: code.MaxContext, doc: "lines before and after each match"},
			param{name: "facets", kind: flagParam, doc: "count up to 10,000 matches by repository, language and folder, and tell it in the last line"}),
		on("listFiles", "GET", "/files", "List the files of repositories, indexed and skipped, by name and path.", s.listFiles,
			page(maxPage, byRepo, param{name: "skipped", kind: flagParam, doc: "only files that are not indexed"})...),
		on("getReport", "GET", "/report", "Show the largest functions, the most complex files and the languages of a repository, or of all without one.", s.codeReport, byRepo, limit(20, maxReport),
			param{name: "tests", kind: flagParam, doc: "list the functions and files of tests too"}),

		on("listSymbols", "GET", "/symbols", "List the definitions with this in their names.", s.listSymbols, param{name: "name", required: true, schema: "text", doc: "part of a name"}, param{name: "branch", schema: "anyText", doc: "branch; all by default"}, limit(100, maxPage)),
		on("listRepositories", "GET", "/repositories", "List the indexed repositories by name.", s.listRepositories, page(maxPage)...),
		on("readFile", "GET", "/file", "Read lines of an indexed file.", s.readCode, byRepo, param{name: "path", doc: "of the file"}, param{name: "ref", doc: "branch; any by default"},
			param{name: "oid", schema: "pattern: '^([0-9a-f]{40}|[0-9a-f]{64})?$'", doc: "hash of the content, in place of repo, path and ref"}, param{name: "from", kind: numberParam, max: maxLines, doc: "number of the first line"}, limit(1000, maxLines)),

		withBody("indexListMissing", "POST", "/index/missing", "Return the blobs that the code index lacks, for managers and workers.", s.indexMissing),
		on("indexGetSegment", "GET", "/index/segments/{segment}", "Return how much of a segment was received, for workers.", s.indexReceived),
		on("indexAddPart", "POST", "/index/segments/{segment}/parts", "Add a part of a segment, for workers. Repeating it changes nothing.", s.indexPart, param{name: "offset", kind: numberParam, max: math.MaxInt32, doc: "bytes before the part, unless it is in JSON"}).octetsOr(reflect.TypeFor[types.SegmentPart]()),
		withBody("indexCommitSegment", "POST", "/index/segments/{segment}/commit", "Check a segment that was received, and put it into the code index, for workers.", s.indexCommit).bulk(),
		on("indexGetGeneration", "GET", "/index/generations/{origin}", "Return whether all files of an origin are indexed, for managers.", s.indexComplete),
		withBody("indexPublishGeneration", "POST", "/index/generations", "Replace the files of a repository that searches see, for managers; conflict if blobs are missing.", s.indexPublish).bulk(),
	}
}
