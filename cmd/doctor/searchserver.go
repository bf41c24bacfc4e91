package doctor

import (
	"fmt"
	"slices"
	"strings"

	"leasehold/shared/code/elastic"
)

// SearchCluster is the finding about the clusters that the search servers of this machine and of a coordinator belong to.
// The coordinator's is empty if it has none, or has not reached it yet.
func SearchCluster(here, coordinators string) Finding {
	f := Finding{Check: "search cluster", State: OK, What: "this machine and the coordinator use cluster " + here}
	switch {
	case coordinators == "":
		f.State, f.What = Warn, fmt.Sprintf("this machine uses cluster %s, and the coordinator has no search server, or has not reached it yet", here)
		f.Advice = "set search of the coordinator, too"
	case coordinators != here:
		f.State, f.What = Fail, fmt.Sprintf("this machine uses cluster %s, and the coordinator %s: what workers of this machine write is not found", here, coordinators)
		f.Advice = "set search of this machine and of the coordinator to the same server"
	}
	return f
}

// SearchServer is the finding about a search server, whose indices should have these shards and replicas; 0 and -1
// accept any.
func SearchServer(l elastic.Layout, err error, shards, replicas int) Finding {
	f := Finding{Check: "search server", State: OK}
	if err != nil {
		f.State, f.What, f.Advice = Fail, err.Error(), "start the server, or correct search and the settings beside it"
		return f
	}
	f.What = fmt.Sprintf("%s, cluster %s", l.Server, l.Cluster)
	if len(l.Indices) == 0 {
		f.What += "; the indices are created at first use"
		return f
	}
	var all, otherShards, otherReplicas []string
	for _, i := range l.Indices {
		if i.Shards == 0 { // a serverless server
			all = append(all, i.Name+" has as many shards as the server wants")
			continue
		}
		all = append(all, fmt.Sprintf("%s has %s and %s", i.Name, numbered(i.Shards, "shard"), numbered(i.Replicas, "replica")))
		if shards > 0 && i.Shards != shards && !i.Fixed {
			otherShards = append(otherShards, i.Name)
		}
		if replicas >= 0 && i.Replicas != replicas {
			otherReplicas = append(otherReplicas, i.Name)
		}
	}
	f.What += ": " + strings.Join(all, ", ")
	if len(otherShards) > 0 {
		f.State = Warn
		f.Advice = fmt.Sprintf("search-shards is %d, which is for new indices: leasehold index rebuild replaces %s, and searches go on meanwhile", shards, strings.Join(otherShards, ", "))
	}
	if len(otherReplicas) > 0 {
		f.State = Warn
		advice := fmt.Sprintf("search-replicas is %d: change index.number_of_replicas of %s", replicas, strings.Join(otherReplicas, ", "))
		f.Advice = strings.Join(slices.DeleteFunc([]string{f.Advice, advice}, func(s string) bool { return s == "" }), "; ")
	}
	return f
}
