package guide

import (
	"slices"
	"strings"

	"github.com/geosql/geosql/budget"
)

// Flags that answer the questions about locations, and those about readings.
var (
	placeFlags   = []string{"lat", "lon", "box", "epsilon-for", "limit"}
	readingFlags = []string{"reading", "universe", "unit", "reading-epsilon-for", "reading-limit"}
)

// missing names the flags that are missing where there is no terminal to ask on, in a clause of an error that is about some.
func (t *Task) missing(but ...string) string {
	if t.Yes {
		return "" // presets answer the others
	}
	place, reading := t.notGiven(placeFlags, but), t.notGiven(readingFlags, but)
	names := func(flag string) bool { return t.Given[flag] != nil && !strings.EqualFold(*t.Given[flag], none) }
	hasPlace, hasReading := names("lat") || names("lon"), names("reading")
	either := " and "
	switch {
	case !hasPlace && !hasReading:
		either = ", or "
	case !hasPlace:
		place = nil
	case !hasReading:
		reading = nil
	}
	texts := slices.DeleteFunc([]string{strings.Join(place, " "), strings.Join(reading, " ")}, func(text string) bool { return text == "" })
	if len(texts) == 0 {
		return ""
	}
	return "; also missing: " + strings.Join(texts, either)
}

// notGiven returns the flags, but for some, that are neither given nor answered by another flag or by the ledger.
func (t *Task) notGiven(flags []string, but []string) (list []string) {
	for _, flag := range flags {
		answered := t.Given[flag] != nil || slices.Contains(but, flag)
		switch flag {
		case "epsilon-for", "reading-epsilon-for":
			direct := strings.TrimSuffix(flag, "-for")
			answered = answered || t.Given[direct] != nil
		case "unit": // an error about the universe asks for both
			universe := t.Given["universe"]
			answered = answered || slices.Contains(but, "universe") || universe != nil && strings.Count(*universe, ",") != 2
		case "limit":
			answered = answered || t.knownLimit(budget.Metre, "") != ""
		case "reading-limit":
			answered = answered || t.knownLimit(t.unitGiven(), "") != ""
		}
		if !answered {
			list = append(list, "--"+flag)
		}
	}
	return list
}

// unitGiven returns the unit of readings, empty if no flag tells.
func (t *Task) unitGiven() budget.Unit {
	if unit := t.Given["unit"]; unit != nil {
		return budget.Unit(strings.TrimSpace(*unit))
	}
	if universe := t.Given["universe"]; universe != nil {
		for _, known := range t.known.universes {
			if known.name == *universe {
				return budget.Unit(known.unit)
			}
		}
		if words := strings.Split(*universe, ","); len(words) == 4 {
			return budget.Unit(words[3])
		}
	}
	return ""
}
