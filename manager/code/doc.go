// Package code is the manager's flow for source code: it visits repositories and folders,
// has their files analysed and indexed by workers, and publishes what searches see.
//
// A visit compares the refs with those that were published last. If they are equal, it
// ends without a work-item, and reads no file. Else it
//
//  1. copies the wanted branches (the origin's own, or those of Config.Wanted) into a mirror on this machine (package gitrepo),
//  2. lists their files, and asks the index which of them are missing, by hash,
//  3. splits the missing ones into batches of at most 8 MiB or 2,000 files, and issues
//     each as a leased work-item (subject: the repository; part: the batch),
//  4. waits until the set of batches is done, and
//  5. publishes the list of all files as the repository's new generation at once.
//
// Workers read the files of their batch from the manager (Content), put them into the
// index, and report. No tuple has content or names of files. Any manager may ingest the
// result of a batch; the one that visits learns of it by package batch.
//
// Invariants:
//
//   - Completion is a set of batches, and not a counter. A batch is done when the index
//     has its files, whichever manager or worker put them there. So a visit that ends half-way (the manager
//     dies, the coordinator is away) is made again by any manager, and only the files that
//     are still missing are read.
//   - Until the new generation is published, searches see the old one; a visit that fails
//     leaves it.
//   - Every file has an outcome: it is indexed, or skipped with a reason. A file that
//     cannot be read is a problem of the origin that names it; the other files are
//     published, and the next visit tries again.
package code
