// Package trace has the functions that release traces, step by step or as a whole, and their policies. It imports the frame
// and the mechanisms of traces, and no other family. Start with step.go, the same for all mechanisms of steps.
package trace

import "slices"

// Functions are the rows of the family, in the order of the reference.
var Functions = slices.Concat(
	cipFunctions, cipTraceFunctions, estimateFunctions, policyFunctions, stepFunctions,
)
