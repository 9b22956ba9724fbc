package load

import (
	"strconv"
	"strings"
	"unicode"

	"github.com/geosql/geosql/dataset"
	"github.com/geosql/geosql/dataset/infer"
	"github.com/geosql/geosql/internal/moment"
)

// UnixTime returns the unit since 1970 in which a column may have times, seconds or milliseconds, as far as its samples tell, or "".
func UnixTime(c infer.Summary) (unit string) {
	for _, cell := range c.Samples {
		of := ""
		if x, err := strconv.ParseFloat(strings.TrimSpace(cell), 64); err == nil && c.Kind != dataset.Text {
			of = moment.UnixUnit(x)
		}
		if of == "" || unit != "" && of != unit {
			return ""
		}
		unit = of
	}
	return unit
}

// NamesTime reports whether the name of a column says that it has times.
func NamesTime(name string) bool {
	lower := strings.ToLower(name)
	if strings.Contains(lower, "time") || strings.Contains(lower, "epoch") {
		return true
	}
	for _, word := range strings.FieldsFunc(lower, func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "t", "ts", "at", "date", "start", "end", "unix", "started", "ended":
			return true
		}
	}
	return false
}
