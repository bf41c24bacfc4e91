package export_test

import (
	"os"

	"leasehold/models"
	"leasehold/shared/catalog"
	"leasehold/shared/catalog/export"
)

func ExampleWriteWebVTT() {
	episode := models.Episode{Recording: models.Recording{ID: "e"}}
	found := []catalog.Finding{{EpisodeID: "e", ClipTitle: "jingle", Occurrence: models.Occurrence{Offset: 77.19, Duration: 3}}}
	if err := export.WriteWebVTT(os.Stdout, export.Cues(episode, found)); err != nil {
		panic(err)
	}
	// Output:
	// WEBVTT
	//
	// 1
	// 00:01:17.190 --> 00:01:20.190
	// jingle
}
