//go:build geosql_loadable && !geosql_test

package main

import "github.com/geosql/geosql/sqlitefn"

func options() []sqlitefn.Option { return nil }
