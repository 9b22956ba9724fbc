package sqlitefn

// functions is the table of all functions.
var functions = newTable(
	declareFunctions,
	locationFunctions,
	ownerFunctions,
	readingFunctions,
	narrowFunctions,
	selfFunctions,
	traceFunctions,
)

// Releasing returns the names of the functions that release values and charge for them, in the order of the reference.
func Releasing() []string { return functions.releasing() }
