// Package node assembles a process of Leasehold from its settings: a coordinator, a
// manager or a worker, or all three in one process. It also finds the coordinator or the
// data folder that a command asks.
//
//   - RunCoordinator, RunManager and RunWorker are the three modes; RunLocal runs all
//     three in one process without a network. Each returns when its context ends, after
//     everything that it started has ended and every hold is handed back.
//   - OpenDataDir locks a data folder and opens the catalog and the visit schedule in it.
//     A data folder belongs to one process at a time.
//   - Locate finds the API of a running coordinator; OpenCatalog opens its catalog
//     or, if none answers, the one in the data folder.
//   - ReloadOnHangup reads the settings again at each SIGHUP.
//
// The order of shutdown is always: users of the spaces, then the listeners, then the
// coordinator, then its journal, then the data folder (shared/process/supervisor).
//
// The package prints nothing: it passes addresses and sessions to functions of the
// commands. It is the only package beside cmd that imports several modes; the modes never
// import each other.
package node
