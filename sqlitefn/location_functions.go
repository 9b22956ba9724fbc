package sqlitefn

import "slices"

// locationFunctions are the rows of the family, in the order of the reference.
var locationFunctions = slices.Concat(accuracyOfLocations, centroidFunctions, gaussFunctions, geographyFunctions, heatmapFunctions, laplaceFunctions, laplaceL1Functions, geoindOptimalFunctions, remapFunctions, rhoFunctions, sealedLocationFunctions)
