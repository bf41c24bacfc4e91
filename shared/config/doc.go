// Package config is how Leasehold is told what to do: from flags, the
// environment, one YAML file and defaults, in that order of precedence.
//
// Settings is the one table of what can be set. Flags, names of environment
// variables, checks, `leasehold config show` and the documentation all derive
// from it, so that a setting exists everywhere or nowhere. A setting that no
// code uses does not belong in it.
//
// Invariants:
//   - Load returns a configuration that satisfies every rule, or an Invalid that
//     lists everything that is wrong with it, never the first fault only. Each
//     fault names the key, where its value came from (flag, environment, line of
//     the file), the value, and what is accepted.
//   - Nothing is ignored: a key of the file that is not a setting, or an
//     environment variable LEASEHOLD_… that is not one, is an error that says
//     which setting was perhaps meant. An empty environment variable counts as
//     not set.
//   - errors.Is(err, fault.ErrUsage) holds for what the user must mend.
//
// The file is the one that --config (or LEASEHOLD_CONFIG) names, else
// leasehold.yaml in the current folder, else leasehold/leasehold.yaml in the
// user's configuration folder, else none. It is flat: `lease-ttl: 60m`.
//
// Caveats: configuration is read once, at start; a file larger than 1 MiB is
// refused. There are no secrets in this version. Viper is used here and nowhere
// else; it decides precedence, while lines of the file, types and messages are
// this package's own.
package config
