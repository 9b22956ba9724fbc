// Package reading has the functions that release readings, and queries over them. It imports the frame and mechanism/scalar,
// and no other family. Start with row.go,
// which all aggregates share.
package reading

import (
	"slices"

	"github.com/geosql/geosql/sqlitefn/internal/frame"
)

// Functions are the rows of the family, in the order of the reference.
var Functions = slices.Concat(
	accuracyFunctions, countFunctions, forms(curveRow), curveFunctions, forms(histogramRow), []*frame.Function{cumulativeFunction}, valueFunctions, []*frame.Function{densityFunction}, forms(queryRows...), forms(percentilesRow), withinFunctions,
)
