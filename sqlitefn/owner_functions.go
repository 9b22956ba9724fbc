package sqlitefn

import "slices"

// ownerFunctions are the rows of the family, in the order of the reference.
var ownerFunctions = slices.Concat(budgetFunctions, costFunctions, ledgerFunctions, placeFunctions, refusalFunctions)
