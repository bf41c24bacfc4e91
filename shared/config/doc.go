// Package config reads the settings of Leasehold from flags, the environment, one YAML
// file and defaults, in that order of precedence.
//
// One table lists what can be set, and which modes use it. Flags, names of environment
// variables, checks, help texts and `leasehold config show` derive from it.
//
// Invariants:
//   - Load returns a configuration that keeps every rule, or an Invalid that lists every
//     error in it. Each names the key, the source of the value (flag, environment, line of
//     the file), the value, and what is accepted.
//   - Nothing is ignored: an unknown key of the file, or an unknown environment variable
//     LEASEHOLD_…, is an error that suggests the nearest setting.
//     A key or variable of another mode is accepted, because one file or environment may
//     serve several processes. An empty environment variable is treated as not set.
//   - errors.Is(err, fault.ErrUsage) holds for every error of Load that the user can fix.
//
// The file is the one that --config (or LEASEHOLD_CONFIG) names, else leasehold.yaml in the
// current folder, else leasehold/leasehold.yaml in the user's configuration folder, else
// none. It is flat: `lease-ttl: 60m`.
//
// Caveats: configuration is read once, at start; a file larger than 1 MiB is refused. There
// are no secrets in this version. Viper, which is used in no other package, decides the
// precedence; lines of the file, types and messages are this package's own.
package config
