package policy

import (
	"fmt"
	"net"
	"path"
	"regexp"
	"slices"
	"strings"

	"leasehold/shared/fault"
)

// HostGroups are hosts that share one politeness, because one server is behind them: at
// most Rules.HostSlots visits at a time, one gap and one Retry-After for all of a group.
type HostGroups []HostGroup

// HostGroup is the hosts that match one of the patterns (path.Match), in lower case.
type HostGroup struct {
	Name     string
	Patterns []string
}

var hostGroupName = regexp.MustCompile(`^[a-z0-9_-]{1,32}$`)

// ParseHostGroups parses NAME=PATTERN,PATTERN,NAME=PATTERN, such as acast=*.acast.com,*.acast.net.
// An item without = belongs to the name before it. Empty text has no groups; errors give
// fault.ErrInvalid.
func ParseHostGroups(text string) (groups HostGroups, err error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for _, item := range strings.Split(text, ",") {
		item = strings.ToLower(strings.TrimSpace(item))
		name, pattern, begins := strings.Cut(item, "=")
		if begins {
			if !hostGroupName.MatchString(name) || slices.ContainsFunc(groups, func(g HostGroup) bool { return g.Name == name }) {
				return nil, fmt.Errorf("host group %.64q: %w: want a name that occurs once, of 1 to 32 of a-z 0-9 _ -", name, fault.ErrInvalid)
			}
			groups = append(groups, HostGroup{Name: name})
		} else {
			pattern = item
		}
		if _, err := path.Match(pattern, ""); err != nil || len(groups) == 0 || pattern == "" || strings.ContainsAny(pattern, "/= ") {
			return nil, fmt.Errorf("host group, %.80q: %w: want NAME=PATTERN,PATTERN, such as acast=*.acast.com,*.acast.net", item, fault.ErrInvalid)
		}
		last := &groups[len(groups)-1]
		last.Patterns = append(last.Patterns, pattern)
	}
	return groups, nil
}

// Of returns the name under which a host is visited politely: the host itself, or groupPrefix and
// the name of the first group with a pattern that matches. A pattern matches with the port of the
// host or without. ParseHostGroups has checked the patterns, so path.Match returns no error.
func (g HostGroups) Of(host string) string {
	if host == "" {
		return ""
	}
	name, _, err := net.SplitHostPort(host)
	if err != nil {
		name = host
	}
	for _, group := range g {
		for _, pattern := range group.Patterns {
			with, _ := path.Match(pattern, host) // patterns were checked when they were read
			if without, _ := path.Match(pattern, name); with || without {
				return groupPrefix + group.Name
			}
		}
	}
	return host
}

// groupPrefix is in no host, because of its space.
const groupPrefix = "group "

// HostGroupName returns the name of the group that a result of HostGroups.Of is, and
// nothing for a host.
func HostGroupName(of string) string {
	name, isGroup := strings.CutPrefix(of, groupPrefix)
	if !isGroup {
		return ""
	}
	return name
}

// String returns the text that ParseHostGroups parses.
func (g HostGroups) String() string {
	var items []string
	for _, group := range g {
		items = append(items, group.Name+"="+strings.Join(group.Patterns, ","))
	}
	return strings.Join(items, ",")
}
