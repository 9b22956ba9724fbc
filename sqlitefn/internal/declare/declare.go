// Package declare has the functions with which the owner of a database declares things: domains, universes, limits,
// models, priors and optimal mechanisms. It imports the frame and the mechanisms, and no other family. Start with domain.go;
// package declared reads the declarations.
package declare

import "slices"

// Functions are the rows of the family, in the order of the reference.
var Functions = slices.Concat(
	domainFunctions, limitFunctions, modelFunctions, buildFunctions, optimalFunctions, priorFunctions,
	universeFunctions,
)
