// Package reading has the functions that release readings, and queries over them. It imports the frame and mechanism/scalar,
// and no other family. Start with query.go, the same for all aggregates.
package reading

import "slices"

// Functions are the rows of the family, in the order of the reference.
var Functions = slices.Concat(
	accuracyFunctions, countFunctions, histogramFunctions, queryFunctions, withinFunctions, sealedFunctions,
)
