package sqlitefn

import (
	"github.com/geosql/geosql/sqlitefn/internal/declare"
	"github.com/geosql/geosql/sqlitefn/internal/frame"
	"github.com/geosql/geosql/sqlitefn/internal/location"
	"github.com/geosql/geosql/sqlitefn/internal/owner"
	"github.com/geosql/geosql/sqlitefn/internal/reading"
	"github.com/geosql/geosql/sqlitefn/internal/trace"
	"github.com/geosql/geosql/sqlitefn/internal/unseal"
)

// functions is the table of all functions.
var functions = frame.NewTable(
	declare.Functions,
	location.Functions,
	owner.Functions,
	reading.Functions,
	unseal.Functions,
	frame.SelfFunctions,
	trace.Functions,
)
