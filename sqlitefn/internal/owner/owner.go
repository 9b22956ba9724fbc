// Package owner has the functions that show the owner the ledger, and the costs of statements. It imports the frame, and no
// other family. Start with ledger.go.
package owner

import "slices"

// Functions are the rows of the family, in the order of the reference.
var Functions = slices.Concat(
	budgetFunctions, costFunctions, ledgerFunctions, placeFunctions, refusalFunctions,
)
