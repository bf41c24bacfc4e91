// Package elastic is a code.Searcher behind Elasticsearch (7.10 and later) or OpenSearch.
//
// It has these indices, whose names begin with Config.Prefix:
//
//	leasehold-blobs-1         one document for each blob, with its text; the id is the object id
//	leasehold-files-1         one document for each file of each generation, without text
//	leasehold-generations-1   notes of generations that may have to be removed
//	leasehold-published-1     one document for each publication, with a number that grows
//	leasehold-lines-1         the views files and report in the shape of the original
//	leasehold-reports-1       indexer, if Config.Views is set
//
// Requests name aliases of them, and no request may create an index.
//
// A server cannot join blobs with the files of generations, nor match a regular expression in
// a text. So a search asks for candidates: blobs whose field tri has the trigrams that each
// match needs (package match), and files whose paths have those of the filters. It starts at
// the side with fewer of them, joins both by object id, reads the texts that remain, and
// verifies every line as the embedded index does.
//
// Invariants:
//
//   - The last document of a repository in leasehold-published tells its current generation. Publish
//     writes and refreshes all documents of a generation first, and then creates this one. Its id is
//     the next number, so of several processes one takes it. A search first reads the publications that its
//     process does not know yet, and then sees each repository as one generation: it drops files of other generations as it
//     reads them. So neither a publication nor a search depends on how many repositories there are.
//   - A generation names the indices that have its blobs and its files. If one of them was deleted, all of its files
//     count as lost. A copy (Rebuild) has another number at the end of its name, and notes whose place it has taken.
//   - Other ids are derived from content: a blob's from its object id, a generation's from its files.
//     So every write may be repeated.
//   - A write is acknowledged when the server has it in its translog on disk (the durability
//     "request", which is checked), and the result of each item was read.
//   - A repository is removed by its id, never by a query on text.
//
// Documents of generations that were replaced stay for Grace, because searches may read them;
// Run removes them, and blobs that no generation names a day after they were put.
//
// Config.URL may name several nodes: requests go to them in turn, and one that fails rests.
//
// Requests are repeated for a while if the server is busy or away (429, 503); then they fail with
// fault.ErrOverloaded or fault.ErrUnavailable, and the caller tries later. One process at a time
// runs Run for a prefix: the coordinator. Any number may publish, put blobs and search.
package elastic
