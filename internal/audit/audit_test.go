package audit

import (
	"os"
	"slices"
	"testing"

	"github.com/geosql/geosql/internal/doctest"
)

func TestEveryReleasingFunctionIsAttacked(t *testing.T) {
	reference, err := os.ReadFile("../../docs/reference/all.txt")
	if err != nil {
		t.Fatal(err)
	}
	attacked, charging := Functions(), doctest.Charging(string(reference))
	for _, name := range charging {
		if !slices.Contains(attacked, name) {
			t.Errorf("no attack on %s", name)
		}
	}
	for _, name := range attacked {
		if !slices.Contains(charging, name) {
			t.Errorf("%s is attacked and releases nothing", name)
		}
	}
}
