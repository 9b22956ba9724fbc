//go:build geosql_loadable && geosql_test

package main

import (
	"github.com/geosql/geosql/internal/sqlite"
	"github.com/geosql/geosql/sqlitefn"
	"github.com/geosql/geosql/sqlitefn/sqlitefntest"
)

func options() []sqlitefn.Option {
	return []sqlitefn.Option{sqlitefntest.Extension(sqlite.Environment("GEOSQL_TEST_SEED"))}
}
