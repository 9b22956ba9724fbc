// Package sqlite reads tables of SQLite databases and writes GeoPackages, which are such
// databases. It has nothing to call: importing it registers both with package dataset.
//
//	import _ "github.com/geosql/geosql/dataset/sqlite"
package sqlite

import (
	"strings"

	"github.com/geosql/geosql/dataset"
)

func init() {
	dataset.RegisterTables(openTable)
	dataset.RegisterFormat(dataset.GeoPackage, createGeoPackage)
}

func quoteName(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
