package sqlitefn

import "slices"

// functions is the table of all functions, in the order of the reference: by section, and
// within one by family. It is set by init because geosql_help, one of them, reads it.
var functions []*function

func init() {
	families := slices.Concat(
		domainFunctions, universeFunctions, limitFunctions, markovFunctions, optimalFunctions, tracePolicyFunctions,
		locationFunctions, accuracyFunctions, traceFunctions, readingFunctions, centroidFunctions, cipFunctions,
		selfFunctions, budgetFunctions, costFunctions, ledgerFunctions,
	)
	for _, section := range []string{declared, released, free, owners} {
		for _, f := range families {
			if f.section == section {
				functions = append(functions, f)
			}
		}
	}
}
