package conform

import (
	"maps"
	"slices"

	"leasehold/tup4fun/explore"
	"leasehold/tup4fun/syntax"
)

// compileFunc compiles the model of a Checker with other values for its constants.
type compileFunc func(constants map[string]int64) (*explore.Model, error)

// useModel sets the model with its constants, and begins anew: no instance is left. If the map
// does not fit the model, the error is a syntax.Errors.
func (c *Checker) useModel(model *explore.Model, constants map[string]int64) error {
	if err := c.mapping.resolve(model); err != nil {
		return err
	}
	c.constants, c.model, c.walker = constants, model, explore.NewWalker(model)
	c.shown, c.restored, c.stepsOf = c.mapping.shownActions(), c.mapping.restoredSpaces(), map[explore.State][]*step{}
	c.named, c.all, c.open = map[string]*instance{}, nil, nil
	c.start, c.anything = nil, nowhere
	if i := slices.Index(model.Program.Symbols, "unknown"); i >= 0 {
		c.anything = syntax.SymbolBase + int64(i)
	}
	return nil
}

// settingsOf returns the settings in the tuple of an event: pairs of a name and a number. Other
// values are left out.
func settingsOf(fields []value) map[string]int64 {
	all := map[string]int64{}
	for i := 0; i+1 < len(fields); i += 2 {
		if fields[i].kind == Text && fields[i+1].kind == Number {
			all[fields[i].text] = fields[i+1].number
		}
	}
	return all
}

// applySettings gives the constants of the model the values that the log tells since the last
// reload. If one changes, the model continues as if the log began at that reload, because its
// states are of other constants. An error of the model with these constants is a syntax.Errors
// or an error of explore.Compile.
func (c *Checker) applySettings() error {
	if c.compile == nil {
		return nil
	}
	wanted := maps.Clone(c.mapping.Constants)
	for constant, setting := range c.mapping.Settings {
		if v, ok := c.settings[setting]; ok {
			wanted[constant] = v
		}
	}
	if maps.Equal(wanted, c.constants) {
		return nil
	}
	model, err := c.compile(wanted)
	if err != nil {
		return err
	}
	return c.useModel(model, wanted)
}
