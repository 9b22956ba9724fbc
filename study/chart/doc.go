// Package chart draws the figures of the studies as SVG: pages of plots in one
// style, and maps.
package chart

import "image/color"

// The palette of Okabe and Ito, whose colours colour-blind people can distinguish, and a grey.
var (
	Blue   = color.RGBA{0, 114, 178, 255}
	Sky    = color.RGBA{86, 180, 233, 255}
	Green  = color.RGBA{0, 158, 115, 255}
	Red    = color.RGBA{213, 94, 0, 255}
	Yellow = color.RGBA{240, 228, 66, 255}
	Grey   = color.RGBA{130, 130, 130, 255}
)
