package dataset

import (
	"strings"
	"testing"
)

// A program without SQLite names the package to import.
func TestNotRegistered(t *testing.T) {
	create, open := creators[GeoPackage], openTable
	defer func() { creators[GeoPackage], openTable = create, open }()
	creators[GeoPackage], openTable = nil, nil

	_, formatErr := FormatOf("x.gpkg")
	_, openErr := Open(t.Context(), "x.db#t")
	_, createErr := GeoPackage.Create(nil, Schema{Points: []Point{{0, 1}}})
	for want, err := range map[string]error{
		"x.gpkg: this program cannot write .gpkg: it does not import ":              formatErr,
		"x.db#t: this program cannot read tables of databases: it does not import ": openErr,
		"this program cannot write .gpkg: it does not import ":                      createErr,
	} {
		if want += "github.com/geosql/geosql/dataset/sqlite"; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v, want %s", err, want)
		}
	}
}
