package sqlitefn

import "slices"

// readingFunctions are the rows of the family, in the order of the reference.
var readingFunctions = slices.Concat(accuracyOfReadings, countFunctions, histogramFunctions, queryFunctions, withinFunctions, sealedReadingFunctions)
