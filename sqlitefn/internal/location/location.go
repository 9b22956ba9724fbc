// Package location has the functions that release locations, and free ones about accuracy, distances and remapping. It
// imports the frame and mechanism/planar, and no other family. Start with release.go, the same for all mechanisms that
// release one location; laplace.go has a row for one of them.
package location

import "slices"

// Functions are the rows of the family, in the order of the reference.
var Functions = slices.Concat(
	accuracyFunctions, centroidFunctions, densityFunctions, gaussFunctions, geographyFunctions, heatmapFunctions, laplaceFunctions,
	laplaceL1Functions, optimalFunctions, remapFunctions, rhoFunctions, sealedFunctions, smoothFunctions,
)
