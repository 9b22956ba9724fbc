package frame

import (
	"testing"

	"github.com/geosql/geosql/internal/fuzz/fuzztest"
)

func TestReadersAreLinear(t *testing.T) {
	fuzztest.Linear(t, map[string]func(sql string){"checkVerb": func(sql string) { checkVerb(sql) }})
}
