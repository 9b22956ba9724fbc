package sqlitefn

import "slices"

// declareFunctions are the rows of the family, in the order of the reference.
var declareFunctions = slices.Concat(domainFunctions, limitFunctions, modelFunctions, buildFunctions, optimalFunctions, priorFunctions, universeFunctions)
