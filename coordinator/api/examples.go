package api

import (
	"encoding/json"
	"reflect"
	"time"

	"go.yaml.in/yaml/v3"

	"leasehold/models"
	"leasehold/shared/api/types"
	"leasehold/shared/catalog"
)

// Values of the examples.
const (
	exampleID   = "3f2a9c1d7e45"
	exampleOID  = "2f3a8d9c4b5e6f708192a3b4c5d6e7f8091a2b3c"
	exampleFeed = "https://example.org/feed.xml"
)

var exampleTime = time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)

// bodyExamples returns an example for each type of a request's body, with the fields of JSON.
func bodyExamples() (map[reflect.Type]any, error) {
	examples := map[reflect.Type]any{}
	for _, body := range exampleBodies() {
		data, err := json.Marshal(body)
		if err != nil {
			return nil, err
		}
		var example any // JSON is YAML, which keeps whole numbers
		if err := yaml.Unmarshal(data, &example); err != nil {
			return nil, err
		}
		examples[reflect.TypeOf(body)] = example
	}
	return examples, nil
}

// exampleBodies returns one valid body of each type.
func exampleBodies() []any {
	priority, limit := int64(10), 4
	media := models.MediaRef{URI: "https://example.org/1.mp3", Type: "audio/mpeg"}
	recording := models.Recording{ID: exampleID, Origin: exampleID, Name: "episode 1", Title: "The first episode", Media: media, FirstCurated: exampleTime, LastCurated: exampleTime}
	task := types.NewTask{Action: "resize", Data: json.RawMessage(`{"path":"a.png"}`), TaskOptions: types.TaskOptions{Tags: []string{"photos"}}}
	return []any{
		types.NewOrigin{Kind: models.Feed, URI: exampleFeed, Priority: &priority},
		types.NewLister{NewOrigin: types.NewOrigin{URI: "https://example.org/feeds.opml", Priority: &priority}, Kind: models.OPML},
		types.OriginChange{Priority: &priority},
		types.Priority{Priority: &priority},
		types.Steering{Action: types.SaveNow},
		models.Listed{Origins: []models.ListedOrigin{{Kind: models.Git, URI: "https://example.org/a.git"}}, Full: true},
		types.VisitType{Type: "svn"},
		types.NewInvite{Role: "worker", Name: "rack 2", Expires: 86_400},
		types.NewJoin{Invite: "lgbjqjfh", Secret: "2pzwbpgoni5vkkaeeyo5khcqsbyzf6w3", Request: []byte("a certificate signing request"), Name: "mill-1"},
		types.NewRenewal{Request: []byte("a certificate signing request")},
		types.NewIdentity{Until: exampleTime},
		types.NewToken{Name: "ci", Roles: []string{"producer"}, Spaces: []string{"ci-"}, Expires: 7_776_000},
		types.NewClaims{Type: "svn", Limit: 10},
		types.NewVisit{Origin: exampleID},
		models.Outcome{Visit: exampleID, Origin: exampleID, Status: models.Eventful, At: exampleTime, Took: 1.5, Digest: "r1042"},
		types.NewRecordings{Items: []types.NewRecording{{Name: "episode 1", Title: "The first episode", URI: media.URI, Type: media.Type}}},
		types.Retry{Origin: exampleID},
		types.NewSession{Name: "resizer-1", TTL: new(models.Seconds(30)), Serves: []types.Served{{Action: "resize", Slots: 4}}},
		types.NewHeartbeat{Wait: 5},
		types.Backup{Path: "/var/backups/leasehold"},
		types.NewSpace{Name: "notes", Kind: "queue"},
		types.NewTuple{Tuple: "note 'two words' 42", TTL: 3600},
		types.Taking{Template: "note ?string 42", Wait: 10, Ack: true},
		types.Lookup{Template: "note ?string 42"},
		types.Transaction{Operations: []types.Operation{{Kind: "get", Space: "notes", Template: "note ?string 42"}, {Kind: "put", Space: "done", Tuple: "note x 42"}}},
		models.Origin{ID: exampleID, Kind: models.Feed, URI: exampleFeed},
		types.Listing{Origin: exampleID, At: exampleTime, Listing: catalog.Listing{Episodes: []models.Episode{{Recording: recording}}}},
		types.Audio{At: exampleTime, Items: []models.Audio{{Episode: exampleID, URI: media.URI, Bytes: 48 << 20}}},
		types.Selection{Limits: catalog.Limits{Clips: 100, Episodes: 1}},
		types.Ingestion{At: exampleTime},
		catalog.Busy{Episode: exampleID, Clips: []string{exampleID}},
		types.BlobIDs{IDs: []string{exampleOID}},
		types.SegmentPart{Data: []byte("the first bytes")},
		types.SegmentCommit{Batch: exampleID},
		types.Generation{ID: exampleID, Repo: "example.org/a", Refs: []types.GenerationRef{{Name: "main", Commit: exampleOID, Time: exampleTime}}, Files: []types.GenerationFile{{Path: []byte("main.go"), OID: exampleOID}}},
		task,
		types.NewTasks{Tasks: []types.NewTask{task}},
		types.Cancel{Reason: "no longer needed"},
		types.NewPause{Reason: "the search server is being moved"},
		types.Bulk{Action: "resize", Text: "connection refused", Count: 312},
		types.BulkCancel{State: "waiting", Bulk: types.Bulk{Action: "resize", Count: 312}},
		types.NewTaskClaims{Limit: &limit, Wait: 5},
		types.Extension{Token: 7},
		types.Resolution{Token: 7, Result: json.RawMessage(`{"width":640}`)},
		types.Release{Token: 7, Error: "the disk is full"},
		types.HandBack{Token: 7, Delay: 10},
		types.NewLimit{Max: 4},
		types.NewTaskSchedule{Schedule: models.Schedule{Cron: "30 3 * * *", Zone: "Europe/Berlin", Task: models.ScheduledTask{Action: "sweep"}}},
	}
}
