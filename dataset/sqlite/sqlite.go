// Package sqlite reads tables of SQLite databases and writes GeoPackages, which are SQLite
// databases. It exports nothing: importing it registers both with package dataset.
//
//	import _ "github.com/geosql/geosql/dataset/sqlite"
package sqlite

import "github.com/geosql/geosql/dataset"

func init() {
	dataset.RegisterTables(openTable)
	dataset.RegisterFormat(dataset.GeoPackage, createGeoPackage, checkNames)
}
