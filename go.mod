module github.com/geosql/geosql

go 1.26.0

require (
	github.com/mattn/go-sqlite3 v1.14.52
	github.com/paulmach/orb v0.14.0
	golang.org/x/sys v0.49.0
	golang.org/x/term v0.47.0
	pgregory.net/rapid v1.3.0
)
