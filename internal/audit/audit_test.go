package audit

import (
	"slices"
	"testing"

	"github.com/geosql/geosql/sqlitefn"
)

func TestEveryReleasingFunctionIsAttacked(t *testing.T) {
	attacked := Functions()
	for _, name := range sqlitefn.Releasing() {
		if !slices.Contains(attacked, name) {
			t.Errorf("no attack on %s", name)
		}
	}
	for _, name := range attacked {
		if !slices.Contains(sqlitefn.Releasing(), name) {
			t.Errorf("%s is attacked and releases nothing", name)
		}
	}
}
