package sqlitefn

import "slices"

// traceFunctions are the rows of the family, in the order of the reference.
var traceFunctions = slices.Concat(cipFunctions, cipTraceFunctions, estimateFunctions, policyFunctions, stepFunctions)
