package api

// v1 is the path of the first version of the API.
const v1 = "/api/v1"

// Parameters of several routes.
var (
	byOrigin  = param{name: "origin", kind: idParam, doc: "only items of this origin (id)"}
	byEpisode = param{name: "episode", kind: idParam, doc: "only items of this episode (id)"}
	byClip    = param{name: "clip", kind: idParam, doc: "only items of this clip (id)"}
	byAction  = param{name: "action", kind: idParam, doc: "only items of this action"}
)

// routes declares every route below /api/v1.
func (s *server) routes() []route {
	return []route{
		on("GET", "/openapi.yaml", "Return this document.", s.getOpenAPI),

		on("GET", "/origins", "List the origins, oldest first.", s.listOrigins, page(maxPage)...),
		withBody("POST", "/origins", "Add an origin and have it visited; a known one gets the priority (200).", s.addOrigin).returns(201, 200),
		on("GET", "/origins/{origin}", "Show an origin.", s.getOrigin),
		withBody("PATCH", "/origins/{origin}", "Change the priority of an origin; its recordings get it at the next visit.", s.patchOrigin),
		on("DELETE", "/origins/{origin}", "Remove an origin, its recordings, and their findings.", s.removeOrigin),
		on("GET", "/origins/{origin}/schedule", "Show when an origin is visited, what decides that, and its latest visits.", s.getSchedule),
		withBody("POST", "/origins/{origin}/schedule", "Enable or disable an origin, or have it visited now.", s.steer),
		on("GET", "/listers", "List the origins that list other origins.", s.listListers, page(maxPage)...),
		withBody("POST", "/listers", "Add a lister: a document of feeds, a list of URLs, or a folder of repositories. It is visited like any origin.", s.addLister).returns(201, 200),

		on("GET", "/visits", "List the visits that wait or are held.", s.listVisits, page(maxTuples, byOrigin)...),
		withBody("POST", "/visits", "Have an origin visited now; if a visit of it waits or is held, it is returned instead.", s.addVisit).returns(202),
		on("GET", "/visits/next", "List the origins that would be visited next, the best first, and why.", s.nextVisits, limit(20, maxTuples)),
		withBody("POST", "/visits/outcomes", "Record the outcome of a visit that was made outside the system. Repeating it changes nothing.", s.putOutcome),

		on("GET", "/episodes", "List the episodes, latest curated first.", s.listEpisodes, page(maxPage, byOrigin)...),
		withBody("PUT", "/episodes", "Put episodes, with their priorities. Repeating it changes nothing.", s.putEpisodes),
		on("GET", "/episodes/{episode}", "Show an episode.", s.getEpisode),
		withBody("PATCH", "/episodes/{episode}", "Set the priority of an episode; visits do not change it from then on.", s.patchEpisode),
		on("DELETE", "/episodes/{episode}/priority", "Return an episode to the priority that its origin lists.", s.resetEpisode),
		on("GET", "/clips", "List the clips, in the order in which they are selected.", s.listClips, page(maxPage, byOrigin)...),
		withBody("PUT", "/clips", "Put clips, with their priorities. Repeating it changes nothing.", s.putClips),
		on("GET", "/clips/{clip}", "Show a clip.", s.getClip),
		withBody("PATCH", "/clips/{clip}", "Set the priority of a clip; visits do not change it from then on.", s.patchClip),
		on("DELETE", "/clips/{clip}/priority", "Return a clip to the priority that its origin lists.", s.resetClip),
		on("GET", "/findings", "List the findings, by episode and offset.", s.listFindings, page(maxPage, byEpisode, byClip)...),
		on("GET", "/problems", "List the inputs that cannot be processed, oldest first.", s.listProblems, page(maxPage, byOrigin, byEpisode, byClip)...),
		on("GET", "/totals", "Count what the catalog holds.", s.getTotals),

		on("GET", "/status", "List the sessions and what they do.", s.listSessions, page(maxPage)...),
		on("GET", "/costs", "List what tasks have cost since the coordinator started.", s.listCosts, page(maxPage)...),
		on("POST", "/sessions/{session}/drain", "Tell a manager or a worker to take nothing new, to finish or hand back what it holds, and to end. The response does not wait for that; when the session has ended, it is not in the status any more.", s.drainSession).returns(202),
		withBody("POST", "/backups", "Copy the spaces and the catalog to a new folder on the coordinator's machine; only from there.", s.makeBackup).returns(201).bulk(),

		on("GET", "/spaces", "List the spaces with their counts.", s.listSpaces, page(maxPage)...),
		on("GET", "/spaces/{space}", "Show a space.", s.getSpace),
		on("GET", "/spaces/{space}/tuples", "List the tuples that match a template, without taking them; with limit 0, count them (total). A template that ends in ... matches tuples of any length.", s.listTuples,
			page(maxTuples, param{name: "template", doc: "such as: task research ?string ...; all tuples if absent"}, held(false))...),
		withBody("POST", "/spaces/{space}/put", "Put a tuple. If the space is full, the put is refused (overloaded).", s.putTuple).returns(201),
		withBody("POST", "/spaces/{space}/get", "Take a tuple that matches a template. It is gone even if the response is lost on its way.", s.getTuple),
		withBody("POST", "/spaces/{space}/query", "Read a tuple that matches a template.", s.queryTuple),

		on("GET", "/tasks", "List the tasks that wait or are held, by priority.", s.listTasks, page(maxTuples, byAction, held(true))...),
		withBody("POST", "/tasks", "Create a task without a lease; its results stay in the space result.", s.createTask).returns(201),
		on("GET", "/tasks/{task}", "Show a task that waits or is held.", s.getTask),
		on("GET", "/dead", "List the dead letters.", s.listDead, page(maxTuples, byAction)...),
		on("GET", "/dead/{task}", "Show a dead letter.", s.getDead),
		on("POST", "/dead/{task}/requeue", "Requeue a dead letter.", s.requeue),

		withBody("POST", "/catalog/origins", "catalog.AddOrigin, for managers.", s.catalogOrigin),
		on("GET", "/catalog/origins/{origin}", "catalog.Origin, for managers: the only response with the user and password of a URL.", s.getOrigin),
		withBody("POST", "/catalog/outcomes", "catalog.RecordOutcome, for managers.", s.catalogOutcome),
		withBody("POST", "/catalog/curate", "catalog.Curate, for managers.", s.catalogCurate).bulk(),
		withBody("POST", "/catalog/select", "catalog.Select, for managers; not_found if nothing is left to select.", s.catalogSelect).bulk(),
		withBody("POST", "/catalog/ingest", "catalog.Ingest, for managers.", s.catalogIngest),
		withBody("POST", "/catalog/lift", "catalog.Lift, for managers.", s.catalogLift),
	}
}
