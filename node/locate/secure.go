package locate

import (
	"fmt"
	"os"
	"strings"

	"leasehold/shared/config"
	"leasehold/shared/fault"
	"leasehold/shared/identity"
	"leasehold/shared/process/datadir"
)

// authenticates reports whether the user gave what only a coordinator that authenticates needs.
func authenticates(cfg config.Config) bool { return cfg.Token != "" || cfg.CA != "" }

// secure has the endpoint use TLS and a token, if its coordinator authenticates: those that the user gave or, for the
// coordinator of the data folder, those of the folder. Without a CA the coordinator's certificate must be of one that
// the system knows.
func (e *Endpoint) secure(cfg config.Config, doc datadir.Addresses) error {
	isOfFolder := doc.CA != "" && !e.Named
	if !authenticates(cfg) && !isOfFolder {
		return nil
	}
	e.API = strings.ReplaceAll(e.API, "http://", "https://")
	var err error
	if e.Options.Token, err = cfg.TokenText(); err != nil {
		return err
	}
	ca := cfg.CA
	if isOfFolder {
		if e.Options.Token == "" {
			e.Options.Token = readToken(doc.TokenFile)
		}
		if ca == "" {
			ca = doc.CA
		}
	}
	e.Options.TLS, err = identity.TokenConfig(ca)
	return err
}

// readToken reads the token of the coordinator's own user; empty if this user may not read it, so that the coordinator
// tells what is missing.
func readToken(file string) string {
	data, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(data))
}

// JoinLine returns the join line of a process, with the address of host if the user set it; nil without one. It fails with
// config.Invalid, as for other wrong settings, for a line that is damaged or cannot be read.
func JoinLine(cfg config.Config) (*identity.Line, error) {
	line, err := joinLine(cfg)
	if err != nil {
		return nil, config.Invalid{{Key: "join", Text: err.Error()}}
	}
	return line, nil
}

func joinLine(cfg config.Config) (*identity.Line, error) {
	text, err := cfg.JoinLine()
	if err != nil || text == "" {
		return nil, err
	}
	line, err := identity.ParseLine(text)
	if err != nil {
		return nil, fmt.Errorf("join: %w", err)
	}
	if line.Role != cfg.Mode && cfg.Mode != "" {
		return nil, fmt.Errorf("join: the line is for a %s, and this is a %s: %w: leasehold invite %s makes one for it", line.Role, cfg.Mode, fault.ErrInvalid, cfg.Mode)
	}
	if isSet(cfg, "host") || len(line.Addresses) == 0 {
		line.Addresses = cfg.Hosts
	}
	return &line, nil
}
